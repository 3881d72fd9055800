// SPDX-License-Identifier: MIT
// A pattern as buckets: what the host writes to tiles for the steps that read the sparse operand.
// Source: docs/published_plans.md#buckets.
//
//     const Plan plan = *dynamic::plan(problem, machine);
//     const Encoding encoding = encode(layout_of(problem, machine, plan), pattern);
//     const auto values = bucket_values(encoding, operand.values);
#pragma once

#include "base/error.h"
#include "kernels/dynamic/deal.h"
#include "kernels/dynamic/layout.h"
#include "kernels/workload/operands.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::dynamic {

/// How far buckets travel until each tile has seen the blocks of its part. A bucket moves to the
/// next higher number of z, then y, then x, round and round.
struct Travel {
    Split end;                           ///< loops run up to here
    std::vector<std::uint16_t> x_in_use; ///< a bit for each distance in x, low bits first

    /// Rounds of the loops behind the distribution. An x that is not in use has none.
    [[nodiscard]] std::int64_t steps(const Split& split) const;
    [[nodiscard]] bool uses_x(std::int64_t distance) const {
        return (x_in_use[static_cast<std::size_t>(distance / 16)] >> (distance % 16) & 1) != 0;
    }
    /// The control words: end of x, y and z, then x_in_use.
    [[nodiscard]] std::vector<std::uint16_t> words() const;

    bool operator==(const Travel&) const = default;
};

struct Encoding {
    std::vector<std::uint16_t> metadata; ///< [bucket][Bucket::metadata]
    Travel travel;
    Deal dealt;                    ///< the blocks of each bucket, in the order of its values
    std::int64_t block = 1;        ///< of the buckets
    std::int64_t room = 0;         ///< Bucket::blocks
    std::int64_t value_stride = 1; ///< from a row of a block to the next in the pattern's values
    /// Where the pattern's blocks were cut: the first element of each piece in the pattern's values.
    std::vector<std::int64_t> first_of_cut;

    /// Calls each(place, first element in the pattern's values) for each block that a bucket holds;
    /// places count [bucket][Bucket::blocks].
    template <class Each> void each_block(const Each& each) const {
        std::int64_t bucket_place = 0;
        for (const Holding& bucket : dealt.buckets) {
            std::int64_t place = bucket_place;
            bucket_place += room;
            for (const Piece& piece : bucket.pieces) {
                for (const Run& run : piece.runs) {
                    for (std::int64_t at = run.first; at < run.first + run.blocks; ++at, ++place) {
                        const auto number = dealt.blocks[static_cast<std::size_t>(at)].number;
                        each(place, first_of_cut.empty()
                                        ? number * block * block
                                        : first_of_cut[static_cast<std::size_t>(number)]);
                    }
                }
            }
        }
    }
};

/// A pattern does not fit into buckets of this size. Exit code 4.
class BucketsOverflow : public DoesNotFit {
public:
    struct Facts {
        std::int64_t bucket = 0;
        std::int64_t group = 0;  ///< number of the sub-group in metadata
        std::int64_t wanted = 0; ///< blocks of the bucket's share of its part
        std::int64_t held = 0;   ///< of these, in any bucket
        /// The least excess with which the pattern fits, of those tried.
        std::optional<double> excess;
    };
    explicit BucketsOverflow(const Facts& facts, const Layout& layout);
    [[nodiscard]] const Facts& facts() const { return facts_; }

private:
    Facts facts_;
};

/// The layout with another excess; nothing where there is none.
using LayoutOf = std::function<std::optional<Layout>(double excess)>;

inline constexpr double kExcessStep = 0.01;

/// `pattern` is in blocks of the layout or in larger ones, which are cut. Throws BucketsOverflow; the
/// second one, whose layout has this excess, then looks for the excess that would do: a multiple of
/// kExcessStep with which the pattern fits, while it does not with one step less.
[[nodiscard]] Encoding encode(const Layout& layout, const workload::SparsePattern& pattern);
[[nodiscard]] Encoding encode(const Layout& layout, double excess, const LayoutOf& layout_of,
                              const workload::SparsePattern& pattern);

/// Values of a pattern's blocks, row-major in each, in the order of the buckets; zero where a bucket
/// has no block.
template <class Element>
[[nodiscard]] std::vector<Element> bucket_values(const Encoding& encoding,
                                                 const std::vector<Element>& values) {
    const std::int64_t b = encoding.block;
    std::vector<Element> buckets(encoding.dealt.buckets.size() *
                                 static_cast<std::size_t>(encoding.room * b * b));
    encoding.each_block([&](std::int64_t place, std::int64_t first) {
        auto to = buckets.begin() + place * b * b;
        for (std::int64_t row = 0; row < b; ++row, to += b) {
            std::copy_n(values.begin() + first + row * encoding.value_stride, b, to);
        }
    });
    return buckets;
}

/// The other way: values in the order of the pattern's blocks.
template <class Element>
[[nodiscard]] std::vector<Element> pattern_values(const Encoding& encoding,
                                                  const std::vector<Element>& buckets,
                                                  const workload::SparsePattern& pattern) {
    const std::int64_t b = encoding.block;
    std::vector<Element> values(static_cast<std::size_t>(pattern.stored_elements()));
    encoding.each_block([&](std::int64_t place, std::int64_t first) {
        auto from = buckets.begin() + place * b * b;
        for (std::int64_t row = 0; row < b; ++row, from += b) {
            std::copy_n(from, b, values.begin() + first + row * encoding.value_stride);
        }
    });
    return values;
}

} // namespace tessera::dynamic
