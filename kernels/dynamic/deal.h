// SPDX-License-Identifier: MIT
// Deals the blocks of a pattern to buckets, as the vendor's library does. Source:
// docs/published_plans.md#buckets.
//
// A part's blocks, row by row, are cut into equal runs, one for each of its buckets. Rows that do not
// fit are taken from a bucket's end and find a place in another one: of the same part, then of the
// same parts of rows, then anywhere; each time whole first, then in pieces.
#pragma once

#include "kernels/dynamic/layout.h"
#include "kernels/workload/operands.h"

#include <cstdint>
#include <vector>

namespace tessera::dynamic {

/// A block of the pattern; `column` is its block column in its part.
struct DealtBlock {
    std::int32_t number = 0;
    std::int32_t column = 0;
};

/// Neighbours in Deal::blocks, all of one row of their part.
struct Run {
    std::int64_t first = 0;
    std::int32_t row = 0; ///< in the part
    std::int32_t blocks = 0;
};

/// The blocks of one part that a bucket holds.
struct Piece {
    std::int64_t group = 0; ///< x * parts of y + y
    std::vector<Run> runs;
};

struct Holding {
    std::vector<Piece> pieces;
    std::int64_t blocks = 0;
    std::int64_t words = 0; ///< of metadata, without the last zero
};

/// The blocks of a bucket's own run that found no place.
struct LeftOver {
    std::int64_t bucket = 0;
    std::int64_t wanted = 0; ///< blocks of its run
    std::int64_t held = 0;   ///< of these, in any bucket
};

struct Deal {
    std::vector<DealtBlock> blocks; ///< by part, row, column
    std::vector<Holding> buckets;
    std::int64_t overfull = 0;  ///< buckets whose own run did not fit
    std::vector<LeftOver> left; ///< most blocks first; empty: all have a place
};

/// `pattern` is in blocks of the layout and has its block rows and columns.
[[nodiscard]] Deal deal(const Layout& layout, const workload::SparsePattern& pattern);

} // namespace tessera::dynamic
