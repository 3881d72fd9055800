// SPDX-License-Identifier: MIT
// Sparse matrices as SciPy saves them (scipy.sparse.save_npz): a zip archive of .npy arrays
// (kernels/workload/npy.h).
//
//   format.npy    a text of bytes: coo, csr, csc or bsr
//   shape.npy     rows, columns
//   data.npy      values of the entries; bsr: blocks x block rows x block columns
//   coo           row.npy, col.npy: of each entry
//   csr, bsr      indices.npy: columns (of blocks), indptr.npy: where each row (of blocks) begins
//   csc           indices.npy: rows, indptr.npy: where each column begins
//
// Read: whole numbers of any width as indices, in any order; values as npy.h has them. Values of 0
// are entries; a bool that is false is none, and so a bool has no values. Index arrays may be longer
// than indptr says, as SciPy allows. All elements of a block are entries. Not read: format
// dia, and arrays of Python objects (pickles).
#pragma once

#include "kernels/workload/coordinate_matrix.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::workload {

enum class Storage { Coo, Csr, Csc, Bsr };

/// The name of a storage as SciPy has it: "csr".
[[nodiscard]] std::string_view name_of(Storage storage);

/// Reads a file's bytes; `file_name` is for messages only. `duplicates` says what entries of one place
/// are. @throws ConfigError
[[nodiscard]] CoordinateMatrix read_npz(std::string_view bytes, const std::string& file_name,
                                        Duplicates duplicates = Duplicates::Error);
/// @throws IoError if the file cannot be read; so does the other
[[nodiscard]] CoordinateMatrix read_npz_file(const std::string& path,
                                             Duplicates duplicates = Duplicates::Error);
/// What the archive says; the entries are not looked at.
[[nodiscard]] MatrixShape read_npz_size(const std::string& path);

} // namespace tessera::workload
