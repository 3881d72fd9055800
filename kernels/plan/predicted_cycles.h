// SPDX-License-Identifier: MIT
#pragma once

#include "base/units.h"

namespace tessera::plan {

/// Predicted cycles of one run, by what the machine does; reduction is also counted in compute,
/// exchange and sync.
struct PredictedCycles {
    Cycles compute = 0;  ///< slowest tile of every compute set, and the control steps
    Cycles exchange = 0; ///< prologue and longest row of every exchange
    Cycles sync = 0;
    Cycles reduction = 0; ///< of the above, what summing partial results takes

    /// Adds what a compute set takes that sums partial results.
    void add_sums(Cycles cycles) {
        compute += cycles;
        reduction += cycles;
    }
    [[nodiscard]] Cycles total() const { return compute + exchange + sync; }
    PredictedCycles& operator+=(const PredictedCycles& other) {
        compute += other.compute;
        exchange += other.exchange;
        sync += other.sync;
        reduction += other.reduction;
        return *this;
    }
};

} // namespace tessera::plan
