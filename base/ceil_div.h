// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace tessera {

/// How many units `value` takes, the last one perhaps not full; neither is negative.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t value, std::int64_t unit) {
    return (value + unit - 1) / unit;
}

} // namespace tessera
