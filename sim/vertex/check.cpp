// SPDX-License-Identifier: MIT
#include "sim/vertex/check.h"

#include <algorithm>
#include <cmath>

namespace tessera::vertex {
namespace {

constexpr std::size_t kMostShown = 10;

bool right(double got, double expected, const ToleranceSpec& tolerance) {
    if (std::isnan(expected) || std::isnan(got)) {
        return std::isnan(expected) && std::isnan(got);
    }
    return got == expected || std::fabs(got - expected) <=
                                  tolerance.absolute + tolerance.relative * std::fabs(expected);
}

} // namespace

std::vector<ArrayCheck> check_arrays(const Bench& bench, const PointResult& result,
                                     const ToleranceSpec& tolerance) {
    std::vector<ArrayCheck> checks;
    for (std::size_t a = 0; a < bench.arrays.size(); ++a) {
        const BenchArray& array = bench.arrays[a];
        if (!array.expected) {
            continue;
        }
        const auto got = element_values(*array.type, result.arrays[a]);
        ArrayCheck check{array.name, static_cast<std::int64_t>(got.size()), 0, {}};
        for (std::size_t i = 0; i < got.size(); ++i) {
            const double expected = (*array.expected)[i];
            if (right(got[i], expected, tolerance)) {
                continue;
            }
            ++check.wrong;
            if (check.first.size() < kMostShown) {
                check.first.push_back({static_cast<std::int64_t>(i), got[i], expected});
            }
        }
        checks.push_back(std::move(check));
    }
    return checks;
}

bool passed(const std::vector<ArrayCheck>& checks) {
    return std::all_of(checks.begin(), checks.end(),
                       [](const ArrayCheck& check) { return check.wrong == 0; });
}

} // namespace tessera::vertex
