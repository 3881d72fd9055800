// SPDX-License-Identifier: MIT
// dx[i, j] = y[i, j] (dy[i, j] - sum over k of y[i, k] dy[i, k]), over the rows of a matrix: the gradient
// of a softmax with the output y.
//
// Each row is one tile's. The workers of a tile share rows, where that takes fewer cycles
// (kernels/codelets/softmax_gradient.S). Sums and products are FP32.
// y, dy: m x n, f16 or f32, any m and n of at least 1. y is read in place if each of its rows is whole
// on one tile of the site, from a multiple of 8 bytes on; else dy, if that is so. What does not stand
// in the same rows is copied beside them. dx has their type and is beside them, each row padded to 8 bytes.
//
// Timing: kernels/codelets/softmax_gradient_cost.h.
// Not modelled: rows with more units of 8 bytes than a repeat counts.
#pragma once

#include "base/units.h"
#include "kernels/family/family.h"
#include "models/spec/machine_spec.h"

#include <cstdint>

namespace tessera::softmax {

[[nodiscard]] const family::Family& gradient();

/// Cycles of a tile's stub that has so many rows, all in one block.
[[nodiscard]] Cycles gradient_cycles(const spec::MachineSpec& machine, ElementType type,
                                     std::int64_t rows, std::int64_t columns);

} // namespace tessera::softmax
