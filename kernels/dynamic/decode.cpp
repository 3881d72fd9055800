// SPDX-License-Identifier: MIT
#include "kernels/dynamic/decode.h"

#include "base/error.h"
#include "kernels/dynamic/bucket.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace tessera::dynamic {
namespace {

struct Found {
    std::int64_t row = 0; ///< in the matrix
    std::int64_t place = 0;
    std::int32_t column = 0;
};

void add_bucket(const Layout& layout, std::int64_t number, const BucketRead& bucket,
                std::vector<Found>& found) {
    std::int64_t place = number * layout.bucket.blocks;
    for (const SubGroupRead& group : bucket.groups) {
        for (const RowRead& row : group.rows) {
            for (std::int64_t i = row.first; i < row.first + row.blocks; ++i, ++place) {
                const std::int64_t column =
                    group.y * layout.part_columns + group.columns[static_cast<std::size_t>(i)];
                found.push_back({group.x * layout.part_rows + row.row, place,
                                 static_cast<std::int32_t>(column)});
            }
        }
    }
}

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
    TESSERA_ASSERT(std::ssize(metadata) == layout.bucket.metadata * layout.buckets());
    std::vector<Found> found;
    for (std::int64_t bucket = 0; bucket < layout.buckets(); ++bucket) {
        add_bucket(layout, bucket, read_bucket(layout, layout.words_of(metadata, bucket), bucket),
                   found);
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
