// SPDX-License-Identifier: MIT
#include "sim/vertex/expression.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace tessera::vertex;

namespace {

const Scope kScope{{{"rows", 12}, {"columns", 5}},
                   {{"addr", {{"x", 0x50000}}}, {"elements", {{"x", 7}}}},
                   {{"x", {3, 1, 4}}}};

double of(const std::string& text) {
    return evaluate(text, kScope);
}

std::string refusal(const std::string& text) {
    try {
        static_cast<void>(of(text));
    } catch (const ExpressionError& error) {
        return std::to_string(error.column()) + ": " + error.what() +
               (error.hint().empty() ? "" : "; " + error.hint());
    }
    return "accepted";
}

} // namespace

TEST_CASE("operators bind as in C and divide exactly", "[unit][vertex]") {
    CHECK(of("rows*16 + 2") == 194);
    CHECK(of("2 + 3 * 4 - 1") == 13);
    CHECK(of("(2 + 3) * 4") == 20);
    CHECK(of("-rows % 5") == -2);
    CHECK(of("7 / 2") == 3.5);
    CHECK(of("1 + 2 << 3 | 1") == 25);
    CHECK(of("0xff & ~0xf ^ 1") == 0xf1);
    CHECK(of("1e3 >> 3") == 125);
    CHECK(of("--2") == 2);
}

TEST_CASE("functions take numbers or names", "[unit][vertex]") {
    CHECK(of("min(3, rows, 5) + max(1, 2)") == 5);
    CHECK(of("ceildiv(rows, columns)") == 3);
    CHECK(of("floordiv(rows, columns)") == 2);
    CHECK(of("floor(2.5) + ceil(2.5) + round(2.5) + abs(-1)") == 9);
    CHECK(of("sqrt(16) + log2(8)") == 7);
    CHECK(of("exp(0) + log(1) + tanh(0)") == 1);
    CHECK(of("log(exp(2))") == Approx(2));
    CHECK(of("addr(x) + 8 | elements(x) << 20") == (0x50008 | 7 << 20));
    CHECK(of("at(x, 2)") == 4);
    CHECK(std::isinf(of("inf")));
    CHECK(std::isnan(of("nan")));
}

TEST_CASE("comparisons are one or zero and choose", "[unit][vertex]") {
    CHECK(of("rows < 13") == 1);
    CHECK(of("rows <= 11") == 0);
    CHECK(of("(rows >= 12) + (rows > 12)") == 1);
    CHECK(of("rows == 12 & columns != 5") == 0);
    CHECK(of("1 << 2 < 5") == 1);
    CHECK(of("rows > 3 ? 7 : 9") == 7);
    CHECK(of("rows < 3 ? 7 : rows == 12 ? 8 : 9") == 8);
    // only the side that counts is evaluated
    CHECK(of("columns > 3 ? 1 : at(x, 99)") == 1);
    CHECK(of("columns < 3 ? 1 / 0 : 2") == 2);
}

TEST_CASE("a sum runs over whole numbers", "[unit][vertex]") {
    CHECK(of("sum(k, 0, 4, k * k)") == 14);
    CHECK(of("sum(k, 2, 2, at(x, 99))") == 0);
    CHECK(of("sum(k, 0, elements(x) - 4, at(x, k)) * 2 + 1") == 17);
    CHECK(of("sum(i, 0, 3, sum(j, 0, i, 10 * i + j))") == 10 + 20 + 21);
    // its variable hides a parameter inside only
    CHECK(of("sum(rows, 0, 3, rows) + rows") == 15);
    CHECK(names_in("sum(k, 0, rows, k + columns)") == std::vector<std::string>{"rows", "columns"});
    CHECK(refusal("sum(k, 0, 2, at(x, k + 2))") == "14: at: got index 3, expected 0..2");
    CHECK(refusal("sum(1, 0, 2, 3)") == "5: expected a name");
}

TEST_CASE("a wrong expression says where and what was expected", "[unit][vertex]") {
    CHECK(refusal("rows +") == "7: got the end, expected a number, a name or '('");
    CHECK(refusal("rows 2") == "6: got '2', expected an operator or the end");
    CHECK(refusal("(1") == "3: got the end, expected ')'");
    CHECK(refusal("row*2") == "1: unknown name 'row'; did you mean 'rows'?");
    CHECK(refusal("1 + mn(2, 3)") == "5: unknown function 'mn'; did you mean 'min'?");
    CHECK(refusal("addr(y)") == "6: addr: unknown name 'y'");
    CHECK(refusal("symbol(f)") ==
          "1: symbol() is not known here; it may stand in state and in values");
    CHECK(refusal("ceildiv(1)") == "1: ceildiv: got 1 arguments, expected 2");
    CHECK(refusal("1 / (rows - 12)") == "3: division by zero");
    CHECK(refusal("2.5 % 2") == "5: %: got 2.5, expected a whole number");
    CHECK(refusal("1 << 60") == "3: shift: got 60 bits, expected 0..52");
    CHECK(refusal("12ab") == "1: got what is no number");
    CHECK(refusal("at(x, 3)") == "1: at: got index 3, expected 0..2");
    CHECK(refusal("at(z, 3)") == "4: at: unknown array 'z'");
    CHECK(refusal(std::string(200, '(')).find("more than 100 levels") != std::string::npos);
}

TEST_CASE("the names of an expression come in its order and once", "[unit][vertex]") {
    CHECK(names_in("b + a*rows + b/2") == std::vector<std::string>{"b", "a", "rows"});
    CHECK(is_name("x_1"));
    CHECK_FALSE(is_name("1x"));
    CHECK_FALSE(is_name("a-b"));
    CHECK_FALSE(is_name(""));
}

TEST_CASE("the expressions of a file share what they may read", "[unit][vertex]") {
    Scope scope = kScope;
    scope.work = std::make_shared<ExpressionWork>();
    const auto read_by = [&](const std::string& text) {
        const auto before = scope.work->characters_left;
        static_cast<void>(evaluate(text, scope));
        return before - scope.work->characters_left;
    };
    // its characters and one, and of a sum again those of the term and one for each
    CHECK(read_by("1 + 2") == 6);
    CHECK(read_by("sum(k, 0, 10, k)") == 17 + 10 * 3);
    CHECK(read_by("sum(k, 0, 0, k)") == 16);
    CHECK(read_by("sum(i, 0, 3, sum(j, 0, 5, i))") == 30 + 3 * (17 + 5 * 3));
    CHECK(read_by("rows") == 5);
    CHECK(evaluate("sum(k, 0, 2000001, 1)", scope) == 2000001);
}

TEST_CASE("more than a file may read is refused however it is nested", "[unit][vertex]") {
    const auto refusal_of = [](const std::string& text, std::int64_t characters) {
        Scope scope = kScope;
        scope.work = std::make_shared<ExpressionWork>(ExpressionWork{characters});
        try {
            static_cast<void>(evaluate(text, scope));
        } catch (const ExpressionError& error) {
            return std::to_string(error.column()) + ": " + error.what();
        }
        return std::string("accepted");
    };
    const std::string why =
        ": the expressions of a file may read 100000000 characters in all, terms "
        "of sums each time, and this one reads more";
    CHECK(refusal_of("1 + 2", 6) == "accepted");
    CHECK(refusal_of("1 + 2", 5) == "1" + why);
    CHECK(refusal_of("1 + sum(k, 0, 10, k)", 51) == "accepted");
    CHECK(refusal_of("1 + sum(k, 0, 10, k)", 50) == "5" + why);
    const std::string nested = "sum(i, 0, 1e6, sum(j, 0, 1e6, sum(k, 0, 1e6, 1)))";
    CHECK(refusal_of(nested, 100'000) == "31" + why);
    CHECK(refusal_of("1 ? 2 : " + nested, 100'000) == "accepted"); // is not evaluated
}

TEST_CASE("long names and texts are cut in messages", "[unit][vertex]") {
    const std::string name(1000, 'a');
    CHECK(refusal(name) == "1: unknown name '" + std::string(60, 'a') + "...' (1000 bytes)");
    CHECK(refusal(name + "(1)") ==
          "1: unknown function '" + std::string(60, 'a') + "...' (1000 bytes)");
}
