// SPDX-License-Identifier: MIT
// `dropout` keeps the elements that are drawn here. The draws of an element follow from its number, so the host, the backward and the
// machine have the same ones wherever the element stands.
//
//     block       32 bytes of neighbouring elements: 16 of FP16, 8 of FP32. Block n has the elements from n * 16, or n * 8, on
//     generator   a worker's own, xoroshiro128aox. Its state is seeded for each block by the seed, the step and n:
//                 elementwise_dropout.S has the formulas. Different (seed, step, n) give different states
//     element     is kept if 16 bits that are drawn are less than `keep`
// Source of the generator: docs/evidence.md#instruction-set.
#pragma once

#include "base/element_type.h"
#include "base/units.h"

#include <cstdint>

namespace tessera::elementwise {

/// A seed and a step, and the constants of the hash, as vertices have them.
struct Draws {
    static constexpr Bytes kBlockBytes = 32;
    static constexpr std::uint32_t kAll = 0x10000; ///< keep of all elements
    static constexpr std::uint32_t kMix1 = 0x7feb352d;
    static constexpr std::uint32_t kMix2 = 0x846ca68b;

    std::uint32_t seed = 0;
    std::uint32_t keep = kAll; ///< of 0x10000
    ElementType type = ElementType::F16;

    [[nodiscard]] std::int64_t elements_of_block() const { return kBlockBytes / bytes_of(type); }
    /// Returns the number that is added to those of blocks.
    [[nodiscard]] std::uint32_t key() const;
    [[nodiscard]] bool keeps(std::int64_t element, std::uint32_t step) const;
};

} // namespace tessera::elementwise
