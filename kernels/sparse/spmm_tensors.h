// SPDX-License-Identifier: MIT
// Where the host writes values and X and reads C.
#pragma once

#include "kernels/sparse/spmm_layout.h"
#include "models/program/program.h"

namespace tessera::spmm {

/// Shapes without pieces: "a" {blocks, block, block}, "b" {k, n}, "c" {m, n}.
[[nodiscard]] program::Tensor values_tensor(const Layout& layout);
[[nodiscard]] program::Tensor dense_tensor(const Layout& layout);
[[nodiscard]] program::Tensor result_tensor(const Layout& layout);

} // namespace tessera::spmm
