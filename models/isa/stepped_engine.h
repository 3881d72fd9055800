// SPDX-License-Identifier: MIT
// The execution loop once more, a step at a time: what the lock-step model of a tile runs on. Same
// semantic functions, same bits, an order of magnitude slower.
//
// - The observed engine notes every memory access in Context::log, which the caller empties between
//   steps; Context::rows_at_once is false.
// - The stepped shadow engine runs the main lane on what is known (shadow.h). It notes accesses in
//   ShadowMemory::trail while ShadowMemory::watching, and skips no passes.
//
// Contract:
// - enter gives the first operation of a worker whose `target`, registers, start cycle and views
//   are set.
// - step carries out the one instruction or bundle that starts at an operation, with all its
//   consequences for the control state, and gives the first operation of the next one, or null
//   after an exit.
// - execute is that of any Engine: one operation that is neither a jump's consequence nor the
//   tile's business.
// - All throw ExecutionFault; the host must be in the machine's rounding state (FpEnvironment).
#pragma once

#include "models/isa/engine.h"

namespace tessera::isa {

struct SteppedEngine {
    Engine engine;
    const MicroOperation* (*enter)(Context& context);
    const MicroOperation* (*step)(Context& context, const MicroOperation* operation);
};

[[nodiscard]] const SteppedEngine& observed_engine();
[[nodiscard]] const SteppedEngine& stepped_shadow_engine();

} // namespace tessera::isa
