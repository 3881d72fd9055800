// SPDX-License-Identifier: MIT
// The gradient of a sparse operand's values, dY X^T where its pattern has blocks, as a graph over the
// buckets of the products that it is multiplied in.
//
//     bring     each tile gets the rows of dY and of X of its part, and metadata of its z tiles
//     transpose squares of both, where the matrix unit samples
//     zero      partial gradients of their blocks
//     sample    each tile has the columns of its z: partial gradients of all blocks of its part
//     travel    metadata and partial gradients of buckets with blocks of other parts move on and come back
//     reduce    each bucket gets the partial gradients that its z tiles have, and they are summed
//
// The library lets buckets, or both dense matrices, go round the z tiles instead, whichever is cheaper.
// Source: docs/published_plans.md#dynamic-sparse-products.
#pragma once

#include "kernels/dynamic/emitter.h"
#include "kernels/graph/graph.h"
#include "models/spec/machine_spec.h"

#include <cstdint>

namespace tessera::dynamic {

/// Tensors of its graph, by number.
struct SampledTensors {
    static constexpr std::uint32_t kValues = 0; ///< {places for blocks, b, b}, which nothing reads
    static constexpr std::uint32_t kDy = 1;     ///< {m, n}
    static constexpr std::uint32_t kX = 2;      ///< {k, n}
    static constexpr std::uint32_t kGradient = 3; ///< as the values
    static constexpr std::uint32_t kForms = 4;    ///< metadata, then the control tile's words
};

/// `product` is what the values are multiplied in. @throws DoesNotFit, NotModelled
[[nodiscard]] graph::Graph emit_values_gradient(const spec::MachineSpec& machine,
                                                const Spmm& product);

} // namespace tessera::dynamic
