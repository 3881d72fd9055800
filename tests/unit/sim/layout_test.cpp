// SPDX-License-Identifier: MIT
#include "base/layout.h"

#include <catch2/catch.hpp>

#include <set>
#include <string>
#include <vector>

using namespace tessera;

namespace {

Layout of(std::size_t columns) {
    return {.columns = columns, .color = false};
}

} // namespace

TEST_CASE("words are wrapped at the last column and not before") {
    // "aaa bbb ccc" has 11 characters; a wrapped text has room for 24 in any case
    const std::string text = "aaaaaaaaaaaa bbbbbbbbbbbb ccc";
    CHECK(wrapped(of(29), 0, text) == text + "\n");
    CHECK(wrapped(of(28), 0, text) == "aaaaaaaaaaaa bbbbbbbbbbbb\nccc\n");
    CHECK(wrapped(of(25), 0, text) == "aaaaaaaaaaaa bbbbbbbbbbbb\nccc\n");
    CHECK(wrapped(of(24), 0, text) == "aaaaaaaaaaaa\nbbbbbbbbbbbb ccc\n");
    CHECK(wrapped(of(31), 2, text) == "  " + text + "\n");
    CHECK(wrapped(of(30), 2, text) == "  aaaaaaaaaaaa bbbbbbbbbbbb\n  ccc\n");
    CHECK(wrapped(of(24), 0, "a   b  ") == "a b\n");
    CHECK(wrapped(of(24), 4, "") == "\n");
    const std::string word(50, 'w');
    CHECK(wrapped(of(30), 0, "x " + word + " y") == "x\n" + word + "\ny\n");
    CHECK(wrapped(of(24), 0, "12345678901234567890123 %") == "12345678901234567890123 %\n");
    CHECK(wrapped(of(24), 0, "a % b %c") == "a % b %c\n");
    // characters are counted, not bytes
    CHECK(wrapped(of(24), 0, "µµµµµµµµµµµµ µµµµµµµµµµµ") == "µµµµµµµµµµµµ µµµµµµµµµµµ\n");
}

TEST_CASE("a head stands in front of the first line, or above all") {
    CHECK(paragraph(of(40), "head", 6, "text") == "head  text\n");
    CHECK(paragraph(of(40), "", 6, "text") == "      text\n");
    CHECK(paragraph(of(40), "head", 5, "text") == "head text\n");
    CHECK(paragraph(of(40), "head", 4, "text") == "head\n    text\n");
    CHECK(paragraph(of(40), "head", 6, "") == "head\n");
    CHECK(paragraph(of(30), "head", 6, "aaaaaaaaaaaaaaaaa 12.0 % b") ==
          "head  aaaaaaaaaaaaaaaaa 12.0 %\n      b\n");
    CHECK(paragraph(of(30), "head", 6, "aaaaaaaaaaaaaaaaaa 12.0 %, b") ==
          "head  aaaaaaaaaaaaaaaaaa\n      12.0 %, b\n"); // a number and its sign stay together
    CHECK(paragraph(of(30), "head", 6, "aaaaaaaaaaaa bbbbbbbbbbbb") ==
          "head  aaaaaaaaaaaa\n      bbbbbbbbbbbb\n");
}

TEST_CASE("columns of a table are as wide as their widest cell, the last one is wrapped") {
    const std::vector<std::vector<std::string>> rows{{"a", "1", "one"}, {"bcd", "22", "two words"}};
    CHECK(table(of(80), 0, {Align::Left, Align::Right, Align::Left}, rows) ==
          "a     1  one\nbcd  22  two words\n");
    CHECK(table(of(80), 2, {Align::Right, Align::Left, Align::Right}, rows) ==
          "    a  1         one\n  bcd  22  two words\n");
    const std::string long_text = "aaaaaaaaaaaaaaa bbbbbbbbbbbbbbb";
    CHECK(table(of(35), 1, {Align::Left, Align::Left}, {{"x", long_text}, {"y", ""}}) ==
          " x  " + long_text + "\n y\n");
    CHECK(table(of(34), 1, {Align::Left, Align::Left}, {{"x", long_text}, {"y", ""}}) ==
          " x  aaaaaaaaaaaaaaa\n    bbbbbbbbbbbbbbb\n y\n");
    // the last column has room for 24 characters in any case
    const std::string least = "aaaaaaaaaaaa bbbbbbbbbbb";
    REQUIRE(least.size() == 24);
    CHECK(table(of(1), 1, {Align::Left, Align::Left}, {{"x", least}}) == " x  " + least + "\n");
    CHECK(table(of(1), 1, {Align::Left, Align::Left}, {{"x", least + "b"}}) ==
          " x  aaaaaaaaaaaa\n    bbbbbbbbbbbb\n");
    CHECK(table(of(80), 0, {Align::Right}, {{"1"}, {"22"}}) == " 1\n22\n");
}

TEST_CASE("colors and the bytes of a character take no room") {
    const Layout colored{.columns = 80, .color = true};
    CHECK(painted(of(80), Paint::Bad, "x") == "x");
    CHECK(painted(colored, Paint::Bad, "x").find("x\033[0m") != std::string::npos);
    CHECK(painted(colored, Paint::Bad, "").empty());
    std::set<std::string> looks;
    for (const Paint paint : {Paint::Head, Paint::Good, Paint::Bad, Paint::Warning, Paint::Quiet}) {
        looks.insert(painted(colored, paint, "x"));
    }
    CHECK(looks.size() == 5);
    CHECK(width_of(painted(colored, Paint::Head, "word")) == 4);
    CHECK(width_of("µs") == 2);
    CHECK(paragraph(colored, painted(colored, Paint::Head, "head"), 6, "text") ==
          painted(colored, Paint::Head, "head") + "  text\n");
}
