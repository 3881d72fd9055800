// SPDX-License-Identifier: MIT
// Host-side operands: row-major FP16 and FP32 matrices and a block-sparse FP16 matrix in compressed
// block rows.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera::workload {

struct MatrixShape {
    std::int64_t rows = 0;
    std::int64_t columns = 0;

    bool operator==(const MatrixShape&) const = default;
};

/// rows x columns, row-major.
template <class Element> struct Dense {
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    std::vector<Element> values;
};
using DenseF16 = Dense<std::uint16_t>; ///< binary16 bit patterns
using DenseF32 = Dense<float>;

/// BSR with square blocks (block = 1 is CSR). Dimensions that are no multiple of the block are
/// padded with zeros inside the last blocks. Blocks of a row are in ascending column order; no
/// duplicates.
struct SparseF16 {
    std::int64_t rows = 0;    ///< elements
    std::int64_t columns = 0; ///< elements
    std::int64_t block = 1;
    std::vector<std::int64_t> row_start;    ///< ceil(rows/block)+1 entries, in blocks
    std::vector<std::int32_t> block_column; ///< of each block, in blocks
    std::vector<std::uint16_t> values; ///< block*block values a block, row-major inside the block

    [[nodiscard]] std::int64_t block_rows() const { return (rows + block - 1) / block; }
    [[nodiscard]] std::int64_t block_columns() const { return (columns + block - 1) / block; }
    [[nodiscard]] std::int64_t blocks() const {
        return static_cast<std::int64_t>(block_column.size());
    }
};

} // namespace tessera::workload
