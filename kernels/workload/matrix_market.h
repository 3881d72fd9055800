// SPDX-License-Identifier: MIT
// A strict reader of Matrix Market coordinate files (format: R. Boisvert, R. Pozo, K. Remington,
// "The Matrix Market Exchange Formats: Initial Design", NISTIR 5935, 1996).
//
//   %%MatrixMarket matrix coordinate pattern symmetric     banner: object, format, field, symmetry
//   % any number of comments
//   3 3 2                                                  rows, columns, entries in the file
//   2 1                                                    row, column (from 1) and, unless
//   3 3                                                    pattern, a value
//
// Read: fields real, integer, pattern; symmetries general, symmetric. Blank lines, comment lines
// and CRLF line ends may stand anywhere after the banner. Symmetric files hold the lower triangle
// only and are mirrored here. Not read: array files, complex values, skew-symmetric and hermitian
// matrices, repeated entries.
#pragma once

#include "kernels/workload/coordinate_matrix.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::workload {

/// Reads a file's text; `file_name` is for messages only. Throws ConfigError with line and column
/// at the first mistake. Memory used is proportional to the text, whatever its size line says.
[[nodiscard]] CoordinateMatrix read_matrix_market(std::string_view text,
                                                  const std::string& file_name);

/// What the first lines say, up to the size line; entries are not read. Throws as the others do.
[[nodiscard]] MatrixShape read_matrix_market_size(const std::string& path);

/// The same from a path. Throws IoError if the file cannot be read.
[[nodiscard]] CoordinateMatrix read_matrix_market_file(const std::string& path);

} // namespace tessera::workload
