// SPDX-License-Identifier: MIT
// The pattern cut into bands and parts: which blocks, which rows of B and which rows of C each part
// has.
#pragma once

#include "base/ceil_div.h"
#include "base/units.h"
#include "kernels/codelets/product_types.h"
#include "kernels/family/family.h"
#include "kernels/plan/parts.h"
#include "kernels/sparse/spmm_block_kind.h"
#include "kernels/workload/operands.h"
#include "kernels/workload/workload.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::sparse {

/// What is made of the matrix. Passes that are planned together have the same blocks on a tile.
using Pass = family::SparseUse::Kind;

struct Split {
    std::int64_t parts_m = 1;
    std::int64_t parts_k = 1;
    std::int64_t parts_n = 1;
    /// Rows of a band that have more than this part of a part's mean work are cut, and their pieces dealt to the
    /// band's parts: a row with most of the non-zeros is not one tile's, nor one worker's. 0: none is cut.
    std::int64_t cut = 0;
    /// The slices of B come one pass after another, parts_n at a time: each tile has one.
    std::int64_t passes = 1;

    [[nodiscard]] std::int64_t parts() const { return parts_m * parts_k; }
    [[nodiscard]] std::int64_t tiles() const { return parts() * parts_n; }
    [[nodiscard]] std::int64_t slices() const { return parts_n * passes; }
    /// The same parts as those of the matrix that a pass has on its left.
    [[nodiscard]] Split of(Pass pass) const {
        return pass == Pass::Transposed ? Split{parts_k, parts_m, parts_n, 0, passes} : *this;
    }
};

/// Sizes of one product. A *line* is as many rows of B or C of one slice as a block has.
struct Problem {
    /// `a`: the matrix on the left, of Pass::Transposed the transpose.
    Problem(const workload::SpmmWorkload& workload, const workload::SparsePattern& a,
            Pass pass = Pass::Product);

    const workload::SparsePattern* matrix = nullptr;
    Pass pass = Pass::Product;
    std::int64_t n = 0;
    std::int64_t block = 1;
    codelets::ProductTypes types{ElementType::F16, ElementType::F16};
    const BlockKind* kind = nullptr;
    bool by_rows = false;                 ///< lines are [row][column] instead of [column][block]
    std::vector<std::int64_t> row_blocks; ///< of the rows that have blocks, most first

    /// Columns of B come in this grain; those of sampled products in rows of 16 bytes.
    [[nodiscard]] std::int64_t column_grain() const {
        return by_rows ? 16 / bytes_of(types.data) : kind->column_grain;
    }
    [[nodiscard]] std::int64_t column_groups() const {
        return (n + column_grain() - 1) / column_grain();
    }
    /// Columns [begin, end) of slice `in` of all passes; the last may reach beyond n.
    [[nodiscard]] Range slice(const Split& split, std::int64_t in) const {
        return {in * column_groups() / split.slices() * column_grain(),
                (in + 1) * column_groups() / split.slices() * column_grain()};
    }
    [[nodiscard]] std::int64_t widest_slice(const Split& split) const {
        return ceil_div(column_groups(), split.slices()) * column_grain();
    }
    /// Of B and of C.
    [[nodiscard]] Bytes line_bytes_of(std::int64_t columns) const {
        return bytes_of(types.data) * block * columns;
    }
    [[nodiscard]] Bytes partial_line_bytes(std::int64_t columns) const {
        return bytes_of(types.partials) * block * columns;
    }
    [[nodiscard]] Bytes value_bytes() const { return bytes_of(types.data) * block * block; }
    /// Work of one row with so many blocks, in worker issues for one column group or weight load.
    [[nodiscard]] std::int64_t row_work(std::int64_t blocks) const {
        return blocks == 0 ? 0 : kind->block_work * blocks + kind->row_work;
    }
};

/// What one part of the pattern is: the same for all slices of B.
struct Part {
    std::vector<std::int32_t> b_lines;    ///< lines of B in the tile, ascending
    std::vector<std::int32_t> rows;       ///< block rows with blocks, ascending
    std::vector<std::int32_t> row_blocks; ///< blocks of each of them
    std::vector<std::int32_t> local_b;    ///< of each block: index into b_lines
    std::vector<std::int64_t> blocks;     ///< of each block: index into the matrix

    [[nodiscard]] std::int64_t local_row(std::int64_t row) const;
    [[nodiscard]] std::int64_t local_line(std::int64_t line) const;
};

class Partition {
public:
    Partition(const Problem& problem, const Split& split);
    /// The parts of `cut` for a pass over the same matrix: each has the same blocks. Block `i` of the
    /// transpose is block `from[i]` of the matrix.
    Partition(const Problem& problem, const Partition& cut, std::span<const std::int64_t> from);

    [[nodiscard]] const Problem& problem() const { return problem_; }
    [[nodiscard]] const Split& split() const { return split_; }
    /// im * parts_k + ik -> the part.
    [[nodiscard]] const Part& part(std::int64_t number) const {
        return parts_.at(static_cast<std::size_t>(number));
    }
    [[nodiscard]] TileId tile(std::int64_t part, std::int64_t in) const {
        return static_cast<TileId>(part * split_.parts_n + in % split_.parts_n);
    }
    /// Parts that have line `line` of B, ascending; empty for lines that nobody needs.
    [[nodiscard]] const std::vector<std::int32_t>& users_of_line(std::int64_t line) const {
        return users_of_line_[static_cast<std::size_t>(line)];
    }
    /// Parts that contribute to block row `row`.
    [[nodiscard]] const std::vector<std::int32_t>& contributors(std::int64_t row) const {
        return contributors_.at(static_cast<std::size_t>(row));
    }
    /// Behind `row` the first one that has other contributors.
    [[nodiscard]] std::int64_t end_of_run(std::int64_t row) const;
    [[nodiscard]] std::int64_t most_b_lines() const { return most(&Part::b_lines); }
    [[nodiscard]] std::int64_t most_rows() const { return most(&Part::rows); }
    [[nodiscard]] std::int64_t most_blocks() const { return most(&Part::blocks); }

private:
    template <class Of> [[nodiscard]] std::int64_t most(std::vector<Of> Part::*list) const {
        std::size_t found = 0;
        for (const Part& part : parts_) {
            found = std::max(found, (part.*list).size());
        }
        return static_cast<std::int64_t>(found);
    }
    void cut_bands();
    void cut_parts();
    void take_transposed(const Partition& cut, std::span<const std::int64_t> from);
    void add_row(std::int64_t part, std::int64_t row, std::int64_t first, std::int64_t last);
    void collect_lines();
    void collect_rows();
    [[nodiscard]] std::int32_t band_of_block(std::int64_t block) const;

    Problem problem_;
    Split split_;
    std::vector<std::int32_t> band_of_column_;
    std::vector<Part> parts_;
    std::vector<std::vector<std::int32_t>> users_of_line_;
    std::vector<std::vector<std::int32_t>> contributors_;
};

} // namespace tessera::sparse
