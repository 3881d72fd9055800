// SPDX-License-Identifier: MIT
#include "kernels/dynamic/fill.h"

#include "kernels/dynamic/bucket.h"

#include <algorithm>
#include <limits>

namespace tessera::dynamic {
namespace {

void add(Spread& spread, std::int64_t count) {
    spread.least = std::min(spread.least, count);
    spread.most = std::max(spread.most, count);
    spread.sum += count;
}

} // namespace

Fill fill_of(const Layout& layout, const Encoding& encoding) {
    constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
    Fill fill;
    fill.blocks.least = kNone;
    fill.words.least = kNone;
    for (std::int64_t number = 0; number < layout.buckets(); ++number) {
        const BucketRead bucket =
            read_bucket(layout, layout.words_of(encoding.metadata, number), number);
        add(fill.blocks, bucket.blocks);
        add(fill.words, bucket.words);
        fill.empty += bucket.blocks == 0 ? 1 : 0;
        std::int64_t away = 0;
        for (const SubGroupRead& group : bucket.groups) {
            const bool is_own = group.x == layout.x_of(number) && group.y == layout.y_of(number);
            away += is_own ? 0 : std::ssize(group.columns);
        }
        fill.away += away;
        fill.hosts += away > 0 ? 1 : 0;
    }
    return fill;
}

} // namespace tessera::dynamic
