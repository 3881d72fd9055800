// SPDX-License-Identifier: MIT
// y[i] = sum, or largest, of x[i, j] over j: the rows of a matrix become one element each.
//
// The rows of a tile are dealt to its workers, FP16 rows in pairs
// (kernels/codelets/reduce_rows_f16.S, reduce_rows_f32.S). Sums of FP16 elements are FP32 until
// they are rounded once; beyond 65504 they become 65504. The largest of a row is never a NaN that is
// among other elements.
// x: m x n, f16 or f32, any m and n of at least 1. It is read in place if each of its rows is whole
// on one tile of the site, from a multiple of 8 bytes on. Otherwise it is copied into rows, which are
// dealt evenly. y: m elements of x's type, beside x's rows.
//
// Timing: kernels/codelets/reduce_rows_cost.h.
// Not modelled: rows that take more rounds than a repeat
// counts.
#pragma once

#include "base/units.h"
#include "kernels/codelets/reduce_rows_cost.h"
#include "kernels/family/family.h"
#include "models/spec/machine_spec.h"

#include <cstdint>

namespace tessera::reduce {

[[nodiscard]] const family::Family& family();

/// Cycles of a tile's stub that has so many rows.
[[nodiscard]] Cycles cycles(const spec::MachineSpec& machine, codelets::RowReduction reduction,
                            ElementType type, std::int64_t rows, std::int64_t columns);

} // namespace tessera::reduce
