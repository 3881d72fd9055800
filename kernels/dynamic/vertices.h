// SPDX-License-Identifier: MIT
// The codelets of dynamic sparse products. What they ask of memory is the same for all:
// kernels/codelets/dynamic_blocks.inc, dynamic_elements.inc.
//
// State of each, words: 0 out, 1 metadata and 2 values of the first bucket, 3 dense operand, 4 and 5
// bytes from a bucket's metadata and values to those of the next, 6 buckets - 1, 7 number of the
// tile's own sub-group, 8 columns, 9 scratch.
#pragma once

#include "base/units.h"
#include "kernels/codelets/product_types.h"
#include "kernels/dynamic/passes.h"

#include <cstdint>
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

} // namespace tessera::dynamic
