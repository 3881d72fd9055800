// SPDX-License-Identifier: MIT
#include "traces/pipeline.h"

#include <unordered_map>
#include <utility>

namespace tessera::traces {
namespace {

/// The first word from `begin` on.
std::string word_from(const std::string& text, std::size_t begin) {
    begin = text.find_first_not_of(" {", begin);
    if (begin == std::string::npos) {
        return {};
    }
    return text.substr(begin, text.find_first_of(" ;}", begin) - begin);
}

} // namespace

std::string mnemonics_of(const std::string& text) {
    const std::size_t second = text.find(';');
    return second == std::string::npos ? word_from(text, 0)
                                       : word_from(text, 0) + " ; " + word_from(text, second + 1);
}

void send_pipeline(TraceSink& sink, NameTable& names, TileId tile, Cycles phase_cycles,
                   std::span<const PipelineInstruction> instructions,
                   const DescribeAddress& describe) {
    for (const Track track : {machine_track(), tile_track(tile)}) {
        if (sink.wants(track)) {
            sink.span({track, Kind::Compute, kUnnamed, 0, phase_cycles, {}});
        }
    }
    std::unordered_map<Address, NameId> name_at;
    std::unordered_map<int, Cycles> last_issue; // by context
    for (const PipelineInstruction& instruction : instructions) {
        const Track track =
            instruction.context < 0
                ? supervisor_track(tile)
                : worker_track(tile, static_cast<std::uint8_t>(instruction.context));
        Cycles& last = last_issue.try_emplace(instruction.context, -1).first->second;
        const bool shared = std::exchange(last, instruction.issue) == instruction.issue;
        if (shared || !sink.wants(track)) {
            continue;
        }
        const auto [entry, is_new] = name_at.try_emplace(instruction.address, kUnnamed);
        if (is_new) {
            entry->second = names.intern(mnemonics_of(describe(instruction.address).text));
        }
        sink.span({track,
                   Kind::Compute,
                   entry->second,
                   instruction.issue,
                   instruction.occupied_until,
                   {}});
    }
}

} // namespace tessera::traces
