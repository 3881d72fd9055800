// SPDX-License-Identifier: MIT
#include "kernels/dynamic/decode.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

namespace tessera::dynamic {
namespace {

struct Found {
    std::int64_t row = 0; ///< in the matrix
    std::int64_t place = 0;
    std::int32_t column = 0;
};

class BucketReader {
public:
    BucketReader(const Layout& layout, std::span<const std::uint16_t> words, std::int64_t bucket,
                 std::vector<Found>& found)
        : layout_(layout), words_(words), bucket_(bucket), found_(found) {}

    void read() {
        while (word(at_) != 0) {
            sub_group();
        }
    }

private:
    void sub_group() {
        const std::int64_t first = at_;
        const std::int64_t number = word(first + SubGroup::kNumber);
        const std::int64_t x = word(first + SubGroup::kX);
        const std::int64_t y = word(first + SubGroup::kY);
        if (number > layout_.groups() || x * layout_.split.y + y + 1 != number) {
            refuse(first, "no sub-group of this number and place");
        }
        const std::int64_t first_row = x * layout_.part_rows;
        const std::int64_t first_column = y * layout_.part_columns;
        const std::int64_t rows = std::min(layout_.part_rows, layout_.rows - first_row);
        const std::int64_t columns = std::min(layout_.part_columns, layout_.columns - first_column);
        const std::int64_t before = blocks_;
        at_ += layout_.header_words();
        for (std::int64_t left = word(first + SubGroup::kRowsLess1) + 1; left > 0; --left) {
            const std::int64_t row = word(at_);
            const std::int64_t count = word(at_ + 1) + 1;
            if (row >= rows) {
                refuse(at_, "no such row in the part");
            }
            at_ += 2;
            for (const std::int64_t last = at_ + count; at_ < last; ++at_) {
                const std::int64_t step = layout_.place_step();
                const std::int64_t column = word(at_) / step;
                if (word(at_) % step != 0 || column >= columns) {
                    refuse(at_, "no such column in the part");
                }
                if (blocks_ == layout_.bucket.blocks) {
                    refuse(at_, "more blocks than the bucket holds");
                }
                found_.push_back({first_row + row, bucket_ * layout_.bucket.blocks + blocks_,
                                  static_cast<std::int32_t>(first_column + column)});
                ++blocks_;
            }
        }
        if (at_ - first != word(first + SubGroup::kWords) ||
            blocks_ - before != word(first + SubGroup::kBlocks)) {
            refuse(first, "the sub-group ends elsewhere than it says");
        }
    }

    [[nodiscard]] std::int64_t word(std::int64_t at) const {
        if (at >= std::ssize(words_)) {
            refuse(at, "the metadata have no end");
        }
        return words_[static_cast<std::size_t>(at)];
    }
    [[noreturn]] void refuse(std::int64_t at, std::string_view what) const {
        throw ProgramError(fmt::format("bucket {}, word {}: {}", bucket_, at, what));
    }

    const Layout& layout_;
    std::span<const std::uint16_t> words_;
    std::int64_t bucket_;
    std::vector<Found>& found_;
    std::int64_t at_ = 0;
    std::int64_t blocks_ = 0;
};

/// Sorts by row, then column; a row begins where `row_start` says.
void by_place(std::vector<Found>& found, const std::vector<std::int64_t>& row_start) {
    std::vector<Found> sorted(found.size());
    auto next = row_start;
    for (const Found& one : found) {
        sorted[static_cast<std::size_t>(next[static_cast<std::size_t>(one.row)]++)] = one;
    }
    for (std::size_t row = 0; row + 1 < row_start.size(); ++row) {
        std::sort(sorted.begin() + row_start[row], sorted.begin() + row_start[row + 1],
                  [](const Found& one, const Found& other) {
                      return std::pair(one.column, one.place) <
                             std::pair(other.column, other.place);
                  });
    }
    found = std::move(sorted);
}

} // namespace

Decoded decode(const Layout& layout, const std::vector<std::uint16_t>& metadata) {
    const auto words = static_cast<std::size_t>(layout.bucket.metadata);
    TESSERA_ASSERT(metadata.size() == words * static_cast<std::size_t>(layout.buckets()));
    std::vector<Found> found;
    for (std::int64_t bucket = 0; bucket < layout.buckets(); ++bucket) {
        BucketReader(layout,
                     std::span(metadata).subspan(static_cast<std::size_t>(bucket) * words, words),
                     bucket, found)
            .read();
    }
    Decoded decoded;
    workload::SparsePattern& pattern = decoded.pattern;
    pattern.rows = layout.rows * layout.block;
    pattern.columns = layout.columns * layout.block;
    pattern.block = layout.block;
    pattern.row_start.resize(static_cast<std::size_t>(layout.rows) + 1);
    for (const Found& one : found) {
        ++pattern.row_start[static_cast<std::size_t>(one.row) + 1];
    }
    std::partial_sum(pattern.row_start.begin(), pattern.row_start.end(), pattern.row_start.begin());
    by_place(found, pattern.row_start);
    const Found* last = nullptr;
    for (const Found& one : found) {
        if (last != nullptr && last->row == one.row && last->column == one.column) {
            throw ProgramError(fmt::format("bucket {}: block ({}, {}) is in bucket {} already",
                                           one.place / layout.bucket.blocks, one.row, one.column,
                                           last->place / layout.bucket.blocks));
        }
        pattern.block_column.push_back(one.column);
        decoded.places.push_back(one.place);
        last = &one;
    }
    return decoded;
}

} // namespace tessera::dynamic
