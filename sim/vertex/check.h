// SPDX-License-Identifier: MIT
// Arrays after the run against what was expected.
#pragma once

#include "sim/vertex/run.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::vertex {

struct Mismatch {
    std::int64_t index = 0; ///< in row-major order
    double got = 0;
    double expected = 0;
};

struct ArrayCheck {
    std::string name;
    std::int64_t elements = 0;
    std::int64_t wrong = 0;
    std::vector<Mismatch> first; ///< the first ten
};

/// One entry for each array that has expected values. An element is right where
/// |got - expected| <= absolute + relative * |expected|, or both are NaN, or both are equal.
[[nodiscard]] std::vector<ArrayCheck> check_arrays(const Bench& bench, const PointResult& result,
                                                   const ToleranceSpec& tolerance);

/// True where nothing is wrong.
[[nodiscard]] bool passed(const std::vector<ArrayCheck>& checks);

} // namespace tessera::vertex
