// SPDX-License-Identifier: MIT
// Matrices as the bytes of all their elements, row-major, and of those of their entries.
#pragma once

#include "kernels/workload/coordinate_matrix.h"
#include "kernels/workload/dense_entries.h"

#include <string>

namespace tessera::pattern {

/// The bytes of all elements; those without an entry are 0.
/// @throws ConfigError where they are too many, or where the type does not have an entry's value
[[nodiscard]] std::string dense_bytes(const workload::CoordinateMatrix& matrix,
                                      const workload::MatrixSource& to);

/// The bytes of the entries' values, in their order. @throws ConfigError as above
[[nodiscard]] std::string value_bytes(const workload::CoordinateMatrix& matrix,
                                      const workload::MatrixSource& to);

/// The bytes of a .safetensors file with one tensor, which has all elements.
/// @throws ConfigError as dense_bytes()
[[nodiscard]] std::string safetensors_bytes(const workload::CoordinateMatrix& matrix,
                                            const workload::MatrixSource& to);

} // namespace tessera::pattern
