// SPDX-License-Identifier: MIT
// An instruction -> the micro-operation that executes it, with registers as indices of the
// context's files, and what the decoder must know to join the two of a bundle.
#pragma once

#include "models/isa/decoded_program.h"

#include <array>
#include <cstdint>

namespace tessera::isa {

[[nodiscard]] constexpr std::uint16_t code_of(Internal internal) {
    return static_cast<std::uint16_t>(internal);
}

/// Aux registers as a mask: what an operation reads and writes.
struct AuxRegisters {
    std::uint32_t read = 0;
    std::uint32_t written = 0;
};

/// A step of an operation that copies a read-only register aside, for the operation to step the
/// copy.
struct Copies {
    std::array<MicroOperation, 2> list{};
    unsigned used = 0;
};

struct Mapped {
    MicroOperation operation;
    AuxRegisters aux;
    std::uint32_t all_aux_written =
        0; ///< with those that discard: `ld2x64pace $azeros, $azeros` is illegal too
    std::uint16_t main_written = 0;
    Copies copies;
    bool valid = true;
    InvalidReason reason = InvalidReason::NoInstruction;

    void reject(InvalidReason why) {
        if (valid) {
            valid = false;
            reason = why;
        }
    }
};

/// Registers that an operand of the aux file spans.
[[nodiscard]] unsigned aux_width(OperandKind kind);

[[nodiscard]] Mapped map_operation(const Operation& source, const Target& target);

} // namespace tessera::isa
