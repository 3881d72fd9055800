// SPDX-License-Identifier: MIT
// How searches cut a dimension.
#pragma once

#include "base/ceil_div.h"
#include "base/range.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::plan {

/// Part `index` of `parts` nearly equal ones of 0 .. length - 1.
[[nodiscard]] constexpr Range part_of(std::int64_t length, std::int64_t parts, std::int64_t index) {
    return {index * length / parts, (index + 1) * length / parts};
}

/// Numbers of parts up to `most` that make the largest part of `length` smaller than any fewer parts
/// do.
[[nodiscard]] inline std::vector<std::int64_t> useful_parts(std::int64_t length,
                                                            std::int64_t most) {
    std::vector<std::int64_t> parts;
    std::int64_t largest = length + 1;
    for (std::int64_t p = 1; p <= std::min(length, most); ++p) {
        if (ceil_div(length, p) < largest) {
            largest = ceil_div(length, p);
            parts.push_back(p);
        }
    }
    return parts;
}

} // namespace tessera::plan
