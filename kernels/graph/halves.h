// SPDX-License-Identifier: MIT
// Numbers for which vertex state has 16 bits. A tile with much memory may be given more work than
// they can say: such a division of the problem does not fit.
#pragma once

#include "base/error.h"
#include "kernels/graph/graph.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <string_view>

namespace tessera::graph {

/// `value` in half a word. If it does not fit, the message calls it `what`.
/// @throws DoesNotFit
[[nodiscard]] inline std::uint16_t half(std::int64_t value, std::string_view what) {
    constexpr std::int64_t kMost = std::numeric_limits<std::uint16_t>::max();
    if (value < 0 || value > kMost) {
        throw DoesNotFit(
            fmt::format("a tile's vertex state has 16 bits for {}: got {}, expected at "
                        "most {}; with more tiles (chip.tiles) each has less to do",
                        what, value, kMost));
    }
    return static_cast<std::uint16_t>(value);
}

/// A word of both, `low` in its lower half.
/// @throws DoesNotFit
[[nodiscard]] inline Field halves(std::int64_t low, std::int64_t high, std::string_view what) {
    return word(half(low, what) | std::int64_t{half(high, what)} << 16);
}

} // namespace tessera::graph
