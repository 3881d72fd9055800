// SPDX-License-Identifier: MIT
// The words of one bucket, read. Format: layout.h.
#pragma once

#include "kernels/dynamic/layout.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::dynamic {

/// A row of a sub-group; words count from the bucket's first one.
struct RowRead {
    std::int64_t word = 0;
    std::int64_t row = 0;   ///< in the part
    std::int64_t first = 0; ///< of its blocks, in SubGroupRead::columns
    std::int64_t blocks = 0;
};

/// What a bucket has of the blocks of part (x, y).
struct SubGroupRead {
    std::int64_t word = 0;
    std::int64_t words = 0;
    std::int64_t x = 0;
    std::int64_t y = 0;
    std::vector<RowRead> rows;
    std::vector<std::int64_t> columns; ///< in the part, of each block
};

struct BucketRead {
    std::vector<SubGroupRead> groups;
    std::int64_t blocks = 0;
    std::int64_t words = 0; ///< with the zero that ends them
};

/// `words` are the metadata of bucket `number`. Throws ProgramError, with the bucket and the word,
/// where they are not what write_bucket() writes: a sub-group, row or place that does not exist, lists
/// that end elsewhere than the header says, more blocks than a bucket holds.
[[nodiscard]] BucketRead read_bucket(const Layout& layout, std::span<const std::uint16_t> words,
                                     std::int64_t number);

} // namespace tessera::dynamic
