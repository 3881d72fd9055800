// SPDX-License-Identifier: MIT
// The elements of a dense .npy matrix (npy.h) that are not zero.
//
// Read: what npy.h reads, also packed by gzip. Bools have no values of their own. The file is read
// piece by piece: memory grows with the elements that are not zero.
#pragma once

#include "kernels/workload/coordinate_matrix.h"

#include <string>

namespace tessera::workload {

/// Throws IoError if the file cannot be read; ConfigError if it is no such file, or if an element is
/// infinite or NaN. Entries have no line.
[[nodiscard]] CoordinateMatrix read_npy_entries_file(const std::string& path);

/// What the header says; elements are not read. Throws as the other does.
[[nodiscard]] MatrixShape read_npy_size(const std::string& path);

} // namespace tessera::workload
