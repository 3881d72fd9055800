// SPDX-License-Identifier: MIT
// The instructions of one tile, with the times at which each goes through the pipeline. Exporters
// that show single instructions use them.
#pragma once

#include "base/units.h"
#include "traces/event.h"

#include <functional>
#include <span>
#include <string>

namespace tessera::traces {

/// One instruction or bundle and its times: waits_from <= issue < occupied_until, and issue < done.
/// Several successive matrix-unit steps of a context may have the same `issue`.
struct PipelineInstruction {
    int context = -1; ///< worker number, or -1 for the supervisor
    Address address = 0;
    Cycles waits_from = 0;     ///< when its wait begins; equals `issue` if it does not wait
    Cycles issue = 0;          ///< the clock in which it issues
    Cycles occupied_until = 0; ///< when its context may issue the next one, if that need not wait
    Cycles done = 0;           ///< when its result may be read
};

/// The instruction at an address.
struct InstructionText {
    std::string text;        ///< "ld32 $m1, $m2, $mzero, 0", or "{ main ; aux }"
    std::string source_line; ///< "matmul.S:41", or empty
};
using DescribeAddress = std::function<InstructionText(Address)>;

/// Returns the mnemonics in the text of an instruction: "ld32", or "ld64 ; f32v2add" for a bundle.
[[nodiscard]] std::string mnemonics_of(const std::string& text);

/// Sends a compute phase of one tile to `sink`. The machine's track and the tile's track each get
/// one span, [0, phase_cycles). The track of a context gets one span for each clock in which the
/// context issues. This span ends when the context may issue again. Its name is the mnemonics of
/// the first instruction issued in that clock. `instructions` must be in order of issue.
void send_pipeline(TraceSink& sink, NameTable& names, TileId tile, Cycles phase_cycles,
                   std::span<const PipelineInstruction> instructions,
                   const DescribeAddress& describe);

} // namespace tessera::traces
