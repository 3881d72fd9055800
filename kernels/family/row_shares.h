// SPDX-License-Identifier: MIT
// Rows that the workers of a tile share: each row is cut into shares of neighbouring units of 8 bytes, and
// each share is one worker's, so that a tile with few rows keeps all of its workers busy.
//
//     workers 0 .. 5, 2 shares      row 0 [ 0 0 0 | 1 1 1 ]     row 3 [ 0 0 0 | 1 1 1 ]
//                                   row 1 [ 2 2 2 | 3 3 3 ]     row 4 [ 2 2 2 | 3 3 3 ]
//                                   row 2 [ 4 4 4 | 5 5 5 ]     ...
//
// Codelets find their share by kernels/codelets/row_shares.inc.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/rows.h"

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

namespace tessera::family {

/// The rows of a block on a tile, and how they are cut.
struct RowCut {
    std::int64_t rows = 0;
    std::int64_t units = 0;  ///< of a row, one that is not whole counted
    Bytes tail_bytes = 0;    ///< of the last one if it is not whole, else 0
    std::int64_t shares = 1; ///< of a row; divides the workers

    /// Rows that all workers have at a time.
    [[nodiscard]] std::int64_t together(std::int64_t workers) const { return workers / shares; }
};

/// The part of each of its rows that a worker has.
struct RowShare {
    std::int64_t number = 0;
    std::int64_t first_row = 0;
    std::int64_t rows = 0;
    std::int64_t first = 0; ///< unit
    std::int64_t units = 0; ///< one that is not whole counted
    Bytes tail_bytes = 0;   ///< of the last one if it is not whole, else 0

    [[nodiscard]] bool has_tail() const { return tail_bytes > 0; }
    [[nodiscard]] std::int64_t whole_units() const { return units - (has_tail() ? 1 : 0); }
};

[[nodiscard]] RowShare share_of(const RowCut& cut, std::int64_t workers, std::int64_t worker);

/// The number of shares that takes the fewest cycles.
[[nodiscard]] RowCut best_cut(std::int64_t workers, std::int64_t rows, Bytes row_bytes,
                              const std::function<Cycles(const RowCut&)>& cycles_of);

void add_words(std::vector<graph::Field>& state, std::initializer_list<std::int64_t> words);

/// Where a worker's shares of the rows stand: bytes from row 0 to its first unit, and from where its
/// pointer stands behind a share, `moved` bytes on, to its share of its next row.
void add_side(std::vector<graph::Field>& state, const graph::RowBlock& side, const RowShare& share,
              const RowCut& cut, std::int64_t workers, Bytes moved);

/// Adds the reads of all rows but the first of each side.
void add_other_rows(std::vector<graph::Field>& state, std::initializer_list<graph::RowBlock> sides,
                    Bytes row_bytes);

} // namespace tessera::family
