// SPDX-License-Identifier: MIT
// The gradient of a layer norm by its input x, from the gradient dy of its output. With
// g = scale * dy and h = (x - mean) * deviation, over each row:
//
//     dx = deviation (g - mean of g - h * mean of g h)
//     products = dy h, whose sums over all rows are the gradient of scale
//
// Each row is one tile's. The workers of a tile share rows, where that takes fewer cycles
// (kernels/codelets/layer_norm_gradient.S). All is computed in FP32.
// x, dy: m x n, f16 or f32, any m and n of at least 1; read in place as those of softmax_gradient are.
// scale: n elements of their type. mean, deviation: m elements, f32, as the layer norm has left them. dx
// and products have x's type and are beside its rows, each row padded to 8 bytes.
//
// Timing: kernels/codelets/layer_norm_cost.h.
// Not modelled: rows with more pairs of elements than a repeat counts.
#pragma once

#include "base/units.h"
#include "kernels/family/family.h"
#include "models/spec/machine_spec.h"

#include <cstdint>

namespace tessera::layer_norm {

[[nodiscard]] const family::Family& gradient();

/// Cycles of a tile's stub that has so many rows, all in one block.
[[nodiscard]] Cycles gradient_cycles(const spec::MachineSpec& machine, ElementType type,
                                     std::int64_t rows, std::int64_t columns);

} // namespace tessera::layer_norm
