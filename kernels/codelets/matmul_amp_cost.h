// SPDX-License-Identifier: MIT
// What the vertices of matmul_amp.S cost: worker issues of a weight load, and the supervisor's walk
// over the groups. tests/kernels/codelets/codelet_cost_test.cpp counts the constants in the
// assembled codelets; docs/models/amp_vertex.md shows them cycle by cycle.
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "kernels/codelets/supervisor_timeline.h"
#include "kernels/workload/workload.h"
#include "models/spec/machine_spec.h"

#include <cstdint>

namespace tessera::codelets {

/// Outputs of one weight load: 16 with FP16 partials, 8 with FP32.
[[nodiscard]] constexpr std::int64_t amp_group(ElementType partials) {
    return partials == ElementType::F16 ? 16 : 8;
}

/// Instructions that load a block of weights.
[[nodiscard]] constexpr std::int64_t weight_loads(ElementType partials) {
    return 2 * amp_group(partials);
}

// Worker issues in front of amp_fresh and amp_add.
constexpr std::int64_t kMatmulStart = 19;       ///< .Lstart_*
constexpr std::int64_t kMatmulNextOutFresh = 2; ///< .Lnext_out_fresh
constexpr std::int64_t kMatmulNextOutAdd = 3;   ///< .Lnext_out_add
constexpr std::int64_t kMatmulNextK = 1;        ///< .Lnext_k_add

/// A path through amp_fresh or amp_add without its loop: steps of the matrix unit in a row, and its
/// other issues.
struct AmpFewRows {
    std::int64_t steps;
    std::int64_t others;
};
constexpr AmpFewRows kAmpFreshNone{0, 4};
constexpr AmpFewRows kAmpFreshOne{8, 7};
constexpr AmpFewRows kAmpAddNone{0, 5};
constexpr AmpFewRows kAmpAddOne{12, 7};
constexpr AmpFewRows kAmpAddTwo{16, 7};

/// The path with the loop, which interrupts the steps before it: the others go on from its last
/// round.
struct AmpManyRows {
    std::int64_t rows_in_flight; ///< what comes in before the loop and leaves behind it
    std::int64_t steps_before;
    std::int64_t steps_behind;
    std::int64_t others;
};
constexpr AmpManyRows kAmpFresh{2, 6, 6, 8};
constexpr AmpManyRows kAmpAdd{3, 10, 10, 7};
constexpr std::int64_t kAmpRowSteps = 4; ///< a round of the loop

/// Worker issues of one weight load over `rows` rows, from the entry amp_fresh or amp_add.
[[nodiscard]] std::int64_t amp_issues(const spec::AmpSpec& amp, std::int64_t rows, bool fresh);

struct MatmulVertexShape {
    std::int64_t rows = 0;
    std::int64_t out_groups = 1;
    std::int64_t k_groups = 1;
    bool fresh = true; ///< the first k group starts from zero

    auto operator<=>(const MatmulVertexShape&) const = default;
};

/// matmul_<p>_fresh or _add, from its first instruction to behind its return.
void run_matmul(SupervisorTimeline& time, const spec::AmpSpec& amp, ElementType partials,
                const MatmulVertexShape& shape);

/// The weight loads, the first of which needs what $CCCSLOAD has from `address_ready` on.
void load_weights(SupervisorTimeline& time, ElementType partials, Cycles address_ready);
/// runall of workers that share `rows` rows of a weight load and make `extra` issues before it.
void launch_rows(SupervisorTimeline& time, const spec::AmpSpec& amp, std::int64_t rows, bool fresh,
                 std::int64_t extra);

} // namespace tessera::codelets
