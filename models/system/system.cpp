// SPDX-License-Identifier: MIT
#include "models/system/system.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace tessera::system {
namespace {

std::vector<link::ChipWords> words_of(const std::vector<ipu::Ipu*>& chips) {
    std::vector<link::ChipWords> words;
    for (ipu::Ipu* const chip : chips) {
        words.push_back({&chip->memory(), chip->known_words()});
    }
    return words;
}

} // namespace

System::System(const spec::MachineSpec& spec, const program::SystemProgram& program,
               const program::SystemBinding& binding, const std::vector<ipu::Ipu*>& chips,
               std::optional<std::uint64_t> shuffle)
    : chips_(chips), links_("link_fabric", spec, program, binding, words_of(chips)) {
    for (std::size_t zone = 0; zone < program.zones.size(); ++zone) {
        sync::ZoneSync& made =
            zones_.emplace_back(fmt::format("zone_{}", zone).c_str(), spec, program, zone);
        for (ipu::Ipu* const chip : chips) {
            made.chips.bind(chip->barrier());
            made.witnesses.bind(*chip);
            chip->outer_barrier.bind(made);
        }
        if (shuffle) {
            made.shuffle(*shuffle + zone);
        }
    }
    for (ipu::Ipu* const chip : chips) {
        chip->links.bind(links_);
        links_.chips.bind(*chip);
    }
    if (shuffle) {
        links_.shuffle(*shuffle);
    }
}

System::~System() {
    while (!zones_.empty()) {
        zones_.pop_back();
    }
}

std::string System::place_of(std::size_t chip) const {
    for (const sync::ZoneSync& zone : zones_) {
        if (zone.waits(chip)) {
            std::vector<std::string> awaited;
            for (const std::size_t other : zone.awaited_by(chip)) {
                awaited.push_back(fmt::format("ipu_{}", other));
            }
            return awaited.empty() ? zone.text_of(chip)
                                   : fmt::format("{} and waits for {}", zone.text_of(chip),
                                                 fmt::join(awaited, ", "));
        }
    }
    if (chips_[chip]->has_finished()) {
        return fmt::format("ipu_{} has ended its program in step {}", chip, chips_[chip]->steps());
    }
    return links_.is_under_way(chip)
               ? fmt::format("ipu_{} waits for its messages in step {}", chip,
                             chips_[chip]->steps())
               : fmt::format("ipu_{} is in step {}", chip, chips_[chip]->steps());
}

std::string System::waiting() const {
    std::string text;
    for (std::size_t chip = 0; chip < chips_.size(); ++chip) {
        text += (chip > 0 ? "; " : "") + place_of(chip);
    }
    return text;
}

} // namespace tessera::system
