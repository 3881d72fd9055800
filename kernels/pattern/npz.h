// SPDX-License-Identifier: MIT
// Writes what kernels/workload/npz.h reads.
#pragma once

#include "kernels/workload/coordinate_matrix.h"
#include "kernels/workload/dense_entries.h"
#include "kernels/workload/npz.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::pattern {

/// The bytes of a file, the same for equal matrices. `block` is the side of the blocks of Bsr.
/// @throws ConfigError where NumPy has no such type, or where blocks do not divide the matrix
[[nodiscard]] std::string npz_bytes(const workload::CoordinateMatrix& matrix,
                                    workload::Storage storage, std::int64_t block,
                                    const workload::MatrixSource& to);

/// NumPy's name of the matrix's type. @throws ConfigError where it has none
[[nodiscard]] std::string_view npy_type_of(const workload::CoordinateMatrix& matrix,
                                           const workload::MatrixSource& to);

} // namespace tessera::pattern
