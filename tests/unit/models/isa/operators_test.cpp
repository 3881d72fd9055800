// SPDX-License-Identifier: MIT
// Expressions of two operators, of all pairs that there are, beside their strengths written down once
// more; in parentheses every operator may stand.
#include "tests/unit/models/isa/assemble_support.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::isa::test;

namespace {

using Number = std::optional<std::int64_t>; ///< nothing: refused

struct Operator {
    std::string text;
    int strength = 0;
    Number (*value)(std::int64_t, std::int64_t) = nullptr;
};

std::int64_t truth(bool is_true) {
    return is_true ? -1 : 0;
}
bool shifts(std::int64_t by) {
    return by >= 0 && by < 64;
}
std::uint64_t bits(std::int64_t number) {
    return static_cast<std::uint64_t>(number);
}

const std::vector<Operator> kOperators{
    {"*", 6, [](auto a, auto b) { return Number(a * b); }},
    {"/", 6, [](auto a, auto b) { return b == 0 ? Number() : a / b; }},
    {"%", 6, [](auto a, auto b) { return b == 0 ? Number() : a % b; }},
    {"<<", 6,
     [](auto a, auto b) {
         return shifts(b) ? Number(static_cast<std::int64_t>(bits(a) << b)) : Number();
     }},
    {">>", 6,
     [](auto a, auto b) {
         return shifts(b) ? Number(static_cast<std::int64_t>(bits(a) >> b)) : Number();
     }},
    {"&", 5, [](auto a, auto b) { return Number(a & b); }},
    {"|", 5, [](auto a, auto b) { return Number(a | b); }},
    {"^", 5, [](auto a, auto b) { return Number(a ^ b); }},
    {"+", 4, [](auto a, auto b) { return Number(a + b); }},
    {"-", 4, [](auto a, auto b) { return Number(a - b); }},
    {"==", 3, [](auto a, auto b) { return Number(truth(a == b)); }},
    {"!=", 3, [](auto a, auto b) { return Number(truth(a != b)); }},
    {"<>", 3, [](auto a, auto b) { return Number(truth(a != b)); }},
    {"<", 3, [](auto a, auto b) { return Number(truth(a < b)); }},
    {"<=", 3, [](auto a, auto b) { return Number(truth(a <= b)); }},
    {">", 3, [](auto a, auto b) { return Number(truth(a > b)); }},
    {">=", 3, [](auto a, auto b) { return Number(truth(a >= b)); }},
    {"&&", 2, [](auto a, auto b) { return Number(a != 0 && b != 0 ? 1 : 0); }},
    {"||", 1, [](auto a, auto b) { return Number(a != 0 || b != 0 ? 1 : 0); }},
};

Number of(const Operator& one, Number left, Number right) {
    return left && right ? one.value(*left, *right) : Number();
}

/// Sources of one data word of 64 bits each, and what these have.
struct Table {
    void add(const std::string& expression, Number value) {
        if (value) {
            source += ".quad " + expression + "\n";
            expressions.push_back(expression);
            values.push_back(*value);
        }
    }
    std::string source;
    std::vector<std::string> expressions;
    std::vector<std::int64_t> values;
};

void check(const Table& table) {
    const auto words = words_of(table.source);
    REQUIRE(words.size() == 2 * table.values.size());
    for (std::size_t i = 0; i < table.values.size(); ++i) {
        INFO(table.expressions[i]);
        CHECK((words[2 * i] | std::uint64_t{words[2 * i + 1]} << 32U) == bits(table.values[i]));
    }
}

const std::vector<std::vector<std::int64_t>> kNumbers{{7, 3, 2},   {2, 2, 2}, {0, 5, 1},
                                                      {12, 10, 6}, {1, 0, 9}, {3, 4, 0}};

} // namespace

TEST_CASE("of two operators the stronger one is first, of equal ones the left one", "[isa]") {
    for (const Operator& first : kOperators) {
        Table table;
        for (const Operator& second : kOperators) {
            for (const auto& numbers : kNumbers) {
                const std::int64_t x = numbers[0];
                const std::int64_t y = numbers[1];
                const std::int64_t z = numbers[2];
                const std::string a =
                    std::to_string(x) + " " + first.text + " " + std::to_string(y);
                const Number left = of(second, of(first, x, y), z);
                const Number right = of(first, x, of(second, y, z));
                table.add(a + " " + second.text + " " + std::to_string(z),
                          second.strength > first.strength ? right : left);
            }
        }
        check(table);
    }
}

TEST_CASE("what is in parentheses is first, whatever operator it has", "[isa]") {
    for (const Operator& first : kOperators) {
        Table table;
        for (const Operator& second : kOperators) {
            for (const auto& numbers : kNumbers) {
                const std::string x = std::to_string(numbers[0]);
                const std::string y = std::to_string(numbers[1]);
                const std::string z = std::to_string(numbers[2]);
                table.add("(" + x + " " + first.text + " " + y + ") " + second.text + " " + z,
                          of(second, of(first, numbers[0], numbers[1]), numbers[2]));
                table.add(x + " " + first.text + " (" + y + " " + second.text + " " + z + ")",
                          of(first, numbers[0], of(second, numbers[1], numbers[2])));
            }
        }
        check(table);
    }
}

TEST_CASE("an operator of one number is stronger than any of two", "[isa]") {
    for (const Operator& second : kOperators) {
        Table table;
        for (const auto& numbers : kNumbers) {
            const std::int64_t x = numbers[0];
            const std::int64_t y = numbers[1];
            const std::string rest = std::to_string(x) + " " + second.text + " ";
            table.add("-" + rest + std::to_string(y), of(second, -x, y));
            table.add("~" + rest + std::to_string(y), of(second, ~x, y));
            table.add("!" + rest + std::to_string(y), of(second, x == 0 ? 1 : 0, y));
            table.add(rest + "-" + std::to_string(y), of(second, x, -y));
            table.add(rest + "~" + std::to_string(y), of(second, x, ~y));
            table.add(rest + "!" + std::to_string(y), of(second, x, y == 0 ? 1 : 0));
        }
        check(table);
    }
}
