// SPDX-License-Identifier: MIT
// A strict reader of .smtx files: the masks of the Deep Learning Matrix Collection (T. Gale,
// M. Zaharia, C. Young, E. Elsen, "Sparse GPU Kernels for Deep Learning", SC 2020), compressed
// sparse rows as text.
//
//   3, 4, 5            rows, columns, non-zeros; commas between them
//   0 2 2 5            row offsets: rows + 1 of them, from 0 to the non-zeros
//   1 3 0 2 3          column indices from 0, ascending in each row
//
// Blanks and tabs may stand between numbers, blank lines between lines; CRLF ends are read too. There
// are no values: all entries are 1.
#pragma once

#include "kernels/workload/coordinate_matrix.h"

#include <string>
#include <string_view>

namespace tessera::workload {

/// Reads a file's text; `file_name` is for messages only. Throws ConfigError with line and column
/// at the first mistake. Memory used is proportional to the text, whatever its first line says.
/// An index that is given twice in a row counts once where `duplicates` says Sum.
[[nodiscard]] CoordinateMatrix read_smtx(std::string_view text, const std::string& file_name,
                                         Duplicates duplicates = Duplicates::Error);

/// The same from a path; gzip's files are unpacked. Throws IoError if the file cannot be read.
[[nodiscard]] CoordinateMatrix read_smtx_file(const std::string& path,
                                              Duplicates duplicates = Duplicates::Error);

/// What the first line says; the others are not read. Throws as the others do.
[[nodiscard]] MatrixShape read_smtx_size(const std::string& path);

} // namespace tessera::workload
