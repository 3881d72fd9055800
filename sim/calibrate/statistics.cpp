// SPDX-License-Identifier: MIT
#include "sim/calibrate/statistics.h"

#include "base/error.h"

#include <algorithm>
#include <cmath>

namespace tessera::calibrate {

Nearness nearness(const std::vector<double>& ratios) {
    Nearness out{.rows = ratios.size()};
    if (ratios.empty()) {
        return out;
    }
    double sum = 0;
    double sum_of_sizes = 0;
    std::vector<double> errors;
    for (const double ratio : ratios) {
        TESSERA_ASSERT(ratio > 0);
        sum += std::log(ratio);
        sum_of_sizes += std::abs(std::log(ratio));
        errors.push_back(std::max(ratio, 1 / ratio) - 1);
    }
    const auto rows = static_cast<double>(ratios.size());
    std::sort(errors.begin(), errors.end());
    out.ratio_mean = std::exp(sum / rows);
    out.error_mean = std::exp(sum_of_sizes / rows) - 1;
    out.error_p90 = errors[(9 * errors.size() + 9) / 10 - 1]; // rank: nine tenths, rounded up
    out.error_most = errors.back();
    return out;
}

Signs signs(const std::vector<Factors>& factors, double clear) {
    Signs out;
    for (const Factors& factor : factors) {
        TESSERA_ASSERT(factor.measured > 0 && factor.simulated > 0);
        const double measured = std::log2(factor.measured);
        if (std::abs(measured) > clear) {
            ++out.rows;
            out.right += measured * std::log2(factor.simulated) > 0 ? 1 : 0;
        }
    }
    return out;
}

bool meets(const Nearness& nearness, const Target& target, const Signs& signs) {
    const auto within = [](double error, const std::optional<double>& most) {
        return !most || error <= *most;
    };
    const auto& range = target.ratio_mean;
    return within(nearness.error_mean, target.error_mean) &&
           within(nearness.error_p90, target.error_p90) &&
           within(nearness.error_most, target.error_most) &&
           (!range ||
            (range->least <= nearness.ratio_mean && nearness.ratio_mean <= range->most)) &&
           (!target.sign_share || signs.share() >= *target.sign_share);
}

} // namespace tessera::calibrate
