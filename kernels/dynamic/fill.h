// SPDX-License-Identifier: MIT
// How full the buckets of a pattern are, and how far its blocks are from home.
#pragma once

#include "kernels/dynamic/encode.h"
#include "kernels/dynamic/layout.h"

#include <cstdint>

namespace tessera::dynamic {

/// Of all buckets.
struct Spread {
    std::int64_t least = 0;
    std::int64_t most = 0;
    std::int64_t sum = 0;

    [[nodiscard]] double mean(std::int64_t buckets) const {
        return static_cast<double>(sum) / static_cast<double>(buckets);
    }
    bool operator==(const Spread&) const = default;
};

struct Fill {
    Spread blocks;
    Spread words;           ///< of metadata, with the zero that ends them
    std::int64_t empty = 0; ///< buckets without blocks
    std::int64_t away = 0;  ///< blocks in a bucket of another part, which have to travel
    std::int64_t hosts = 0; ///< buckets that have such blocks
};

[[nodiscard]] Fill fill_of(const Layout& layout, const Encoding& encoding);

} // namespace tessera::dynamic
