// SPDX-License-Identifier: MIT
// Tessera's own plan of a sparse product whose pattern comes at run time. It cuts as the published
// plan does (published/planner.h), but prices what a pattern with the capacity's density is expected
// to do: the fullest part decides the compute steps, and blocks without room at home travel.
// Source: docs/kernels.md#sparse-pattern-known-at-run-time.
#pragma once

#include "kernels/dynamic/encode.h"
#include "kernels/dynamic/published/planner.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::dynamic {

/// How full a division's parts are expected to be, where all places are equally likely.
struct Expected {
    double fullest_part = 0;  ///< blocks at most that a part has room for, in its own buckets
    double moves = 0;         ///< of all buckets along x or y
    double scans = 0;         ///< of the buckets of z tiles
    double finding_scans = 0; ///< of these, in which a tile finds blocks
    double moved_blocks = 0;  ///< blocks that the busiest tile finds, summed over the scans
};
/// Means over some patterns, of which only the number of blocks of each part is drawn: quantiles of
/// its distribution in an order that is always the same.
[[nodiscard]] Expected expected(const Problem& problem, const Split& split, const Bucket& bucket);

struct OwnPlan {
    Plan plan;
    Cycles predicted = 0; ///< all steps and the travel
};
/// The plan with the least predicted cycles among those that are expected to fit into tile memory.
/// `problem.excess` is the least room of a bucket; a plan may give more. Nothing where no split is
/// encodable or none fits.
[[nodiscard]] std::optional<OwnPlan> own_plan(const Problem& problem,
                                              const spec::MachineSpec& machine);

/// Gives the plan that own_plan() makes of a division, with the least room.
[[nodiscard]] OwnPlan priced_plan(const Problem& problem, const spec::MachineSpec& machine,
                                  const Split& split);

} // namespace tessera::dynamic
