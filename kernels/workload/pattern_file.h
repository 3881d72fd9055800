// SPDX-License-Identifier: MIT
// Sparse matrices in files, by the ending of their names: .smtx (smtx.h), .npy (npy_entries.h),
// else Matrix Market (matrix_market.h); each may be packed, with .gz behind its ending.
#pragma once

#include "kernels/workload/coordinate_matrix.h"

#include <string>

namespace tessera::workload {

/// Throws IoError if the file cannot be read, ConfigError if it is malformed.
[[nodiscard]] CoordinateMatrix read_pattern_file(const std::string& path,
                                                 Duplicates duplicates = Duplicates::Error);

/// What the start of the file says; entries are not read. Throws as the other does.
[[nodiscard]] MatrixShape read_pattern_file_size(const std::string& path);

} // namespace tessera::workload
