// SPDX-License-Identifier: MIT
// Operands -> the row of the instruction table that takes them, and the rules that an operation or
// a bundle keeps. Driven by the operand forms; knows no instruction by name except the
// pseudo-instructions.
#pragma once

#include "models/isa/assembler/unit.h"
#include "models/isa/instruction.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tessera::isa::assembly {

struct Mismatch {
    std::optional<std::size_t> operand; ///< empty: the number of operands is wrong
    std::string message;
    /// What the machine's assembler makes of it where operands are not checked, if anything: a
    /// register of the other file is the one of its number, of a constant the low bits count. Of
    /// the rows that which bends least.
    std::optional<Operation> loose;
};

/// The first row of `mnemonic` that the operands fit; expressions have their value. The mnemonic is
/// in the table.
[[nodiscard]] std::variant<Operation, Mismatch> match(std::string_view mnemonic,
                                                      std::span<const Operand> operands);

/// The written operands of an operation, so that `match` gives the operation back.
[[nodiscard]] std::vector<Operand> operands_of(const Operation& operation,
                                               CsrContext context = CsrContext::Both);

/// A real instruction that a pseudo-instruction stands for.
struct RealInstruction {
    std::string_view mnemonic;
    std::vector<Operand> operands;
};

/// What the instruction stands for: itself, unless it is a pseudo-instruction. Two for a long
/// ldconst (`is_long`).
[[nodiscard]] std::vector<RealInstruction>
expand_pseudo(std::string_view mnemonic, std::span<const Operand> operands, bool is_long);

/// The operands that the pseudo-instruction takes ("$m, $m or $a, $a"); empty when it is none.
[[nodiscard]] std::string pseudo_forms(std::string_view mnemonic);

/// The constants that a pseudo-instruction takes where the real ones of its name take none; empty
/// for all others.
[[nodiscard]] std::string pseudo_constant(std::string_view mnemonic, std::size_t operand);

[[nodiscard]] std::span<const std::string_view> pseudo_mnemonics();

/// Why a mnemonic of the machine is none here; empty for all others.
[[nodiscard]] std::string refused_mnemonic(std::string_view mnemonic);

/// Why the operation is no legal instruction, or empty.
[[nodiscard]] std::string operation_problem(const Operation& operation);

/// Why the two may not share a bundle, or empty.
[[nodiscard]] std::string bundle_problem(const Operation& first, const Operation& second);

} // namespace tessera::isa::assembly
