// SPDX-License-Identifier: MIT
// Matrices as text: what kernels/workload/matrix_market.h and smtx.h read.
#pragma once

#include "kernels/workload/coordinate_matrix.h"
#include "kernels/workload/dense_entries.h"

#include <string>

namespace tessera::pattern {

/// Coordinates, general; field pattern, integer or real. Numbers are as short as they can be and
/// read back exactly. @throws ConfigError at a whole number that may have been rounded
[[nodiscard]] std::string matrix_market_text(const workload::CoordinateMatrix& matrix,
                                             const workload::MatrixSource& to);

/// The places of the entries; the format has no values.
[[nodiscard]] std::string smtx_text(const workload::CoordinateMatrix& matrix);

} // namespace tessera::pattern
