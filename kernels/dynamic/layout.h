// SPDX-License-Identifier: MIT
// How a sparse operand whose pattern comes at run time lies on tiles: parts, buckets and the words
// that say which blocks a bucket has. Source: docs/published_plans.md#buckets.
//
// Metadata of a bucket: sub-groups one after another, then a zero. A sub-group is what the bucket
// has of the blocks of one part (x, y); its words of 16 bits are
//
//     header, entries of the workers, lists of the workers, rows
//     row: {row, blocks - 1, place of each block, by columns}
//
// Rows and columns are block rows and columns of the part. The place of an element (blocks of 1) is
// the byte offset of its row of X in the part of X, that of a block its block column. A row occurs
// once in a sub-group. Values lie in the same order: blocks one after another, row-major inside.
#pragma once

#include "base/ceil_div.h"
#include "base/units.h"
#include "kernels/dynamic/published/planner.h"
#include "kernels/published/dense_planner.h"

#include <cstdint>
#include <optional>
#include <span>

namespace tessera::dynamic {

/// Words of a sub-group's header, of blocks the first seven.
struct SubGroup {
    static constexpr std::int64_t kNumber = 0; ///< 1 + x * parts of y + y
    static constexpr std::int64_t kX = 1;
    static constexpr std::int64_t kY = 2;
    static constexpr std::int64_t kBlocks = 3; ///< to the values of the next sub-group
    static constexpr std::int64_t kWords = 4;  ///< to the next sub-group
    static constexpr std::int64_t kRowsLess1 = 5;
    static constexpr std::int64_t kLists = 6; ///< workers that have a list: none or all
    static constexpr std::int64_t kBlockHeader = 7;
    static constexpr std::int64_t kColumns = 7; ///< of X
    static constexpr std::int64_t kRows = 8;    ///< words from the sub-group to its rows
    static constexpr std::int64_t kElementHeader = 9;
};

/// Words of a worker's entry, of elements only: a rectangle of rows and columns of X.
struct WorkerEntry {
    static constexpr std::int64_t kBlocksBefore = 0; ///< values of the sub-group before its own
    static constexpr std::int64_t kColumns = 1;      ///< of X
    static constexpr std::int64_t kFirstColumn = 2;
    static constexpr std::int64_t kRows = 3;      ///< 0: nothing to do
    static constexpr std::int64_t kRowsWords = 4; ///< words from the sub-group to its first row
    static constexpr std::int64_t kWords = 5;
};

/// Words of a worker's list for the gradient of the values: blocks one after another.
struct WorkerList {
    static constexpr std::int64_t kBlocksBefore = 0;
    static constexpr std::int64_t kRowWords = 1;   ///< words from the sub-group to its first row
    static constexpr std::int64_t kPlaceWords = 2; ///< and to the place of its first block
    static constexpr std::int64_t kBlocks = 3;     ///< 0: nothing to do
    static constexpr std::int64_t kBlockWords = 4;
    static constexpr std::int64_t kRowBlocks = 4; ///< elements: its own in its first row
    static constexpr std::int64_t kElementWords = 5;
};

/// Bucket number b is on tile b: (y * parts of z + z) * parts of x + x.
struct Layout {
    std::int64_t rows = 0;    ///< block rows of W
    std::int64_t columns = 0; ///< block columns of W
    std::int64_t block = 1;
    Split split;
    std::int64_t part_rows = 0;    ///< block rows of a part; the last one may have fewer
    std::int64_t part_columns = 0; ///< block columns
    std::int64_t n = 0;            ///< columns of X on a tile, whole grains
    std::int64_t n_grain = 1;      ///< columns of X that stay on one worker
    Bytes element_bytes = 0;
    Bucket bucket;
    std::int64_t workers = 0;
    bool lists = false; ///< for the gradient of the values

    [[nodiscard]] std::int64_t buckets() const { return split.tiles(); }
    [[nodiscard]] std::int64_t groups() const { return split.x * split.y; }
    [[nodiscard]] std::int64_t bucket_of(std::int64_t x, std::int64_t y, std::int64_t z) const {
        return (y * split.z + z) * split.x + x;
    }
    [[nodiscard]] std::int64_t x_of(std::int64_t number) const { return number % split.x; }
    [[nodiscard]] std::int64_t y_of(std::int64_t number) const {
        return number / split.x / split.z;
    }
    [[nodiscard]] std::int64_t z_of(std::int64_t number) const {
        return number / split.x % split.z;
    }
    /// Words of a sub-group before its rows.
    [[nodiscard]] std::int64_t header_words() const { return lists_at() + lists_words(); }
    /// Words from a sub-group to its lists.
    [[nodiscard]] std::int64_t lists_at() const {
        return block == 1 ? SubGroup::kElementHeader + WorkerEntry::kWords * workers
                          : SubGroup::kBlockHeader;
    }
    /// A bucket's part of the metadata of all.
    [[nodiscard]] std::span<const std::uint16_t> words_of(std::span<const std::uint16_t> metadata,
                                                          std::int64_t number) const {
        return metadata.subspan(static_cast<std::size_t>(number * bucket.metadata),
                                static_cast<std::size_t>(bucket.metadata));
    }
    /// The place of a block column, over it.
    [[nodiscard]] std::int64_t place_step() const { return block == 1 ? n * element_bytes : 1; }

private:
    [[nodiscard]] std::int64_t lists_words() const {
        return lists ? workers * (block == 1 ? WorkerList::kElementWords : WorkerList::kBlockWords)
                     : 0;
    }
};

/// That of a published plan.
[[nodiscard]] Layout layout_of(const Problem& problem, const published::DenseMachine& machine,
                               const Plan& plan);

} // namespace tessera::dynamic
