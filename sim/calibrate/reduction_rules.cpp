// SPDX-License-Identifier: MIT
// Sums of FP32 values that stand on one tile or on many.
#include "sim/calibrate/rules.h"

namespace tessera::calibrate {
namespace {

using nlohmann::json;

/// Fixed parts: measured less simulated cycles of the row that is named; what the library's program
/// does around its sums (docs/evidence.md#calibrated-rows).
constexpr double kSumCycles = 1102;         ///< JIA-T4.16-00: 2704, 1216 operands on one tile
constexpr double kIndependentCycles = 3055; ///< JIA-T4.18-00: 4657, the same on each of 1000 tiles

/// `operands_per_tile` on each of `tiles`, to one sum of all, or to one on each tile.
auto reduction(bool independent) {
    return [independent](const ReferenceRow& row, const RowMachine& machine) -> Mapped {
        const std::int64_t tiles = needed_tiles(row, machine);
        const std::int64_t operands = needed(row, "operands_per_tile");
        const json workload = workload_of(
            "reduction",
            {{"tiles", tiles}, {"operands", operands}, {"outputs", independent ? tiles : 1}});
        const Timed timed{.phases = {"all"},
                          .steps = {},
                          .fixed_cycles = independent ? kIndependentCycles : kSumCycles};
        if (row.says("metric", {"bandwidth"})) {
            return measure_rate(row, machine, workload, timed,
                                4.0 * static_cast<double>(tiles) * static_cast<double>(operands));
        }
        return measure_time(row, machine, workload, timed);
    };
}

} // namespace

const std::vector<Rule>& reduction_rules() {
    static const std::vector<Rule> rules{
        {"reduction: independent",
         {{"workload", {"independent single-tile reductions"}}},
         reduction(true)},
        {"reduction", {{"workload", {"sum reduction"}}}, reduction(false)},
    };
    return rules;
}

} // namespace tessera::calibrate
