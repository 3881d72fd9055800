// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace tessera::published {

/// Elements [first, last).
struct Run {
    std::int64_t first = 0;
    std::int64_t last = 0;

    [[nodiscard]] std::int64_t size() const { return last - first; }
    bool operator==(const Run&) const = default;
};

} // namespace tessera::published
