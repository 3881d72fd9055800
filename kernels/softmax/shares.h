// SPDX-License-Identifier: MIT
// Rows that the workers of a tile share: each row is cut into shares of neighbouring units of 8 bytes, and
// each share is one worker's. Worker w has share w % shares of the rows w / shares, + workers / shares, ...
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/rows.h"

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

namespace tessera::softmax {

/// The rows of a block on a tile, and how they are cut.
struct Cut {
    std::int64_t rows = 0;
    std::int64_t units = 0;  ///< of a row, one that is not whole counted
    bool has_tail = false;   ///< the last one is not whole
    std::int64_t shares = 1; ///< of a row; divides the workers
};

/// What a worker has of each of its rows.
struct Share {
    std::int64_t number = 0;
    std::int64_t first_row = 0;
    std::int64_t rows = 0;
    std::int64_t first = 0; ///< unit
    std::int64_t units = 0;
    bool has_tail = false;

    [[nodiscard]] std::int64_t whole_units() const { return units - (has_tail ? 1 : 0); }
};
[[nodiscard]] Share share_of(const Cut& cut, std::int64_t workers, std::int64_t worker);

/// The number of shares that takes the fewest cycles.
[[nodiscard]] Cut best_cut(std::int64_t workers, std::int64_t rows, Bytes row_bytes,
                           const std::function<Cycles(const Cut&)>& cycles_of);

void add_words(std::vector<graph::Field>& state, std::initializer_list<std::int64_t> words);

/// Where a worker's shares of the rows stand: bytes from row 0 to its first unit, and from the end of
/// `units` units to their begin in its next row.
void add_side(std::vector<graph::Field>& state, const graph::RowBlock& side, const Share& share,
              const Cut& cut, std::int64_t workers, std::int64_t units);

/// The bits of a row's last unit that are elements, by words.
[[nodiscard]] std::array<std::uint32_t, 2> tail_mask(Bytes row_bytes);

/// Adds the reads of all rows but the first of each side.
void add_other_rows(std::vector<graph::Field>& state, std::initializer_list<graph::RowBlock> sides,
                    Bytes row_bytes);

/// Issues of each worker of the vertex that add_sums() adds.
[[nodiscard]] std::vector<std::int64_t> sums_issues(std::int64_t workers, const Cut& cut);

/// Adds a vertex that leaves -(sum of y dy) of each share in `partials`, [row][share] of f32.
void add_sums(graph::Graph& graph, graph::ComputeSetId set, std::int64_t workers, ElementType type,
              Bytes row_bytes, const Cut& cut, const graph::RowBlock& y, const graph::RowBlock& dy,
              graph::Place partials);

} // namespace tessera::softmax
