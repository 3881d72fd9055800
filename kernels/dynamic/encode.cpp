// SPDX-License-Identifier: MIT
#include "kernels/dynamic/encode.h"

#include "kernels/dynamic/metadata.h"
#include "kernels/dynamic/recut.h"
#include "kernels/dynamic/travel.h"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

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

Encoding written(const Layout& layout, Deal dealt, std::vector<std::int64_t> first_of_cut,
                 std::int64_t value_stride) {
    Encoding encoding;
    encoding.travel = travel_of(layout.split, ways_of(layout, dealt));
    encoding.dealt = std::move(dealt);
    encoding.block = layout.block;
    encoding.room = layout.bucket.blocks;
    encoding.value_stride = value_stride;
    encoding.first_of_cut = std::move(first_of_cut);
    const auto words = static_cast<std::size_t>(layout.bucket.metadata);
    const auto buckets = static_cast<std::size_t>(layout.buckets());
    encoding.metadata.resize(buckets * words);
    tbb::parallel_for(std::size_t{0}, buckets, [&](std::size_t bucket) {
        write_bucket(layout, encoding.dealt.buckets[bucket], encoding.dealt.blocks,
                     std::span(encoding.metadata).subspan(bucket * words, words));
    });
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
    InBlocks blocks = in_blocks(layout, pattern);
    Deal dealt = deal(layout, pattern_of(blocks));
    if (!dealt.left.empty()) {
        BucketsOverflow::Facts facts = facts_of(layout, dealt.left.front());
        facts.excess = enough();
        throw BucketsOverflow(facts, layout);
    }
    return written(layout, std::move(dealt), std::move(blocks.recut.first_value), pattern.block);
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
