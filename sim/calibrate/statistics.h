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
    std::optional<double> error_mean = {};
    std::optional<double> error_p90 = {};
    std::optional<double> error_most = {};
    std::optional<double> ratio_low = {}; ///< least and largest geometric mean
    std::optional<double> ratio_high = {};
    std::optional<double> signs = {}; ///< least share that is on the measured side of 1

    [[nodiscard]] bool asks() const {
        return error_mean || error_p90 || error_most || ratio_low || ratio_high || signs;
    }
};

/// On which side of 1 figures are, of those that were measured to be well on one.
struct Signs {
    std::size_t rows = 0;
    std::size_t right = 0;

    /// Contract: there are rows.
    [[nodiscard]] double share() const {
        return static_cast<double>(right) / static_cast<double>(rows);
    }
};
struct Sides {
    double measured = 1;
    double simulated = 1;
};
/// Of the rows whose measured figure's logarithm to the base 2 is further than 0.2 from 0.
[[nodiscard]] Signs signs_of(const std::vector<Sides>& rows);

/// measured - simulated cycles, as `a` cycles a word and `b` a step would explain them best.
struct Unexplained {
    double words = 0;
    double steps = 0;
    double cycles = 0;   ///< measured - simulated
    double measured = 0; ///< cycles
};
struct UnexplainedFit {
    double cycles = 0; ///< sum over the rows
    double share = 0;  ///< of the measured ones
    double a_word = 0;
    double a_step = 0;
    double left = 0; ///< share of the sum of squares that the fit leaves
};
/// Least squares without a constant; where rows cannot tell words from steps, by words alone.
/// Contract: there are rows.
[[nodiscard]] UnexplainedFit fit_unexplained(const std::vector<Unexplained>& rows);

[[nodiscard]] bool meets(const Nearness& nearness, const Target& target);

} // namespace tessera::sim::calibrate
