// SPDX-License-Identifier: MIT
// Sparse matrices in files, by the ending of their names: .smtx (smtx.h), .npy (npy_entries.h),
// else Matrix Market (matrix_market.h).
#pragma once

#include "kernels/workload/coordinate_matrix.h"

#include <string>

namespace tessera::workload {

/// Throws IoError if the file cannot be read, ConfigError if it is malformed.
[[nodiscard]] CoordinateMatrix read_pattern_file(const std::string& path);

/// What the start of the file says; entries are not read. Throws as the other does.
[[nodiscard]] MatrixShape read_pattern_file_size(const std::string& path);

} // namespace tessera::workload
