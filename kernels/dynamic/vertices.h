// SPDX-License-Identifier: MIT
// The codelets of dynamic sparse products. What they ask of memory is the same for all:
// kernels/codelets/dynamic_blocks.inc, dynamic_elements.inc.
//
// State of each, words: 0 out, 1 metadata and 2 values of the first bucket, 3 dense operand, 4 and 5
// bytes from a bucket's metadata and values to those of the next, 6 buckets - 1, 7 number of the
// tile's own sub-group, 8 columns, 9 scratch.
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "kernels/codelets/product_types.h"
#include "kernels/dynamic/passes.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tessera::dynamic {

inline constexpr Bytes kScratchBytes = 256;
inline constexpr Bytes kReadBeyond = 8; ///< behind the metadata and the values of the last bucket

struct Vertex {
    std::string name;
    std::string codelet;              ///< its source
    std::int64_t block_roundings = 0; ///< of a sum, to the partials' type, for each of its blocks
};

[[nodiscard]] Vertex vertex_of(std::int64_t block, codelets::ProductTypes types, Pass pass);
/// The gradient of the values, in FP32 sums. Blocks of FP16 round each product to FP16.
/// State: as above, but 0 partial gradients, 2 nothing, 3 X, 5 bytes from a bucket's partial gradients
/// to those of the next, 10 dY.
[[nodiscard]] Vertex values_vertex_of(std::int64_t block, ElementType data);
/// The same by the matrix unit, which rounds no product: X and dY by groups of as many columns as a block
/// has. Nothing where other blocks, or columns beside whole groups, want other groups.
[[nodiscard]] std::optional<Vertex> matrix_values_vertex_of(std::int64_t block, ElementType data,
                                                            std::int64_t columns);

} // namespace tessera::dynamic
