// SPDX-License-Identifier: MIT
// y[i, j] = (x[i, j] - mean[i]) * deviation[i] * scale[j] + offset[j] over the rows of a matrix, with
// the mean of a row and deviation = 1 / sqrt(variance + epsilon).
//
// Each row is one tile's. The workers of a tile share rows, where that takes fewer cycles
// (kernels/codelets/layer_norm.S). The variance is a second pass: that of the differences from the mean.
// Sums, mean and deviation are FP32.
// x: m x n, f16 or f32, any m and n of at least 1. It is read in place if each of its rows is whole on
// one tile of the site, from a multiple of 8 bytes on. Otherwise it is copied into rows, which are dealt
// evenly. scale, offset: n elements of x's type; every tile with rows gets all of them. y has x's type
// and is beside x's rows, each row padded to 8 bytes. mean, deviation: m elements, f32, beside the rows.
//
// A row whose squares together are too large for FP32 has the deviation 0, so y is the offset.
// Timing: kernels/codelets/layer_norm_cost.h.
// Not modelled: rows with more units of 8 bytes than a repeat counts.
#pragma once

#include "base/units.h"
#include "kernels/family/family.h"
#include "models/spec/machine_spec.h"

#include <cstdint>

namespace tessera::layer_norm {

[[nodiscard]] const family::Family& family();

/// Cycles of a tile's stub that has so many rows, all in one block.
[[nodiscard]] Cycles cycles(const spec::MachineSpec& machine, ElementType type, std::int64_t rows,
                            std::int64_t columns);

} // namespace tessera::layer_norm
