// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace tessera {

/// A range holds the numbers first, first + 1, ... last - 1.
struct Range {
    std::int64_t first = 0;
    std::int64_t last = 0;

    [[nodiscard]] constexpr std::int64_t size() const { return last - first; }
    bool operator==(const Range&) const = default;
};

} // namespace tessera
