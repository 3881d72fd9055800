// SPDX-License-Identifier: MIT
// A reader of Matrix Market files (format: R. Boisvert, R. Pozo, K. Remington, "The Matrix Market
// Exchange Formats: Initial Design", NISTIR 5935, 1996).
//
//   %%MatrixMarket matrix coordinate pattern symmetric     banner: object, format, field, symmetry
//   % any number of comments
//   3 3 2                                                  rows, columns, entries in the file
//   2 1                                                    row, column (from 1) and, unless
//   3 3                                                    pattern, a value
//
// Read: coordinates, and arrays, which have rows and columns in their size line and then values
// column by column, of which zeros are no entries; fields real, integer, pattern; symmetries
// general, symmetric, skew-symmetric. Symmetric files hold the lower triangle only and are mirrored
// here. Exponents may be Fortran's (1.5D+3). Comments may stand behind blanks and behind what is
// read; blank lines anywhere after the banner. Not read: complex values, hermitian matrices.
#pragma once

#include "kernels/workload/coordinate_matrix.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::workload {

/// Reads a file's text; `file_name` is for messages only. Throws ConfigError with line and column
/// at the first mistake. Memory used is proportional to the text, whatever its size line says.
/// `duplicates` says what entries of one place are.
[[nodiscard]] CoordinateMatrix read_matrix_market(std::string_view text,
                                                  const std::string& file_name,
                                                  Duplicates duplicates = Duplicates::Error);

/// What the first lines say, up to the size line; entries are not read. Throws as the others do.
[[nodiscard]] MatrixShape read_matrix_market_size(const std::string& path);

/// The same from a path; gzip's files are unpacked. Throws IoError if the file cannot be read.
[[nodiscard]] CoordinateMatrix read_matrix_market_file(const std::string& path,
                                                       Duplicates duplicates = Duplicates::Error);

} // namespace tessera::workload
