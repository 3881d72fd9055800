// SPDX-License-Identifier: MIT
// Registers, control registers and expressions as they are written.
#pragma once

#include "models/isa/assembler/unit.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tessera::isa::assembly {

struct RegisterName {
    RegisterFile file = RegisterFile::Main;
    std::uint8_t first = 0;
    std::uint8_t width = 1;
};

/// m0..m15, a0..a15, the pairs ap0..ap7 and the aliases (lr, sp, bp, fp, mzero, azero, azeros, mvertex_base,
/// mworker_base).
[[nodiscard]] std::optional<RegisterName> find_register(std::string_view name);

/// Every name that may follow `$`, for suggestions.
[[nodiscard]] std::span<const std::string_view> dollar_names();

/// The operand as an error message names it; an expression by its value.
[[nodiscard]] std::string text_of(const Operand& operand);

} // namespace tessera::isa::assembly
