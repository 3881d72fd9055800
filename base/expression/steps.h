// SPDX-License-Identifier: MIT
// What an expression is between reading and evaluating: steps of a stack machine.
#pragma once

#include "base/expression/expression.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::expression {

enum class Op : std::uint8_t {
    Number,  ///< pushes `value`
    Known,   ///< pushes what the scope has at `found`
    Name,    ///< of numbers[argument], not found (yet)
    Table,   ///< names[argument] of names[argument + 1], not found (yet)
    Index,   ///< pushes the variable of the loop at depth `argument`
    Element, ///< of the array names[argument], by the index on top
    Negate,
    Invert,
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    ShiftUp,
    ShiftDown,
    BitAnd,
    BitXor,
    BitOr,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Minimum,
    Maximum,
    Ceildiv,
    Floordiv,
    Floor,
    Ceil,
    Round,
    Abs,
    Sqrt,
    Log2,
    Exp,
    Log,
    Tanh,
    Not,
    Truth, ///< 1 for what is not 0
    Jump,
    JumpIfZero,
    SumBegin, ///< takes both limits; to `argument` where there are no terms
    SumNext,  ///< takes a term, which cost `value`; back to `argument` for the next one
};

/// The cost of an operation in units of kMostSteps: about proportional to the host's time.
[[nodiscard]] constexpr int cost_of(Op op) {
    const bool is_series = op == Op::Log2 || op == Op::Exp || op == Op::Log || op == Op::Tanh;
    return is_series ? 10 : op == Op::Modulo ? 5 : 1;
}

/// One step of a stack machine. `at` is the character of the text that a mistake names, `name_at`
/// that of a name in it.
struct Step {
    Op op;
    std::uint32_t at = 0;
    std::uint32_t name_at = 0;
    std::uint32_t argument = 0;
    double value = 0;
    const double* found = nullptr;              ///< of known
    const std::vector<double>* array = nullptr; ///< of element; null: the scope has none
};

/// An expression read: its steps, and the names that it looks up when it is evaluated.
struct Compiled {
    std::vector<Step> steps;
    std::vector<std::string> names;   ///< of tables and arrays
    std::vector<std::string> numbers; ///< names that stand for numbers, each once
};

/// Reads `text`. @throws Error
[[nodiscard]] Compiled compile(std::string_view text);

/// @throws Error at character `at`, counted from 0
[[noreturn]] void fail_at(std::size_t at, const std::string& message, std::string hint = {});

} // namespace tessera::expression
