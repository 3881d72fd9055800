// SPDX-License-Identifier: MIT
// Writes matrices as kernels/workload/pattern_file.h reads them.
#pragma once

#include "kernels/workload/coordinate_matrix.h"
#include "kernels/workload/npz.h"
#include "kernels/workload/pattern_file.h"

#include <cstdint>
#include <string>

namespace tessera::pattern {

/// How an .npz file stores the entries.
struct NpzForm {
    workload::Storage storage = workload::Storage::Csr;
    std::int64_t block = 1; ///< of Bsr
};

/// The bytes of a file, before gzip. @throws ConfigError where the format lacks the type or a value
[[nodiscard]] std::string matrix_bytes(const workload::CoordinateMatrix& matrix,
                                       const workload::MatrixPlace& to, NpzForm form);

/// Whether the format has all elements, so that entries of value 0 are not told from others.
[[nodiscard]] constexpr bool is_dense(workload::MatrixFormat format) {
    return format == workload::MatrixFormat::Npy || format == workload::MatrixFormat::Safetensors;
}

} // namespace tessera::pattern
