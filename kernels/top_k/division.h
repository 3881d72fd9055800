// SPDX-License-Identifier: MIT
// How the elements of rows are spread over tiles, and the networks that select from them: plain data.
//
//     a row in 2 buckets, each on 2 tiles        tile 0   tile 1   tile 2   tile 3
//     level 0: each tile sorts what it has        list     list     list     list
//     level 1: lists of a bucket are merged       list <---+        list <---+
//     level 2: lists of a row are merged          list <------------+
//
// A list is sorted, the largest element first, and has a power of two of elements. A network merges two of them: while a list is shorter than
// what is kept, to one of twice the length; after that, to the larger half. All tiles of a level do the same.
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "kernels/codelets/top_k_cost.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <vector>

namespace tessera::top_k {

/// Values and results of a row are padded to this.
constexpr Bytes kUnitBytes = 8;

/// The selection: the k largest of each row, or the k largest of the `kept` largest of each bucket.
struct Problem {
    ElementType type = ElementType::F16;
    std::int64_t rows = 1;
    std::int64_t columns = 1;
    std::int64_t k = 1;
    std::int64_t buckets = 1; ///< 1: all of a row
    std::int64_t kept = 1;    ///< of a bucket: a power of two; of the only one, at least k

    [[nodiscard]] codelets::TopKElement element() const;
};

/// Neighbouring elements of a row.
struct Range {
    std::int64_t first = 0;
    std::int64_t count = 0;
};
[[nodiscard]] Range bucket_of(const Problem& problem, std::int64_t bucket);

/// The work of a level: the first of each `tiles` tiles has a list, gets those of the others behind it, and merges all.
struct Level {
    std::int64_t tiles = 1;
    std::int64_t length = 1;   ///< of the lists before
    bool in_second = false;    ///< they are in the second of two buffers, at its start
    std::int64_t elements = 0; ///< of all lists before
    std::int64_t merged = 1;   ///< length of the lists after
    std::vector<codelets::TopKStage> stages;

    /// Elements that the stages write into the other buffer.
    [[nodiscard]] std::int64_t halved() const;
    /// Whether the lists are in the second buffer after.
    [[nodiscard]] bool ends_in_second() const;
};

struct Division {
    std::int64_t rows_of_tile = 1; ///< whole rows; the last tile may have fewer
    std::int64_t tiles_of_row = 1; ///< a power of two; 1 where a tile has several rows
    std::int64_t groups = 1; ///< of a row on a tile: its buckets, a power of two with empty ones
    std::int64_t tiles_of_group = 1;
    std::int64_t slots = 1;    ///< elements of a group on a tile, a power of two
    std::int64_t values = 1;   ///< of the slots that have most values
    std::vector<Level> levels; ///< the first has the elements of each tile, unsorted

    [[nodiscard]] std::int64_t tiles(const Problem& problem) const;
    /// The elements of a row's group that a tile has, of tiles [0, tiles_of_row) of the row.
    [[nodiscard]] Range values_of(const Problem& problem, std::int64_t tile,
                                  std::int64_t group) const;
    [[nodiscard]] Bytes bytes_on_tile(const Problem& problem) const;
    /// By estimate.
    [[nodiscard]] Cycles cycles(const Problem& problem, const spec::MachineSpec& machine) const;
};

/// `tiles_of_row` is a power of two; lists of up to `fan` tiles, a power of two, are merged at a time.
[[nodiscard]] Division divide(const Problem& problem, const spec::MachineSpec& machine,
                              std::int64_t tiles_of_row, std::int64_t fan);

/// The one of the least cycles by estimate among those whose bytes fit; the one of the least bytes where none does.
[[nodiscard]] Division choose(const Problem& problem, const spec::MachineSpec& machine);

/// Compute sets by their vertices: keys of a tile whose groups have the most values, and a level.
[[nodiscard]] Cycles keys_cycles(const Problem& problem, const Division& division,
                                 const spec::MachineSpec& machine);
/// `is_last`: results of `lists` lists follow.
[[nodiscard]] Cycles level_cycles(const Problem& problem, const Level& level, bool is_last,
                                  std::int64_t lists, const spec::MachineSpec& machine);

} // namespace tessera::top_k
