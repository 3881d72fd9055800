// SPDX-License-Identifier: MIT
// The loop that executes decoded code. It is compiled once for each host instruction set; all give
// the same bits.
//
// Contract:
// - run_worker executes from the context's `target` to an exit; the caller has set registers, start
// cycle and views.
// - execute carries out one operation that is neither a jump's consequence nor the tile's business.
// - run_worker throws ContextsMeet at a wait loop.
// - Both throw ExecutionFault; the host must be in the machine's rounding state (FpEnvironment).
#pragma once

#include "models/isa/context.h"

#include <cstdint>
#include <span>

namespace tessera::isa {

struct Engine {
    const char* name;
    void (*run_worker)(Context& context);
    void (*execute)(Context& context, const MicroOperation& operation);
};

/// The fastest engine that this host can run.
[[nodiscard]] const Engine& engine();

/// All engines that this host can run, the portable one first.
[[nodiscard]] std::span<const Engine> engines();

/// The engine of timing mode (models/isa/shadow.h), which needs Context::shadow.
[[nodiscard]] const Engine& shadow_engine();

/// The same engine, a stretch of a worker at a time. A stretch begins where the worker begins or
/// another one ends. It ends behind a taken branch back, in front of its second repeat or with the exit.
struct StretchEngine {
    /// The first operation of a worker, as in run_worker.
    const MicroOperation* (*enter)(Context& context);
    /// From an operation at which a stretch begins to the next one; null behind an exit.
    const MicroOperation* (*run)(Context& context, const MicroOperation* operation);
};
[[nodiscard]] const StretchEngine& shadow_stretches();

/// Host rounding as the machine's: to nearest even, binary32 subnormals are zero. Restores on
/// destruction.
class FpEnvironment {
public:
    FpEnvironment();
    ~FpEnvironment();
    FpEnvironment(const FpEnvironment&) = delete;
    FpEnvironment& operator=(const FpEnvironment&) = delete;

private:
    std::uint32_t saved_;
};

} // namespace tessera::isa
