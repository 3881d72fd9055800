// SPDX-License-Identifier: MIT
// A graph several times at once, on tiles of their own.
#pragma once

#include "kernels/graph/graph.h"

#include <cstdint>

namespace tessera::graph {

/// Copy i of `part` on tiles from i * stride on, of which the part uses fewer than `stride`. Steps,
/// buffers and tensors are those of the part, for all copies; a tensor has its copies' data one behind
/// the other, their number as its first dimension, and a row of a remote buffer has its copies' rows
/// one behind the other. All copies take the same way: a while, an if or a stream copy goes by the
/// word of the first copy. @throws NotModelled for a stream copy whose rows words name
[[nodiscard]] Graph replicated(Graph part, std::int64_t copies, std::int64_t stride);

/// Tensors of the two that are equal but for their first dimension become one, `behind`'s data behind
/// `first`'s.
void join(Tensor& first, Tensor behind);

} // namespace tessera::graph
