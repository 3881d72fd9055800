// SPDX-License-Identifier: MIT
// y[i, j] = exp(z[i, j] - max) / sum over j of exp(z[i, j] - max), for z = scale x + mask, over the rows of a
// matrix.
//
// Each row is one tile's. The rows of a tile are dealt to its workers (kernels/codelets/softmax.S). If
// the last round of rows leaves workers idle, all workers share its rows where that takes fewer cycles
// (kernels/codelets/softmax_split.S). What is between x and y is FP32.
// x: m x n, f16 or f32, any m and n of at least 1. It is read in place if each of its rows is whole
// on one tile of the site, from a multiple of 4 (f16) or 8 bytes on. Otherwise it is copied into
// rows, which are dealt evenly. y has x's type and is beside x's rows, each row padded to 8 bytes.
//
// With a scale, a mask or causal rows the codelets are those of kernels/codelets/softmax_scaled.S, and what
// an infinity below 0 or the row's number hides is 0 in y. If nothing else is in a row, all of it is 0.
// mask: the columns, or some of the first sizes of x and the columns; each of its rows is brought to the
// tiles with rows of x that it is for. causal: square matrices; the cycles of a row depend on its number.
//
// Timing: kernels/codelets/softmax_cost.h.
// Not modelled: rows with more pairs of elements than a repeat
// counts.
#pragma once

#include "base/units.h"
#include "kernels/family/family.h"
#include "models/spec/machine_spec.h"

#include <cstdint>

namespace tessera::softmax {

[[nodiscard]] const family::Family& family();

/// Cycles of a tile's stub that has so many rows, all in one block, without scale, mask and causal.
[[nodiscard]] Cycles cycles(const spec::MachineSpec& machine, ElementType type, std::int64_t rows,
                            std::int64_t columns);

} // namespace tessera::softmax
