// SPDX-License-Identifier: MIT
#include "kernels/dynamic/encode.h"

#include "kernels/dynamic/deal.h"
#include "kernels/dynamic/metadata.h"
#include "kernels/dynamic/recut.h"
#include "kernels/dynamic/travel.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <tuple>
#include <utility>

namespace tessera::dynamic {
namespace {

/// A pattern in blocks of the layout; `recut` has it if it was not.
struct InBlocks {
    const workload::SparsePattern* pattern = nullptr;
    RecutPattern recut;
};

InBlocks in_blocks(const Layout& layout, const workload::SparsePattern& pattern) {
    InBlocks made;
    if (pattern.block == layout.block) {
        made.pattern = &pattern;
    } else {
        made.recut = recut(pattern, layout.block);
    }
    return made;
}

const workload::SparsePattern& pattern_of(const InBlocks& blocks) {
    return blocks.pattern != nullptr ? *blocks.pattern : blocks.recut.pattern;
}

Ways ways_of(const Layout& layout, const Deal& dealt) {
    const Split& split = layout.split;
    Ways ways;
    for (std::int64_t number = 0; number < layout.buckets(); ++number) {
        for (const Piece& piece : dealt.buckets[static_cast<std::size_t>(number)].pieces) {
            const std::int64_t x =
                (piece.group / split.y - layout.x_of(number) + split.x) % split.x;
            const std::int64_t y =
                (piece.group % split.y - layout.y_of(number) + split.y) % split.y;
            if (x > 0 || y > 0) {
                ways.emplace(x, y);
            }
        }
    }
    return ways;
}

Encoding written(const Layout& layout, Deal dealt, const InBlocks& blocks,
                 std::int64_t value_stride) {
    Encoding encoding;
    encoding.block = layout.block;
    encoding.overfull = dealt.overfull;
    encoding.travel = travel_of(layout.split, ways_of(layout, dealt));
    const auto words = static_cast<std::size_t>(layout.bucket.metadata);
    const auto held = static_cast<std::size_t>(layout.bucket.blocks);
    const auto buckets = static_cast<std::size_t>(layout.buckets());
    encoding.metadata.resize(buckets * words);
    encoding.first_value.reserve(buckets * held);
    std::vector<std::int32_t> numbers(held);
    const std::int64_t cells = layout.block * layout.block;
    encoding.value_stride = value_stride;
    for (std::size_t number = 0; number < buckets; ++number) {
        std::fill(numbers.begin(), numbers.end(), -1);
        write_bucket(layout, dealt.buckets[number], dealt.blocks,
                     std::span(encoding.metadata).subspan(number * words, words), numbers);
        for (const std::int32_t block : numbers) {
            encoding.first_value.push_back(
                block < 0 ? -1
                : blocks.pattern != nullptr
                    ? block * cells
                    : blocks.recut.first_value[static_cast<std::size_t>(block)]);
        }
    }
    return encoding;
}

BucketsOverflow::Facts facts_of(const Layout& layout, const LeftOver& left) {
    BucketsOverflow::Facts facts;
    facts.bucket = left.bucket;
    facts.group = 1 + layout.x_of(left.bucket) * layout.split.y + layout.y_of(left.bucket);
    facts.wanted = left.wanted;
    facts.held = left.held;
    return facts;
}

/// Doubles the steps until the pattern fits, then halves in between.
std::optional<double> least_excess(const LayoutOf& layout_of, double excess,
                                   const workload::SparsePattern& pattern) {
    const auto value = [](std::int64_t steps) { return static_cast<double>(steps) * kExcessStep; };
    const auto fits = [&](std::int64_t steps) {
        const auto layout = layout_of(value(steps));
        return layout && deal(*layout, pattern_of(in_blocks(*layout, pattern))).left.empty();
    };
    constexpr std::int64_t kMostSteps = 1 << 24;
    auto none = static_cast<std::int64_t>(std::floor(excess / kExcessStep + 1e-9));
    std::int64_t more = 1;
    while (!fits(none + more)) {
        none += more;
        more *= 2;
        if (none > kMostSteps) {
            return {};
        }
    }
    std::int64_t enough = none + more;
    while (enough - none > 1) {
        const std::int64_t middle = none + (enough - none) / 2;
        (fits(middle) ? enough : none) = middle;
    }
    return value(enough);
}

template <class Enough>
Encoding encoded(const Layout& layout, const workload::SparsePattern& pattern,
                 const Enough& enough) {
    const InBlocks blocks = in_blocks(layout, pattern);
    Deal dealt = deal(layout, pattern_of(blocks));
    if (!dealt.left.empty()) {
        BucketsOverflow::Facts facts = facts_of(layout, dealt.left.front());
        facts.excess = enough();
        throw BucketsOverflow(facts, layout);
    }
    return written(layout, std::move(dealt), blocks, pattern.block);
}

std::string text_of(const BucketsOverflow::Facts& facts, const Layout& layout) {
    const std::string hint = facts.excess
                                 ? fmt::format("an excess of {:.2f} is enough", *facts.excess)
                                 : "no excess is known to be enough";
    return fmt::format("the pattern does not fit into buckets of {} blocks and {} words: bucket {} "
                       "(x {}, y {}, z {}), sub-group {}: got {} blocks, of which {} have a place; "
                       "{}",
                       layout.bucket.blocks, layout.bucket.metadata, facts.bucket,
                       layout.x_of(facts.bucket), layout.y_of(facts.bucket),
                       layout.z_of(facts.bucket), facts.group, facts.wanted, facts.held, hint);
}

} // namespace

std::int64_t Travel::steps(const Split& split) const {
    std::int64_t rounds = 0;
    for (std::int64_t x = 0; x < end.x; ++x) {
        if (uses_x(x)) {
            rounds += end.y * end.z - (x == 0 ? split.z : 0);
        }
    }
    return rounds;
}

std::vector<std::uint16_t> Travel::words() const {
    std::vector<std::uint16_t> words{static_cast<std::uint16_t>(end.x),
                                     static_cast<std::uint16_t>(end.y),
                                     static_cast<std::uint16_t>(end.z)};
    words.insert(words.end(), x_in_use.begin(), x_in_use.end());
    return words;
}

BucketsOverflow::BucketsOverflow(const Facts& facts, const Layout& layout)
    : DoesNotFit(text_of(facts, layout)), facts_(facts) {}

Encoding encode(const Layout& layout, const workload::SparsePattern& pattern) {
    return encoded(layout, pattern, [] { return std::optional<double>{}; });
}

Encoding encode(const Layout& layout, double excess, const LayoutOf& layout_of,
                const workload::SparsePattern& pattern) {
    return encoded(layout, pattern, [&] { return least_excess(layout_of, excess, pattern); });
}

} // namespace tessera::dynamic
