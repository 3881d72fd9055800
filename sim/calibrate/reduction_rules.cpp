// SPDX-License-Identifier: MIT
// Sums of FP32 values that stand on one tile or on many.
#include "sim/calibrate/rules.h"

namespace tessera::sim::calibrate {
namespace {

using nlohmann::json;

const Timed kWhole{.phases = {"all"}, .steps = {}};

/// `operands_per_tile` on each of `tiles`, to one sum of all, or to one on each tile.
auto reduction(bool independent) {
    return [independent](const ReferenceRow& row, const RowMachine& machine) -> Mapped {
        const std::int64_t tiles = needed(row, "tiles");
        const std::int64_t operands = needed(row, "operands_per_tile");
        const json workload = workload_of(
            "reduction", {{"tiles", tiles}, {"operands", operands}, {"independent", independent}});
        if (row.says("metric", {"bandwidth"})) {
            return measure_rate(row, machine, workload, kWhole,
                                4.0 * static_cast<double>(tiles) * static_cast<double>(operands));
        }
        return measure_time(row, machine, workload, kWhole);
    };
}

} // namespace

const std::vector<Rule>& reduction_rules() {
    static const std::vector<Rule> rules{
        {"reduction", {{"workload", {"independent single-tile reductions"}}}, reduction(true)},
        {"reduction", {{"workload", {"sum reduction"}}}, reduction(false)},
    };
    return rules;
}

} // namespace tessera::sim::calibrate
