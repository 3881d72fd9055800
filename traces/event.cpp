// SPDX-License-Identifier: MIT
#include "traces/event.h"

#include <fmt/format.h>

namespace tessera::traces {

std::string path(Track track) {
    if (track.level == Level::Machine) {
        const std::string name(kMachineTracks.at(track.context));
        return is_link(track) ? fmt::format("{}{}", name, track.tile) : name;
    }
    if (track.level == Level::Tile) {
        return fmt::format("tile_{}", track.tile);
    }
    return fmt::format("tile_{}.{}", track.tile, own_name(track));
}

std::string own_name(Track track) {
    if (track.level != Level::Worker) {
        return path(track);
    }
    return track.context == kSupervisorContext ? "supervisor"
                                               : fmt::format("worker_{}", track.context);
}

std::string name_of(const CounterSample& sample) {
    const std::string word(kCounterWords.at(static_cast<std::size_t>(sample.counter)));
    return sample.counter == Counter::EdgeBytes ? fmt::format("{}{}", word, sample.to) : word;
}

NameId NameTable::intern(std::string_view text) {
    if (const auto found = ids_.find(text); found != ids_.end()) {
        return found->second;
    }
    texts_.emplace_back(text);
    const auto id = static_cast<NameId>(texts_.size());
    ids_.emplace(texts_.back(), id);
    return id;
}

std::string_view NameTable::text(NameId id) const {
    TESSERA_ASSERT(id <= texts_.size());
    return id == kUnnamed ? std::string_view{} : std::string_view{texts_[id - 1]};
}

} // namespace tessera::traces
