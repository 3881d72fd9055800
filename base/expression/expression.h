// SPDX-License-Identifier: MIT
// Numbers written as text: `rows*16 + 2`, `ceildiv(n, 4)`, `addr(x) | elements(x) << 20`.
//
//   numbers     12, 0x1f, 2.5, 1e-3, inf, nan
//   operators   from strong to weak, as in C: unary - + ~ !, * / %, + -, << >>, < <= > >=, == !=,
//               &, ^, |, &&, ||, ? :; comparisons, !, && and || are 1 or 0, and of the last three
//               and ? : only the side that counts is evaluated
//   functions   min(a, ...), max(a, ...), ceildiv(a, b), floordiv(a, b), floor, ceil, round, abs,
//               sqrt, log2, exp, log, tanh; addr(x), bytes(x), elements(x), symbol(f) of a name;
//               at(x, i); sum(k, low, high, expression): over the whole numbers k with
//               low <= k < high
//
// A name may have dots inside, as parameters of the machine do: `tile.workers`.
// `/` divides exactly (7/2 is 3.5); %, shifts and bit operators want whole numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::expression {

/// What the expressions of a file may take together: a step for each character read, and for each
/// number, name and operator of each term of a sum (% counts 5, exp, log, log2 and tanh 10).
inline constexpr std::int64_t kMostSteps = 400'000'000;

/// The steps that expressions may take together.
struct Work {
    std::int64_t most = kMostSteps;
    std::string_view of = "a file"; ///< whose they are, in a message
    std::int64_t steps_left = most;
};

/// Characters of one expression.
inline constexpr std::size_t kLongest = 1'000'000;

/// The longest part of an expression in a message; the mistake is located by its character.
inline constexpr std::size_t kLongestShown = 200;

/// What an expression may name.
struct Scope {
    std::map<std::string, double> numbers;
    /// Functions of a name, for example tables["addr"]["x"].
    std::map<std::string, std::map<std::string, double>> tables;
    std::map<std::string, std::vector<double>> arrays; ///< of at(x, i)
    std::shared_ptr<Work> work = nullptr;              ///< null: without a limit
    std::string no_table = {}; ///< hint where a function of a name is none of `tables`
};

/// An expression is wrong. `column` counts characters of the expression from 1.
class Error : public std::runtime_error {
public:
    Error(std::size_t column, const std::string& message, std::string hint = {})
        : std::runtime_error(message), column_(column), hint_(std::move(hint)) {}
    [[nodiscard]] std::size_t column() const { return column_; }
    [[nodiscard]] const std::string& hint() const { return hint_; }

private:
    std::size_t column_;
    std::string hint_;
};

/// An expression takes more than its Work has left.
class TooMuchWork : public Error {
public:
    using Error::Error;
};

/// The value of `text`. @throws Error
[[nodiscard]] double evaluate(std::string_view text, const Scope& scope);

/// The names that stand for numbers in `text`, each once, in the order of the text. @throws
/// Error where it is no expression
[[nodiscard]] std::vector<std::string> names_in(std::string_view text);

/// Letters, digits and '_', not starting with a digit.
[[nodiscard]] bool is_name(std::string_view text);

} // namespace tessera::expression
