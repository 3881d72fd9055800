// SPDX-License-Identifier: MIT
#include "sim/calibrate/statistics.h"

#include "base/error.h"

#include <algorithm>
#include <cmath>

namespace tessera::sim::calibrate {

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
        errors.push_back(std::abs(ratio - 1));
    }
    const auto rows = static_cast<double>(ratios.size());
    std::sort(errors.begin(), errors.end());
    out.ratio_mean = std::exp(sum / rows);
    out.error_mean = std::exp(sum_of_sizes / rows) - 1;
    out.error_p90 = errors[(9 * errors.size() + 9) / 10 - 1]; // rank: nine tenths, rounded up
    out.error_most = errors.back();
    return out;
}

bool meets(const Nearness& nearness, const Target& target) {
    const auto within = [](double error, const std::optional<double>& most) {
        return !most || error <= *most;
    };
    return within(nearness.error_mean, target.error_mean) &&
           within(nearness.error_p90, target.error_p90) &&
           within(nearness.error_most, target.error_most) &&
           within(nearness.ratio_mean, target.ratio_high) &&
           (!target.ratio_low || nearness.ratio_mean >= *target.ratio_low);
}

Signs signs_of(const std::vector<Sides>& rows) {
    constexpr double kClear = 0.2;
    Signs signs;
    for (const Sides& row : rows) {
        if (std::abs(std::log2(row.measured)) > kClear) {
            ++signs.rows;
            signs.right += (row.measured > 1) == (row.simulated > 1) ? 1U : 0U;
        }
    }
    return signs;
}

UnexplainedFit fit_unexplained(const std::vector<Unexplained>& rows) {
    TESSERA_ASSERT(!rows.empty());
    UnexplainedFit fit;
    double words_words = 0;
    double words_steps = 0;
    double steps_steps = 0;
    double words_cycles = 0;
    double steps_cycles = 0;
    double measured = 0;
    for (const Unexplained& row : rows) {
        fit.cycles += row.cycles;
        measured += row.measured;
        words_words += row.words * row.words;
        words_steps += row.words * row.steps;
        steps_steps += row.steps * row.steps;
        words_cycles += row.words * row.cycles;
        steps_cycles += row.steps * row.cycles;
    }
    fit.share = fit.cycles / measured;
    // of two columns that say the same, one does
    constexpr double kAlike = 1e-9;
    const double determinant = words_words * steps_steps - words_steps * words_steps;
    if (determinant > kAlike * words_words * steps_steps) {
        fit.a_word = (steps_steps * words_cycles - words_steps * steps_cycles) / determinant;
        fit.a_step = (words_words * steps_cycles - words_steps * words_cycles) / determinant;
    } else if (words_words > 0) {
        fit.a_word = words_cycles / words_words;
    } else if (steps_steps > 0) {
        fit.a_step = steps_cycles / steps_steps;
    }
    double all = 0;
    double left = 0;
    for (const Unexplained& row : rows) {
        const double rest = row.cycles - fit.a_word * row.words - fit.a_step * row.steps;
        all += row.cycles * row.cycles;
        left += rest * rest;
    }
    fit.left = all > 0 ? left / all : 0;
    return fit;
}

} // namespace tessera::sim::calibrate
