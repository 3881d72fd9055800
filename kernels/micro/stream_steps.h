// SPDX-License-Identifier: MIT
// What the planners of streaming workloads share: pieces, steps, and bytes that tell where they are.
#pragma once

#include "models/program/program.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::micro {

/// `bytes` (whole words) over tiles [first, first + tiles) as evenly as words allow, at `address`.
[[nodiscard]] std::vector<program::StreamPiece> spread_over(Bytes bytes, TileId first,
                                                            std::int64_t tiles, Address address);

/// A tensor of 32-bit words that stands in the pieces as a copy would leave it.
[[nodiscard]] program::Tensor tensor_of(const std::string& name,
                                        const std::vector<program::StreamPiece>& pieces);

[[nodiscard]] program::Step step(program::Step::Kind kind, std::uint32_t index = 0,
                                 std::int64_t row = 0);

/// `count` times `body`.
[[nodiscard]] program::Step repeat(std::int64_t count, std::vector<program::Step> body);

/// Words that differ from those near them.
[[nodiscard]] std::vector<std::byte> marked_bytes(Bytes bytes, std::uint32_t salt);

} // namespace tessera::micro
