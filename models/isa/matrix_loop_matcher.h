// SPDX-License-Identifier: MIT
// Finds the repeat bodies that exec/matrix_loop.h can do by rows and exec/sparse_loop.h by passes.
#pragma once

#include "models/isa/decoded_program.h"
#include "models/isa/instruction.h"

#include <array>

namespace tessera::isa {

/// True if the eight operations, main and aux of four bundles, are such a body; `loop` then
/// describes it.
[[nodiscard]] bool match_matrix_loop(const std::array<Operation, 8>& halves, MatrixLoop& loop);

/// The same of three bundles that exec/sparse_loop.h can do.
[[nodiscard]] bool match_sparse_loop(const std::array<Operation, 6>& halves, SparseLoop& loop);

} // namespace tessera::isa
