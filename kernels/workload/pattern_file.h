// SPDX-License-Identifier: MIT
// Sparse matrices in files, by the ending of their names: .mtx (matrix_market.h), .smtx (smtx.h) and
// .npy (npy_entries.h), each also packed, with .gz behind its ending, .npz (npz.h) and .safetensors
// (safetensors.h), of which a tensor is named. kernels/pattern/matrix_file.h writes them.
#pragma once

#include "kernels/workload/coordinate_matrix.h"
#include "kernels/workload/dense_entries.h"

#include <string>

namespace tessera::workload {

enum class MatrixFormat { MatrixMarket, Smtx, Npy, Npz, Safetensors };

struct MatrixPlace {
    std::string file;
    std::string tensor; ///< of Safetensors, or empty
    MatrixFormat format = MatrixFormat::MatrixMarket;
};

/// A tensor may be named behind a colon: weights.safetensors:encoder.fc1.weight.
/// @throws ConfigError where the name has another ending
[[nodiscard]] MatrixPlace matrix_place(const std::string& name);
/// The same of a workload's pattern, which has the tensor apart.
[[nodiscard]] MatrixPlace matrix_place(const PatternSpec& pattern);

/// Explicit zeros of sparse formats are entries, zeros of dense ones are none.
/// @throws IoError if the file cannot be read; ConfigError if it is malformed
[[nodiscard]] CoordinateMatrix read_pattern_file(const MatrixPlace& place,
                                                 Duplicates duplicates = Duplicates::Error,
                                                 Marks marks = Marks::Refused);

/// What the start of the file says; entries are not read. @throws as the other does
[[nodiscard]] MatrixShape read_pattern_file_size(const MatrixPlace& place);

/// Whether the start of the file is that of one that is read; of .safetensors some tensor may be
/// meant. @throws as the others do
void check_pattern_file(const MatrixPlace& place);

} // namespace tessera::workload
