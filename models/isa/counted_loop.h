// SPDX-License-Identifier: MIT
// Loops that a branch counts down, whose passes do the same but at addresses that move by constants:
// groups of columns of a sparse product's row. The body has no other branch; repeats in it store nothing.
//
// Main registers that the body writes have the same value in every pass, or move by a constant. What it
// loads into main registers stands at addresses that are the same in every pass, and no main register is
// stored. So all passes take the same time.
#pragma once

#include "models/isa/instruction.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tessera::isa {

struct CountedLoop {
    std::uint16_t moving = 0;    ///< main registers that move by a constant
    std::uint16_t addresses = 0; ///< of those: accesses move with them
    /// Each store, in their order, moves with the sum of these two main registers.
    std::vector<std::array<std::uint8_t, 2>> stores;
    std::vector<std::uint32_t> jumps; ///< in DecodedProgram::jumps; left to the caller
};

/// An instruction of the main lane.
struct LoopInstruction {
    Operation operation;
    bool in_repeat = false; ///< of the repeat before it
};

/// Describes the loop of a body that ends with a brnzdec back to its first instruction; nothing where its
/// passes do not do the same.
[[nodiscard]] std::optional<CountedLoop> counted_loop(std::span<const LoopInstruction> body);

} // namespace tessera::isa
