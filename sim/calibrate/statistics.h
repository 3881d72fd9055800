// SPDX-License-Identifier: MIT
// How near simulated figures are to measured ones.
#pragma once

#include <optional>
#include <vector>

namespace tessera::sim::calibrate {

/// Of the ratios r = simulated / measured of a group.
struct Nearness {
    std::size_t rows = 0;
    double ratio_mean = 1; ///< geometric mean of r
    double error_mean = 0; ///< geometric mean of max(r, 1/r), less 1: errors do not cancel
    double error_p90 = 0; ///< 90th percentile of |r - 1|: the least that 9 of 10 rows do not exceed
    double error_most = 0; ///< largest |r - 1|
};

/// Contract: all ratios are above zero.
[[nodiscard]] Nearness nearness(const std::vector<double>& ratios);

/// What a group must reach, as fractions; where nothing stands, nothing is asked.
struct Target {
    std::optional<double> error_mean;
    std::optional<double> error_p90;
    std::optional<double> error_most;

    [[nodiscard]] bool asks() const { return error_mean || error_p90 || error_most; }
};

[[nodiscard]] bool meets(const Nearness& nearness, const Target& target);

} // namespace tessera::sim::calibrate
