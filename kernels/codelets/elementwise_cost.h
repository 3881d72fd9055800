// SPDX-License-Identifier: MIT
// Worker issues of elementwise.inc's loops. tests/kernels/codelet_cost_test.cpp counts them in the assembled codelets.
#pragma once

#include <cstdint>

namespace tessera::codelets {

constexpr std::int64_t kElementwiseRowsNothing = 7; ///< a worker without rows
constexpr std::int64_t kElementwiseLastRow = 1;     ///< more than another row

/// What a codelet's loop costs.
struct ElementwiseLoop {
    std::int64_t frame = 0; ///< around the loop over rows
    std::int64_t row = 0;   ///< its rounds apart
    std::int64_t round = 0;
    std::int64_t ahead = 1; ///< units of a row that are not rounds
};

constexpr std::int64_t kElementwiseSigmWaits = 4; ///< behind the issue of an f32sigm

constexpr ElementwiseLoop kReluLoop{19, 8, 2};
constexpr ElementwiseLoop kScaleLoop{20, 8, 2};
constexpr ElementwiseLoop kWidenLoop{19, 10, 4};
constexpr ElementwiseLoop kNarrowLoop{19, 8, 2};
constexpr ElementwiseLoop kGeluF16Loop{21, 6, 20 + 4 * kElementwiseSigmWaits, 0};
constexpr ElementwiseLoop kGeluF32Loop{21, 6, 9 + 2 * kElementwiseSigmWaits, 0};
constexpr ElementwiseLoop kAddLoop{24, 10, 3};
constexpr ElementwiseLoop kMultiplyLoop{24, 10, 3};

/// Rows of `units` units of 8 bytes of an input; the last one may be shorter.
struct ElementwiseRows {
    std::int64_t rows = 0;
    std::int64_t units = 0;
    std::int64_t last = 0;
};

[[nodiscard]] constexpr std::int64_t elementwise_issues(const ElementwiseLoop& loop,
                                                        const ElementwiseRows& work,
                                                        std::int64_t worker, std::int64_t workers) {
    if (worker >= work.rows) {
        return kElementwiseRowsNothing;
    }
    const std::int64_t rows = (work.rows - 1 - worker) / workers + 1;
    const bool has_last = (work.rows - 1) % workers == worker;
    const std::int64_t units = rows * work.units - (has_last ? work.units - work.last : 0);
    return loop.frame + rows * loop.row + (units - rows * loop.ahead) * loop.round +
           (has_last ? kElementwiseLastRow : 0);
}

} // namespace tessera::codelets
