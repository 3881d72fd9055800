// SPDX-License-Identifier: MIT
// What the planners of streaming workloads share: pieces, steps, and bytes that tell where they
// are.
#pragma once

#include "kernels/graph/graph.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::micro {

/// `bytes` over tiles [first, first + tiles) as evenly as whole requests of `request_bytes` allow,
/// at the start of `buffer`; words where `bytes` are not whole requests.
[[nodiscard]] std::vector<graph::StreamPiece> spread_over(Bytes bytes, TileId first,
                                                          std::int64_t tiles,
                                                          graph::BufferId buffer,
                                                          Bytes request_bytes);

/// A tensor of 32-bit words that stands in the pieces as a copy would leave it.
[[nodiscard]] graph::Tensor tensor_of(const std::string& name,
                                      const std::vector<graph::StreamPiece>& pieces);

/// The host holds remote buffers of these sizes twice: what is in them and what should be.
/// @throws OutOfHostMemory where it cannot
void need_memory_of_buffers(const std::vector<Bytes>& sizes, const std::string& what);

/// Words that differ from those near them.
[[nodiscard]] std::vector<std::byte> marked_bytes(Bytes bytes, std::uint32_t salt);

} // namespace tessera::micro
