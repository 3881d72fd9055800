// SPDX-License-Identifier: MIT
// How far estimates are from timing mode, as `tools/estimate_gap.py TESSERA` measures it over
// products of its own; with --update it writes the lines of this table. Nothing is ever corrected by
// these figures: they are told with every estimate.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

namespace tessera::result {

/// Estimated cycles over those of timing mode, of the products of one family.
struct EstimateGap {
    std::string_view family;
    int rows = 0;     ///< products
    double mean = 1;  ///< geometric
    double least = 1; ///< rounded down
    double most = 1;  ///< rounded up

    /// The one of both that is farther from 1.
    [[nodiscard]] double worst() const {
        return std::abs(std::log(least)) > std::abs(std::log(most)) ? least : most;
    }
};

/// A family for each kind of workload that has closed forms.
inline constexpr std::array kEstimateGaps{
    EstimateGap{"matmul", 31, 1.01, 0.93, 1.17},
    EstimateGap{"spmm", 45, 0.93, 0.10, 1.26},
};

/// Whether there are closed forms of such workloads.
[[nodiscard]] inline bool has_estimate(std::string_view kind) {
    return std::any_of(kEstimateGaps.begin(), kEstimateGaps.end(),
                       [&](const EstimateGap& gap) { return gap.family == kind; });
}

/// "matmul and spmm"
[[nodiscard]] inline std::string kinds_with_estimates() {
    std::string known;
    for (const EstimateGap& gap : kEstimateGaps) {
        known += (known.empty() ? "" : " and ") + std::string(gap.family);
    }
    return known;
}

} // namespace tessera::result
