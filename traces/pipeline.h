// SPDX-License-Identifier: MIT
// The instructions of one tile and when each passes through the pipeline, for exporters that show
// single instructions.
#pragma once

#include "base/units.h"
#include "traces/event.h"

#include <functional>
#include <span>
#include <string>

namespace tessera::traces {

/// One instruction or bundle. waits_from <= issue < occupied_until, and issue < done. Several
/// instructions of a context may share an issue.
struct PipelineInstruction {
    int context = -1; ///< worker number, or -1 for the supervisor
    Address address = 0;
    Cycles waits_from = 0;     ///< equals `issue` if it did not wait
    Cycles issue = 0;          ///< the clock in which it issued
    Cycles occupied_until = 0; ///< its context may issue again, if the next need not wait
    Cycles done = 0;           ///< its result may be read
};

/// The instruction at an address.
struct InstructionText {
    std::string text;        ///< "ld32 $m1, $m2, $mzero, 0", or "{ main ; aux }"
    std::string source_line; ///< "matmul.S:41", or empty
};
using DescribeAddress = std::function<InstructionText(Address)>;

/// "ld32", or "ld64 ; f32v2add" of a bundle.
[[nodiscard]] std::string mnemonics_of(const std::string& text);

/// Sends a compute phase of one tile to `sink`. The machine and the tile get one span, [0,
/// phase_cycles). A context gets a span for each issue, which lasts until it may issue again and is
/// named by the mnemonics of the first instruction. `instructions` are in order of issue.
void send_pipeline(TraceSink& sink, NameTable& names, TileId tile, Cycles phase_cycles,
                   std::span<const PipelineInstruction> instructions,
                   const DescribeAddress& describe);

} // namespace tessera::traces
