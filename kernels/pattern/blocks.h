// SPDX-License-Identifier: MIT
// Matrices made from others: transposed, with whole blocks, or as blocks and their values.
#pragma once

#include "kernels/workload/coordinate_matrix.h"
#include "kernels/workload/operands.h"

#include <cstdint>
#include <vector>

namespace tessera::pattern {

/// Columns as rows.
[[nodiscard]] workload::CoordinateMatrix transposed(workload::CoordinateMatrix matrix);

/// Keeps every block x block square that has an entry as a whole: its other elements become entries
/// of value 0. Squares at the lower and right edge end with the matrix.
/// @throws ConfigError where that makes more than workload::kMostEntries entries
[[nodiscard]] workload::CoordinateMatrix whole_blocks(const workload::CoordinateMatrix& matrix,
                                                      std::int64_t block);

/// The blocks that have an entry, and the values of all their elements: 0 without an entry, and
/// beyond the edges of the matrix. @throws as whole_blocks()
[[nodiscard]] workload::Sparse<double> blocked(const workload::CoordinateMatrix& matrix,
                                               std::int64_t block);

/// The other way: all elements of blocks are entries.
[[nodiscard]] workload::CoordinateMatrix elements_of(const workload::SparsePattern& pattern,
                                                     const std::vector<double>& values,
                                                     workload::ValueType type);

/// Entries whose value is 0.
[[nodiscard]] std::int64_t zeros(const workload::CoordinateMatrix& matrix);

} // namespace tessera::pattern
