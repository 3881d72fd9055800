// SPDX-License-Identifier: MIT
// Repeat bodies whose main halves only move addresses by constants, or also load tensor data at
// distances from a list.
#pragma once

#include "models/isa/instruction.h"

#include <cstdint>
#include <optional>
#include <span>

namespace tessera::isa {

struct AffineBody {
    std::uint32_t first_word = 0; ///< of its code, counted from the code's start
    std::uint16_t triples = 0;    ///< main registers that begin a pair of three packed addresses
    bool has_steps = false;       ///< of the matrix unit or SLIC

    // Where distances of 16 bits come from a list. Such a body stores nothing.
    bool gathers = false;
    std::uint8_t list = 0;       ///< main register with the address of the next distance
    std::uint8_t distance = 0;   ///< main register with the distance in use
    std::uint16_t addresses = 0; ///< main registers that say where anything is loaded
};

/// Of the main and aux halves of a body's bundles, in turn; nothing where an address moves in
/// another way, or a main register takes what is in memory. `first_word` is left to the caller.
[[nodiscard]] std::optional<AffineBody> affine_body(std::span<const Operation> halves);

/// What timing mode has to know of an operation.
struct ShadowRule;
[[nodiscard]] ShadowRule shadow_rule(const Operation& operation);

} // namespace tessera::isa
