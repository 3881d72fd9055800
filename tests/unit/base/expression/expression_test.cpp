// SPDX-License-Identifier: MIT
#include "base/expression/expression.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

using namespace tessera::expression;

namespace {

const Scope kScope{{{"rows", 12}, {"columns", 5}},
                   {{"addr", {{"x", 0x50000}}}, {"elements", {{"x", 7}}}},
                   {{"x", {3, 1, 4}}},
                   nullptr,
                   "it may stand elsewhere"};

double of(const std::string& text) {
    return evaluate(text, kScope);
}

std::string refusal(const std::string& text) {
    try {
        static_cast<void>(of(text));
    } catch (const Error& error) {
        return std::to_string(error.column()) + ": " + error.what() +
               (error.hint().empty() ? "" : "; " + error.hint());
    }
    return "accepted";
}

} // namespace

TEST_CASE("operators bind as in C and divide exactly", "[unit]") {
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

TEST_CASE("functions take numbers or names", "[unit]") {
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

TEST_CASE("comparisons are one or zero and choose", "[unit]") {
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

TEST_CASE("conditions are one or zero, and the side that does not count is not evaluated",
          "[unit]") {
    for (const int a : {0, 1, 2}) {
        for (const int b : {0, 1, -3}) {
            CAPTURE(a, b);
            Scope scope;
            scope.numbers = {{"a", a}, {"b", b}};
            CHECK(evaluate("a && b", scope) == ((a != 0 && b != 0) ? 1 : 0));
            CHECK(evaluate("a || b", scope) == ((a != 0 || b != 0) ? 1 : 0));
            CHECK(evaluate("!a", scope) == (a == 0 ? 1 : 0));
            CHECK(evaluate("!a != !b", scope) == ((a == 0) != (b == 0) ? 1 : 0));
            CHECK(evaluate("a == 1 || b == 1 && a == 2", scope) ==
                  ((a == 1 || (b == 1 && a == 2)) ? 1 : 0));
            CHECK(evaluate("a | b && a & b", scope) == (((a | b) != 0 && (a & b) != 0) ? 1 : 0));
            CHECK(evaluate("a && b ? 5 : a || b ? 6 : 7", scope) == (a != 0 && b != 0   ? 5
                                                                     : a != 0 || b != 0 ? 6
                                                                                        : 7));
        }
    }
    CHECK(of("0 && 1 / 0") == 0);
    CHECK(of("2 || missing") == 1);
    CHECK(of("sum(k, 0, 10, k % 2 == 0 && k > 3)") == 3);
    CHECK(refusal("1 && missing") == "6: unknown name 'missing'");
    CHECK(refusal("1 &&& 2") == "5: got '&', expected a number, a name or '('");
    CHECK(refusal("1 &&") == "5: got the end, expected a number, a name or '('");
    CHECK(refusal("!") == "2: got the end, expected a number, a name or '('");
    CHECK(names_in("a && b || !c") == std::vector<std::string>{"a", "b", "c"});
    std::string text = "1";
    for (int i = 0; i < 10'000; ++i) {
        text += i % 2 == 0 ? " && 1" : " || 0";
    }
    CHECK(of(text) == 1);
}

TEST_CASE("a sum runs over whole numbers", "[unit]") {
    CHECK(of("sum(k, 0, 4, k * k)") == 14);
    CHECK(of("sum(k, 2, 2, at(x, 99))") == 0);
    CHECK(of("sum(k, 0, elements(x) - 4, at(x, k)) * 2 + 1") == 17);
    CHECK(of("sum(i, 0, 3, sum(j, 0, i, 10 * i + j))") == 10 + 20 + 21);
    // its variable hides a parameter inside only
    CHECK(of("sum(rows, 0, 3, rows) + rows") == 15);
    CHECK(names_in("sum(k, 0, rows, k + columns)") == std::vector<std::string>{"rows", "columns"});
    CHECK(refusal("sum(k, 0, 2, at(x, k + 2))") == "14: at: got index 3, expected 0..2");
    CHECK(refusal("sum(1, 0, 2, 3)") == "5: expected a name");
    // the innermost variable of a name counts, and each sum has its own
    CHECK(of("sum(i, 0, 2, sum(i, 5, 7, i) + i)") == 2 * 11 + 1);
    CHECK(of("sum(i, 0, 3, i) * sum(j, 0, 3, j) + sum(i, 0, 2, sum(j, i, 2, j - i))") == 10);
    CHECK(of("sum(i, 0, 4, i < 2 ? 10 : i)") == 25);
    CHECK(of("rows > 3 ? sum(i, 0, 3, i) : 1 / 0") == 3);
}

TEST_CASE("names may have dots inside", "[unit]") {
    Scope scope = kScope;
    scope.numbers["tile.workers"] = 5;
    CHECK(evaluate("2*tile.workers - rows", scope) == -2);
    CHECK(evaluate("rows + .5", scope) == 12.5);
    CHECK(names_in("tile.workers + rows") == std::vector<std::string>{"tile.workers", "rows"});
    CHECK(refusal("tile.workrs + 1").find("unknown name 'tile.workrs'") != std::string::npos);
    CHECK(refusal("rows.") == "5: got '.', expected an operator or the end");
}

TEST_CASE("a wrong expression says where and what was expected", "[unit]") {
    CHECK(refusal("rows +") == "7: got the end, expected a number, a name or '('");
    CHECK(refusal("rows 2") == "6: got '2', expected an operator or the end");
    CHECK(refusal("(1") == "3: got the end, expected ')'");
    CHECK(refusal("row*2") == "1: unknown name 'row'; did you mean 'rows'?");
    CHECK(refusal("1 + mn(2, 3)") == "5: unknown function 'mn'; did you mean 'min'?");
    CHECK(refusal("addr(y)") == "6: addr: unknown name 'y'");
    CHECK(refusal("symbol(f)") == "1: symbol() is not known here; it may stand elsewhere");
    CHECK(refusal("ceildiv(1)") == "1: ceildiv: got 1 arguments, expected 2");
    CHECK(refusal("1 / (rows - 12)") == "3: division by zero");
    CHECK(refusal("2.5 % 2") == "5: %: got 2.5, expected a whole number");
    CHECK(refusal("1 << 60") == "3: shift: got 60 bits, expected 0..52");
    CHECK(refusal("12ab") == "1: got what is no number");
    CHECK(refusal("at(x, 3)") == "1: at: got index 3, expected 0..2");
    CHECK(refusal("at(z, 3)") == "4: at: unknown array 'z'");
    CHECK(refusal(std::string(200, '(')).find("more than 100 levels") != std::string::npos);
}

TEST_CASE("the names of an expression come in its order and once", "[unit]") {
    CHECK(names_in("b + a*rows + b/2") == std::vector<std::string>{"b", "a", "rows"});
    CHECK(is_name("x_1"));
    CHECK_FALSE(is_name("1x"));
    CHECK_FALSE(is_name("a-b"));
    CHECK_FALSE(is_name(""));
}

TEST_CASE("the expressions of a file share the steps that they may take", "[unit]") {
    Scope scope = kScope;
    scope.work = std::make_shared<Work>();
    const auto taken_by = [&](const std::string& text) {
        const auto before = scope.work->steps_left;
        static_cast<void>(evaluate(text, scope));
        return static_cast<std::size_t>(before - scope.work->steps_left);
    };
    // its characters and one; of a sum the numbers, names and operators of each term and its
    // addition
    const auto sum = [](std::size_t terms, std::size_t parts) { return terms * (parts + 1); };
    for (const std::string text : {"1 + 2", "rows", "sum(k, 0, 0, k)"}) {
        CHECK(taken_by(text) == text.size() + 1);
    }
    const std::string one = "sum(k, 0, 10, k)";
    CHECK(taken_by(one) == one.size() + 1 + sum(10, 1));
    const std::string longer = "sum(k, 0, 10, k * rows + at(x, 2))";
    CHECK(taken_by(longer) == longer.size() + 1 + sum(10, 6));
    const std::string slow = "sum(k, 0, 10, tanh(k % 3))"; // as many as ten, and as five
    CHECK(taken_by(slow) == slow.size() + 1 + sum(10, 2 + 10 + 5));
    // a nested sum has two limits and its beginning
    const std::string nested = "sum(i, 0, 3, sum(j, 0, 5, i))";
    CHECK(taken_by(nested) == nested.size() + 1 + sum(3, 3 + 2) + 3 * sum(5, 1));
    CHECK(evaluate("sum(k, 0, 2000001, 1)", scope) == 2000001);
}

TEST_CASE("more steps than a file may take are refused however they are nested", "[unit]") {
    const auto refusal_of = [](const std::string& text, std::int64_t steps) {
        Scope scope = kScope;
        scope.work = std::make_shared<Work>(Work{steps});
        try {
            static_cast<void>(evaluate(text, scope));
        } catch (const Error& error) {
            return std::to_string(error.column()) + ": " + error.what();
        }
        return std::string("accepted");
    };
    const auto why = [](std::int64_t steps) {
        return ": the expressions of a file may take " + std::to_string(steps) +
               " steps in all, one for each character and for each number, name and operator of "
               "each term of a sum, and this one takes more";
    };
    CHECK(refusal_of("1 + 2", 6) == "accepted");
    CHECK(refusal_of("1 + 2", 5) == "1" + why(5));
    CHECK(refusal_of("1 + sum(k, 0, 10, k)", 21 + 20) == "accepted");
    CHECK(refusal_of("1 + sum(k, 0, 10, k)", 21 + 19) == "5" + why(21 + 19));
    const std::string nested = "sum(i, 0, 1e6, sum(j, 0, 1e6, sum(k, 0, 1e6, 1)))";
    CHECK(refusal_of(nested, 100'000) == "31" + why(100'000));
    CHECK(refusal_of("1 ? 2 : " + nested, 100'000) == "accepted"); // is not evaluated
}

TEST_CASE("a long expression takes no deeper stack than a short one", "[unit]") {
    std::string text = "1";
    while (text.size() + 2 <= kLongest) {
        text += "+1";
    }
    CHECK(of(text) == static_cast<double>((text.size() + 1) / 2));
    text += "+1";
    CHECK(refusal(text).find("expected at most 1000000") != std::string::npos);
}

TEST_CASE("choices and parentheses one behind the other are no deeper than one", "[unit]") {
    for (const std::string part : {"(1 ? 1 : 0)", "(1)", "-(-1)", "max(0 ? 2 : 1, 1)"}) {
        CAPTURE(part);
        std::string text = part;
        for (int i = 1; i < 300; ++i) {
            text += " + " + part;
        }
        CHECK(of(text) == 300);
    }
}

TEST_CASE("long names and texts are cut in messages", "[unit]") {
    const std::string name(1000, 'a');
    CHECK(refusal(name) == "1: unknown name '" + std::string(60, 'a') + "...' (1000 bytes)");
    CHECK(refusal(name + "(1)") ==
          "1: unknown function '" + std::string(60, 'a') + "...' (1000 bytes)");
}

namespace {

/// An operator of two operands: how strong it binds, and what C gives for whole numbers.
struct Operator {
    std::string sign;
    int strength;
    std::function<double(std::int64_t, std::int64_t)> value;
};

const std::vector<Operator>& operators() {
    static const std::vector<Operator> all{
        {"*", 10, [](auto a, auto b) { return static_cast<double>(a * b); }},
        {"/", 10, [](auto a, auto b) { return static_cast<double>(a) / static_cast<double>(b); }},
        {"%", 10, [](auto a, auto b) { return static_cast<double>(a % b); }},
        {"+", 9, [](auto a, auto b) { return static_cast<double>(a + b); }},
        {"-", 9, [](auto a, auto b) { return static_cast<double>(a - b); }},
        {"<<", 8, [](auto a, auto b) { return std::ldexp(a, static_cast<int>(b)); }},
        {">>", 8, [](auto a, auto b) { return std::floor(std::ldexp(a, -static_cast<int>(b))); }},
        {"<", 7, [](auto a, auto b) { return a < b ? 1.0 : 0.0; }},
        {"<=", 7, [](auto a, auto b) { return a <= b ? 1.0 : 0.0; }},
        {">", 7, [](auto a, auto b) { return a > b ? 1.0 : 0.0; }},
        {">=", 7, [](auto a, auto b) { return a >= b ? 1.0 : 0.0; }},
        {"==", 6, [](auto a, auto b) { return a == b ? 1.0 : 0.0; }},
        {"!=", 6, [](auto a, auto b) { return a != b ? 1.0 : 0.0; }},
        {"&", 5, [](auto a, auto b) { return static_cast<double>(a & b); }},
        {"^", 4, [](auto a, auto b) { return static_cast<double>(a ^ b); }},
        {"|", 3, [](auto a, auto b) { return static_cast<double>(a | b); }},
        {"&&", 2, [](auto a, auto b) { return a != 0 && b != 0 ? 1.0 : 0.0; }},
        {"||", 1, [](auto a, auto b) { return a != 0 || b != 0 ? 1.0 : 0.0; }}};
    return all;
}

std::string value_or_refusal(const std::string& text) {
    const std::string refused = refusal(text);
    return refused == "accepted" ? std::to_string(of(text)) : refused.substr(refused.find(':'));
}

} // namespace

TEST_CASE("every operator gives what C gives for it", "[unit]") {
    for (const Operator& one : operators()) {
        for (const std::int64_t a : {-7, -2, -1, 0, 1, 2, 3, 9}) {
            for (const std::int64_t b : {-3, -1, 0, 1, 2, 3, 8}) {
                CAPTURE(one.sign, a, b);
                const std::string text = std::to_string(a) + one.sign + std::to_string(b);
                if (b == 0 && (one.sign == "/" || one.sign == "%")) {
                    CHECK(refusal(text).find("division by zero") != std::string::npos);
                } else if (b < 0 && one.strength == 8) {
                    CHECK(refusal(text).find("expected 0..52") != std::string::npos);
                } else {
                    CHECK(of(text) == one.value(a, b));
                }
            }
        }
    }
}

TEST_CASE("of two operators the stronger binds first, and of equals the left one", "[unit]") {
    for (const Operator& left : operators()) {
        for (const Operator& right : operators()) {
            for (const auto* const numbers : {"9 2 5", "1 1 0", "2 4 1", "0 3 3"}) {
                const std::string a(1, numbers[0]);
                const std::string b(1, numbers[2]);
                const std::string c(1, numbers[4]);
                const std::string text = a + " " + left.sign + " " + b + " " + right.sign + " " + c;
                const std::string meant = left.strength >= right.strength
                                              ? "(" + a + left.sign + b + ")" + right.sign + c
                                              : a + left.sign + "(" + b + right.sign + c + ")";
                CAPTURE(text, meant);
                CHECK(value_or_refusal(text) == value_or_refusal(meant));
            }
        }
    }
}

TEST_CASE("blanks may stand between all parts of an expression", "[unit]") {
    const std::vector<std::vector<std::string>> texts{
        {"-", "rows", "+", "(", "2", "-", "columns", ")", "*", "3"},
        {"!", "rows", "||", "~", "columns", "&&", "+", "1"},
        {"rows", ">", "3", "?", "7", ":", "9"},
        {"max", "(", "1", ",", "rows", ",", "3", ")"},
        {"addr", "(", "x", ")", "+", "elements", "(", "x", ")"},
        {"at", "(", "x", ",", "2", ")", "<<", "1"},
        {"sum", "(", "k", ",", "0", ",", "4", ",", "k", "*", "rows", ")"}};
    for (const auto& parts : texts) {
        std::string tight;
        for (const auto& part : parts) {
            tight += part;
        }
        const double expected = of(tight);
        for (const std::string blank : {" ", "  ", "\t", "\n", "\v", "\f", "\r"}) {
            std::string text = blank;
            for (const auto& part : parts) {
                text += part + blank;
            }
            CAPTURE(text);
            CHECK(of(text) == expected);
        }
    }
    CHECK(refusal("  rows   2") == "10: got '2', expected an operator or the end");
    CHECK(refusal("  addr(  y)") == "10: addr: unknown name 'y'");
    CHECK(refusal("  at(  z, 1)") == "8: at: unknown array 'z'");
    CHECK(refusal("1   / 0") == "5: division by zero");
    CHECK(refusal("1 +  ~ 2.5") == "6: ~: got 2.5, expected a whole number");
    CHECK(refusal("1 \x0e+ 2").find("expected an operator") != std::string::npos);
    CHECK(refusal("1 \x08+ 2").find("expected an operator") != std::string::npos);
}

TEST_CASE("whole numbers go up to 2^53, shifts up to 52 bits", "[unit]") {
    const std::string largest = "9007199254740992";
    CHECK(of(largest + " % 10") == 2);
    CHECK(of("-" + largest + " % 10") == -2);
    CHECK(refusal("9007199254740994 % 10").find("expected a whole number") != std::string::npos);
    CHECK(refusal("-9007199254740994 & 1").find("expected a whole number") != std::string::npos);
    CHECK(refusal("nan | 1").find("expected a whole number") != std::string::npos);
    CHECK(of("1 << 0") == 1);
    CHECK(of("1 << 52") == std::ldexp(1.0, 52));
    CHECK(of(largest + " >> 52") == 2);
    CHECK(refusal("1 << 53") == "3: shift: got 53 bits, expected 0..52");
    CHECK(refusal("1 >> -1") == "3: shift: got -1 bits, expected 0..52");
    CHECK(refusal("at(x, -1)") == "1: at: got index -1, expected 0..2");
    CHECK(of("at(x, 0)") == 3);
    CHECK(of("0XfF + 0x0") == 255);
    for (const std::string wrong : {"0x", "0xg", "0x1g", ".", "1e"}) {
        CAPTURE(wrong);
        CHECK(refusal("2 + " + wrong) == "5: got what is no number");
    }
}

TEST_CASE("an expression is so deep and so long and no more", "[unit]") {
    const auto times = [](const std::string& part, int count) {
        std::string text;
        for (int i = 0; i < count; ++i) {
            text += part;
        }
        return text;
    };
    // the number inside is a level too
    for (const int levels : {99, 100}) {
        for (const std::string& text :
             {times("(", levels) + "1" + times(")", levels), times("-", levels) + "1",
              times("+", levels) + "1", times("!", levels) + "1", times("~", levels) + "1",
              times("max(", levels) + "1" + times(")", levels),
              times("1 ? ", levels) + "1" + times(" : 0", levels),
              times("0 ? 1 : ", levels) + "1"}) {
            CAPTURE(text);
            const std::string refused = refusal(text);
            CHECK((levels < 100 ? refused == "accepted"
                                : refused.find("got more than 100 levels") != std::string::npos));
        }
    }
    const std::string longest = "1" + std::string(kLongest - 1, ' ');
    CHECK(of(longest) == 1);
    CHECK(refusal(longest + " ") ==
          "1: got an expression of 1000001 characters, expected at most 1000000");
}

TEST_CASE("names have letters, digits and dots between letters", "[unit]") {
    CHECK(names_in("a.b") == std::vector<std::string>{"a.b"});
    CHECK(names_in("a.b.c + _x1.y_2") == std::vector<std::string>{"a.b.c", "_x1.y_2"});
    CHECK(refusal("rows.1") == "5: got '.', expected an operator or the end");
    CHECK(refusal("rows..columns") == "5: got '.', expected an operator or the end");
    for (const auto& [wrong, right] :
         std::vector<std::pair<std::string, std::string>>{{"att", "at"},
                                                          {"sun", "sum"},
                                                          {"adr", "addr"},
                                                          {"simbol", "symbol"},
                                                          {"tanhh", "tanh"}}) {
        CHECK(refusal(wrong + "(1)") ==
              "1: unknown function '" + wrong + "'; did you mean '" + right + "'?");
    }
    CHECK(refusal("addr(xx)").find("unknown name 'xx'; did you mean 'x'?") != std::string::npos);
}
