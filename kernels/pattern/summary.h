// SPDX-License-Identifier: MIT
// What a pattern is like: how full it is and how evenly, and how many bytes formats take for it.
#pragma once

#include "kernels/workload/coordinate_matrix.h"

#include <cstdint>

namespace tessera::pattern {

/// How something counted is spread over rows, or over columns.
struct Spread {
    std::int64_t lines = 0;
    std::int64_t most = 0;  ///< of a line
    std::int64_t line = 0;  ///< the first that has so many, from 0
    std::int64_t empty = 0; ///< lines without any
    double mean = 0;

    /// The longest line over the mean; 0 where there is nothing.
    [[nodiscard]] double skew() const { return mean > 0 ? static_cast<double>(most) / mean : 0; }
};

struct BlockSummary {
    std::int64_t rows = 0; ///< of blocks; those at the edges end with the matrix
    std::int64_t columns = 0;
    std::int64_t kept = 0;  ///< that hold an entry
    std::int64_t whole = 0; ///< of these: all elements are entries
    std::int64_t least = 0; ///< entries of the kept block that has the fewest
    double fill = 0;        ///< entries over elements of kept blocks
    Spread by_row;          ///< kept blocks
    Spread by_column;
};

/// Indices have 4 bytes; values have those of the matrix's type, a mask none.
struct FormatBytes {
    std::int64_t coo = 0;
    std::int64_t csr = 0;
    std::int64_t csc = 0;
    std::int64_t bsr = 0;   ///< edge blocks are whole
    std::int64_t dense = 0; ///< a mask has a byte an element
};

struct Summary {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::int64_t entries = 0;
    std::int64_t zeros = 0; ///< entries whose value is 0
    double density = 0;
    Spread by_row;
    Spread by_column;
    std::int64_t block = 1;
    BlockSummary blocks;
    FormatBytes bytes;
};

[[nodiscard]] Summary summary_of(const workload::CoordinateMatrix& matrix, std::int64_t block);

} // namespace tessera::pattern
