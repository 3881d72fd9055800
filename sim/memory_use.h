// SPDX-License-Identifier: MIT
// How much of each tile's memory a program keeps in each of its steps.
#pragma once

#include "base/units.h"
#include "models/program/program.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::sim {

/// Words of SegmentKind, in its order.
inline constexpr std::array<const char*, 6> kSegmentKinds{
    "code", "stack", "vertex_state", "metadata", "exchange_row", "tensor"};

/// Indexed by SegmentKind.
using BytesByKind = std::array<Bytes, kSegmentKinds.size()>;

[[nodiscard]] Bytes sum_of(const BytesByKind& by_kind);

/// Memory of the tiles that have one image.
struct ImageUse {
    std::vector<BytesByKind> of_step; ///< kept in each step
    BytesByKind always{};             ///< kept in all of them
    std::uint32_t peak_step = 0;      ///< the first in which most is kept

    [[nodiscard]] Bytes peak_bytes() const { return sum_of(of_step[peak_step]); }
};

struct MemoryUse {
    std::vector<std::string> steps; ///< names; a program without steps has one, "start"
    std::vector<ImageUse> images;   ///< as in the program
};

[[nodiscard]] MemoryUse memory_use(const program::Program& program);

} // namespace tessera::sim
