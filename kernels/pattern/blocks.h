// SPDX-License-Identifier: MIT
// Matrices made from others: transposed, or with whole blocks.
#pragma once

#include "kernels/workload/coordinate_matrix.h"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace tessera::pattern {

inline constexpr std::int64_t kLargestSize =
    std::numeric_limits<std::int32_t>::max();                      ///< of a side
inline constexpr std::size_t kMostEntries = std::size_t{1} << 27U; ///< of a matrix

/// Columns as rows.
[[nodiscard]] workload::CoordinateMatrix transposed(workload::CoordinateMatrix matrix);

/// Keeps every block x block square that has an entry as a whole: its other elements become entries
/// of value 0. Squares at the lower and right edge end with the matrix.
/// @throws ConfigError where that makes more than kMostEntries entries
[[nodiscard]] workload::CoordinateMatrix whole_blocks(const workload::CoordinateMatrix& matrix,
                                                      std::int64_t block);

/// Entries whose value is 0.
[[nodiscard]] std::int64_t zeros(const workload::CoordinateMatrix& matrix);

} // namespace tessera::pattern
