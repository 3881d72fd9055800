// SPDX-License-Identifier: MIT
// Matrices in files of all formats, by the ending of the name: .mtx, .smtx and .npy, each also with
// .gz behind it, .npz and .safetensors. A tensor of the last is named behind a colon:
// weights.safetensors:encoder.fc1.weight.
#pragma once

#include "kernels/pattern/dense.h"
#include "kernels/pattern/npz.h"
#include "kernels/workload/coordinate_matrix.h"

#include <cstdint>
#include <string>

namespace tessera::pattern {

enum class Format { MatrixMarket, Smtx, Npy, Npz, Safetensors };

struct MatrixPlace {
    std::string file;
    std::string tensor; ///< of Safetensors, or empty
    Format format = Format::MatrixMarket;
};

/// @throws ConfigError where the name has another ending
[[nodiscard]] MatrixPlace matrix_place(const std::string& name);

/// Explicit zeros of sparse formats are entries, zeros of dense ones are none.
/// @throws IoError if the file cannot be read; ConfigError if it is malformed
[[nodiscard]] workload::CoordinateMatrix read_matrix(const MatrixPlace& place,
                                                     Marks marks = Marks::Refused);

/// How an .npz file stores the entries.
struct NpzForm {
    Storage storage = Storage::Csr;
    std::int64_t block = 1; ///< of Bsr
};

/// The bytes of a file, before gzip. @throws ConfigError where the format lacks the type or a value
[[nodiscard]] std::string matrix_bytes(const workload::CoordinateMatrix& matrix,
                                       const MatrixPlace& to, NpzForm form);

/// Whether the format has all elements, so that entries of value 0 are not told from others.
[[nodiscard]] constexpr bool is_dense(Format format) {
    return format == Format::Npy || format == Format::Safetensors;
}

} // namespace tessera::pattern
