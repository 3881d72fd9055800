// SPDX-License-Identifier: MIT
// The library's estimates of the vertices of a dynamic sparse product: cycles of one tile over all
// buckets that it looks into, each of which has one sub-group of the tile.
// Source: docs/published_plans.md#dynamic-sparse-products.
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "kernels/published/dense_planner.h"

#include <cstdint>

namespace tessera::dynamic {

/// Blocks of a tile, all buckets together, and the columns that they are multiplied with.
struct VertexWork {
    std::int64_t rows = 0;       ///< with blocks, of the vertex's results
    std::int64_t row_blocks = 0; ///< of each such row
    std::int64_t n = 0;
    std::int64_t buckets = 1;
};

/// Single elements: workers share the rows.
[[nodiscard]] Cycles element_cycles(const published::DenseMachine& machine, ElementType data,
                                    const VertexWork& work);
/// The same elements read as columns: workers share the rows of the result.
[[nodiscard]] Cycles element_transposed_cycles(const published::DenseMachine& machine,
                                               ElementType data, const VertexWork& work);
/// Blocks of 4, 8 or 16, FP32 4 or 8: workers share the columns of the dense operand.
[[nodiscard]] Cycles block_cycles(const published::DenseMachine& machine, std::int64_t block,
                                  ElementType data, ElementType partials, const VertexWork& work);
/// Transposes blocks in place.
[[nodiscard]] Cycles transpose_cycles(const published::DenseMachine& machine, std::int64_t block,
                                      ElementType data, std::int64_t blocks);

} // namespace tessera::dynamic
