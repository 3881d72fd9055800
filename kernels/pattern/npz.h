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
// than indptr says, as SciPy allows. All elements of a block are entries. Not read: entries of one
// place, format dia, and arrays of Python objects (pickles).
#pragma once

#include "kernels/pattern/dense.h"
#include "kernels/workload/coordinate_matrix.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace tessera::pattern {

enum class Storage { Coo, Csr, Csc, Bsr };

/// The name of a storage as SciPy has it: "csr".
[[nodiscard]] std::string_view name_of(Storage storage);

/// Reads a file's bytes; `file_name` is for messages only. @throws ConfigError
[[nodiscard]] workload::CoordinateMatrix read_npz(std::string_view bytes,
                                                  const std::string& file_name);
/// @throws IoError if the file cannot be read
[[nodiscard]] workload::CoordinateMatrix read_npz_file(const std::string& path);

/// The bytes of a file, the same for equal matrices. `block` is the side of the blocks of Bsr.
/// @throws ConfigError where NumPy has no such type, or where blocks do not divide the matrix
[[nodiscard]] std::string npz_bytes(const workload::CoordinateMatrix& matrix, Storage storage,
                                    std::int64_t block, const Source& to);

/// NumPy's name of the matrix's type. @throws ConfigError where it has none
[[nodiscard]] std::string_view npy_type_of(const workload::CoordinateMatrix& matrix,
                                           const Source& to);

} // namespace tessera::pattern
