// SPDX-License-Identifier: MIT
// Host-side operands: row-major FP16 and FP32 matrices and block-sparse ones in compressed block rows.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::workload {

struct MatrixShape {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    /// Sizes before the last two: so many matrices of equal size, one below the other, have the rows.
    std::vector<std::int64_t> leading = {};

    bool operator==(const MatrixShape&) const = default;
};

/// So many matrices have these sizes before their own.
[[nodiscard]] inline std::int64_t matrices_in(const std::vector<std::int64_t>& leading) {
    std::int64_t matrices = 1;
    for (const std::int64_t size : leading) {
        matrices *= size;
    }
    return matrices;
}

/// The last two sizes, or one of them, as matrices; the others as their number.
[[nodiscard]] inline MatrixShape matrices_of(std::vector<std::int64_t> shape) {
    MatrixShape made{1, 1, {}};
    for (std::int64_t* const size : {&made.columns, &made.rows}) {
        if (!shape.empty()) {
            *size = shape.back();
            shape.pop_back();
        }
    }
    made.rows *= matrices_in(shape);
    made.leading = std::move(shape);
    return made;
}

/// rows x columns, row-major.
template <class Element> struct Dense {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<Element> values;
};
using DenseF16 = Dense<std::uint16_t>; ///< binary16 bit patterns
using DenseF32 = Dense<float>;

/// Matrix `number` of several of so many rows, one below the other.
template <class Element>
[[nodiscard]] Dense<Element> matrix_of(const Dense<Element>& all, std::int64_t rows,
                                       std::int64_t number) {
    const auto first = all.values.begin() + number * rows * all.columns;
    return {rows, all.columns, {first, first + rows * all.columns}};
}

/// Where the non-zeros of a matrix stand: BSR with square blocks (block = 1 is CSR). Blocks of a row
/// are in ascending column order; no duplicates.
struct SparsePattern {
    std::int64_t rows = 0;    ///< elements
    std::int64_t columns = 0; ///< elements
    std::int64_t block = 1;
    std::vector<std::int64_t> row_start;    ///< ceil(rows/block)+1 entries, in blocks
    std::vector<std::int32_t> block_column; ///< of each block, in blocks

    [[nodiscard]] std::int64_t block_rows() const { return (rows + block - 1) / block; }
    [[nodiscard]] std::int64_t block_columns() const { return (columns + block - 1) / block; }
    [[nodiscard]] std::int64_t blocks() const {
        return static_cast<std::int64_t>(block_column.size());
    }
    [[nodiscard]] std::int64_t stored_elements() const { return blocks() * block * block; }
    /// Blocks of a block row are those from here to the first of the next row.
    [[nodiscard]] std::int64_t first_block(std::int64_t row) const {
        return row_start[static_cast<std::size_t>(row)];
    }
    [[nodiscard]] std::int64_t blocks_of_row(std::int64_t row) const {
        return first_block(row + 1) - first_block(row);
    }
    /// In blocks.
    [[nodiscard]] std::int32_t column_of(std::int64_t number) const {
        return block_column[static_cast<std::size_t>(number)];
    }
};

/// What is known of a sparse matrix when planning, where its pattern comes when the program runs:
/// patterns with at most so many blocks.
struct Capacity {
    std::int64_t block = 1;
    double density = 1;           ///< of blocks
    double excess = 0.3;          ///< room of a tile beyond its even share
    std::int64_t n = 0;           ///< columns of the dense matrices that it is multiplied with
    bool input_gradient = false;  ///< its transpose is multiplied with some, too
    bool values_gradient = false; ///< the gradient of its values is made, too

    bool operator==(const Capacity&) const = default;
};

struct TransposedPattern {
    SparsePattern pattern;
    std::vector<std::int64_t> from; ///< number of each of its blocks in the matrix as it was
};
[[nodiscard]] TransposedPattern transposed(const SparsePattern& matrix);

/// Dimensions that are no multiple of the block are padded with zeros inside the last blocks.
template <class Element> struct Sparse : SparsePattern {
    std::vector<Element> values; ///< block*block values a block, row-major inside the block
};
using SparseF16 = Sparse<std::uint16_t>;
using SparseF32 = Sparse<float>;

} // namespace tessera::workload
