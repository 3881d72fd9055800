// SPDX-License-Identifier: MIT
// How much of each tile's memory a program keeps in each of its steps.
#pragma once

#include "base/units.h"
#include "models/program/program.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::program {

/// Words of SegmentKind, in its order.
inline constexpr std::array<const char*, 6> kSegmentKinds{
    "code", "stack", "vertex_state", "metadata", "exchange_row", "tensor"};

/// Indexed by SegmentKind.
using BytesByKind = std::array<Bytes, kSegmentKinds.size()>;

[[nodiscard]] Bytes sum_of(const BytesByKind& by_kind);

/// Memory of the tiles that have one image.
struct ImageUse {
    std::vector<BytesByKind> of_span; ///< kept in each span
    BytesByKind always{};             ///< kept in all of them
    std::size_t peak_span = 0;        ///< the first in which most is kept

    [[nodiscard]] const BytesByKind& peak() const { return of_span[peak_span]; }
    [[nodiscard]] Bytes peak_bytes() const { return sum_of(peak()); }
};

struct MemoryUse {
    std::vector<std::string> steps; ///< names; a program without steps has one, "start"
    /// First steps of the spans of steps in which no tile's buffers come or go, ascending from 0.
    std::vector<std::uint32_t> spans;
    std::vector<ImageUse> images; ///< as in the program

    [[nodiscard]] std::uint32_t peak_step(const ImageUse& image) const {
        return spans[image.peak_span];
    }
};

[[nodiscard]] MemoryUse memory_use(const Program& program);

} // namespace tessera::program
