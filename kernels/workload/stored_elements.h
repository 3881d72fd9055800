// SPDX-License-Identifier: MIT
// The walk over the elements of a block-sparse matrix.
#pragma once

#include "kernels/workload/operands.h"

#include <cstddef>
#include <cstdint>

namespace tessera::workload {

/// Calls visit(index into values, row, column, ordinal of the element in its row) for every stored
/// element inside the matrix, block row by block row.
template <typename Visit> void for_each_stored(const SparsePattern& matrix, Visit visit) {
    const std::int64_t block = matrix.block;
    for (std::int64_t block_row = 0; block_row < matrix.block_rows(); ++block_row) {
        const auto first = matrix.row_start[static_cast<std::size_t>(block_row)];
        const auto end = matrix.row_start[static_cast<std::size_t>(block_row) + 1];
        for (std::int64_t at = first; at < end; ++at) {
            const std::int64_t column =
                block * std::int64_t{matrix.block_column[static_cast<std::size_t>(at)]};
            for (std::int64_t i = 0; i < block * block; ++i) {
                const std::int64_t element_row = block_row * block + i / block;
                const std::int64_t element_column = column + i % block;
                if (element_row < matrix.rows && element_column < matrix.columns) {
                    visit(static_cast<std::size_t>(at * block * block + i), element_row,
                          element_column, (at - first) * block + i % block);
                }
            }
        }
    }
}

} // namespace tessera::workload
