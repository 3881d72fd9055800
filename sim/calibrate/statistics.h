// SPDX-License-Identifier: MIT
// How near simulated figures are to measured ones.
#pragma once

#include <optional>
#include <vector>

namespace tessera::calibrate {

/// Statistics of the ratios r = simulated / measured of a group.
struct Nearness {
    std::size_t rows = 0;
    double ratio_mean = 1; ///< geometric mean of r
    double error_mean = 0; ///< geometric mean of max(r, 1/r), less 1: errors do not cancel
    /// 90th percentile of max(r, 1/r), less 1: the least that 9 of 10 rows do not exceed.
    double error_p90 = 0;
    double error_most = 0; ///< largest max(r, 1/r), less 1
};

/// Contract: all ratios are above zero.
[[nodiscard]] Nearness nearness(const std::vector<double>& ratios);

/// How often two factors name the same program as the faster one: both are above 1, or both below.
struct Signs {
    std::size_t rows = 0; ///< whose measured factor is clear
    std::size_t right = 0;

    /// Guards zero.
    [[nodiscard]] double share() const {
        return rows == 0 ? 0 : static_cast<double>(right) / static_cast<double>(rows);
    }
};

/// A measured factor closer to 1 than this, in log2, says nothing about which is faster.
inline constexpr double kClear = 0.2;

struct Factors {
    double measured = 1;
    double simulated = 1;
};

/// Of factors whose measured |log2| is above `clear`. Contract: all factors are above zero. A
/// simulated factor of 1 never counts as right.
[[nodiscard]] Signs signs(const std::vector<Factors>& factors, double clear = kClear);

struct Range {
    double least = 0;
    double most = 0;
};

/// What a group must reach, as fractions. A field without a value asks nothing.
struct Target {
    std::optional<double> error_mean;
    std::optional<double> error_p90;
    std::optional<double> error_most;
    std::optional<Range> ratio_mean = {};
    std::optional<double> sign_share = {}; ///< at least

    [[nodiscard]] bool asks() const {
        return error_mean || error_p90 || error_most || ratio_mean || sign_share;
    }
};

/// Whether a group reaches its target. `signs` is used only where the target has a sign_share.
[[nodiscard]] bool meets(const Nearness& nearness, const Target& target, const Signs& signs = {});

} // namespace tessera::calibrate
