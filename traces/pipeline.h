// SPDX-License-Identifier: MIT
// One tile's instructions on their way through the pipeline, for the exporters that show them one
// by one.
#pragma once

#include "base/units.h"
#include "traces/event.h"

#include <functional>
#include <span>
#include <string>

namespace tessera::traces {

/// One instruction or bundle. waits_from <= issue < occupied_until, and issue < done. Several of a
/// context may share an issue.
struct PipelineInstruction {
    int context = -1; ///< worker number, or -1 for the supervisor
    Address address = 0;
    Cycles waits_from = 0;     ///< the issue where it did not wait
    Cycles issue = 0;          ///< the clock in which it issued
    Cycles occupied_until = 0; ///< its context may issue the next then, but for what that waits for
    Cycles done = 0;           ///< its result may be used
};

/// What stands at an address.
struct InstructionText {
    std::string text;        ///< "ld32 $m1, $m2, $mzero, 0", or "{ main ; aux }"
    std::string source_line; ///< "matmul.S:41", or empty
};
using DescribeAddress = std::function<InstructionText(Address)>;

/// "ld32", or "ld64 ; f32v2add" of a bundle.
[[nodiscard]] std::string mnemonics_of(const std::string& text);

/// Sends a compute phase of one tile to `sink`: the machine and the tile compute in [0,
/// phase_cycles), and every context has a span an issue, from it until its next turn, named by the
/// mnemonics of the (first) instruction. `instructions` are in order of issue.
void send_pipeline(TraceSink& sink, NameTable& names, TileId tile, Cycles phase_cycles,
                   std::span<const PipelineInstruction> instructions,
                   const DescribeAddress& describe);

} // namespace tessera::traces
