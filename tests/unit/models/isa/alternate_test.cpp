// SPDX-License-Identifier: MIT
// .altmacro: other ways to write arguments and to name parameters, as GNU assemblers have them.
#include "tests/unit/models/isa/assemble_support.h"

#include <catch2/catch.hpp>

using namespace tessera;
using namespace tessera::isa;
using namespace tessera::isa::test;

using Lines = std::vector<std::string>;
using Words = std::vector<std::uint32_t>;

namespace {

/// What the parameters of a macro with .altmacro are in a call: the text of a message.
std::string shown(const std::string& call) {
    const auto mistakes = mistakes_of(".altmacro\n.macro M x, y, z\n.error \"[\\x][\\y][\\z]\"\n"
                                      ".endm\n" +
                                      call);
    REQUIRE(mistakes.size() == 1);
    const std::string& text = mistakes[0];
    const std::size_t begin = text.find("[");
    return begin == std::string::npos ? text : text.substr(begin, text.find('\n') - begin);
}

} // namespace

TEST_CASE("angle brackets keep what would end an argument", "[isa]") {
    CHECK(shown("M <a, b c>, d") == "[a, b c][d][]");
    CHECK(shown("M <a <b> c>, d") == "[a <b> c][d][]");
    CHECK(shown("M <a !> b!!>, d") == "[a > b!][d][]");
    CHECK(shown("M <>, d") == "[][d][]");
    CHECK(shown("M y=<1, 2>, z=3") == "[][1, 2][3]");
    CHECK(shown("M <a><b>") == "[ab][][]");
    // only with .altmacro
    CHECK(words_of(".macro M x, y\n.int \\x, \\y\n.endm\nM 1 < 2, 3") == Words{0xffffffff, 3});
    CHECK(words_of(".altmacro\n.noaltmacro\n.macro M x, y\n.int \\x, \\y\n.endm\nM 1 < 2, 3") ==
          Words{0xffffffff, 3});
}

TEST_CASE("quotes keep theirs", "[isa]") {
    CHECK(words_of(".altmacro\n.macro M x\n.ascii \\x\n.endm\nM \"ab, c\"") ==
          words_of(".ascii \"ab, c\""));
    CHECK(words_of(".altmacro\n.macro M x\n.ascii \\x\n.endm\nM 'ab!'c'") ==
          words_of(".ascii \"ab'c\""));
}

TEST_CASE("a per cent sign gives the value of an expression", "[isa]") {
    CHECK(shown("n = 5\nM %n + 1, n + 1, %(-n)") == "[6][n+1][-5]");
    CHECK(shown("M z=%CTXT_WORKERS") == "[][][6]");
    CHECK(words_of(".altmacro\nn = 3\n.irp x, %n, <4>\n.int x\n.endr") == Words{3, 4});
    const auto mistakes = mistakes_of(".altmacro\n.macro M x\n.endm\nM %later\nlater = 1");
    CHECK(mistakes == Lines{"a.S:4:4: %: got a value that is not known yet, expected a number or a "
                            "difference of labels above"});
}

TEST_CASE("parameters need no backslash", "[isa]") {
    const std::string head = ".altmacro\n.macro M reg, n\n";
    CHECK(words_of(head + "add $reg, $reg, n\n.endm\nM m3, 7") == words_of("add $m3, $m3, 7"));
    CHECK(words_of(head + "add $\\reg, $reg, \\n\n.endm\nM m3, 7") == words_of("add $m3, $m3, 7"));
    // whole names only, and no digits
    CHECK(words_of(head + "nn = 1\n.int nn, n\n.endm\nM m3, 9") == Words{1, 9});
    CHECK(words_of(head + ".int 0xb, 1b - 1b\n.endm\n1: M m3, 9").at(0) == 0xb);
    CHECK(words_of(head + "x.n = 1\n.int x.n\n.endm\nM m3, 9") == Words{1});
    // joined by an ampersand
    CHECK(words_of(head + "reg&n = 4\n.int reg&n\n.endm\nM part, 2\n.int part2") == Words{4, 4});
    CHECK(words_of(head + "x&n&y = 4\n.int x2y\n.endm\nM part, 2") == Words{4});
    CHECK(words_of(head + ".int 6 & n\n.endm\nM part, 3") == Words{2});
    // without .altmacro they do
    CHECK(mistakes_of(".macro M n\n.int n\n.endm\nM 1").size() == 1);
}

TEST_CASE("locals are new names in each expansion", "[isa]") {
    const std::string wait = ".altmacro\n.macro WAIT n\nLOCAL loop, done\nsetzi $m0, n\n"
                             "loop: brz $m0, done\nadd $m0, $m0, -1\nbri loop\ndone:\n.endm\n";
    const std::string by_hand = "setzi $m0, 3\n1: brz $m0, 2f\nadd $m0, $m0, -1\nbri 1b\n2:\n";
    CHECK(words_of(wait + "WAIT 3\nWAIT 3") == words_of(by_hand + by_hand));
    CHECK(assembled(wait + "WAIT 3\nWAIT 3").symbols.empty()); // their names begin with .L
    CHECK(words_of(".altmacro\n.macro M\n  local x , y\nx = 5\ny = 6\n.int x, y\n.endm\nM") ==
          Words{5, 6});
    // their numbers have four digits, or as many as they need
    CHECK(words_of(".altmacro\n.macro M\nLOCAL x\nx = 7\n.endm\n.rept 18\nM\n.endr\n"
                   ".int .LL0001, .LL000f, .LL0010, .LL0012") == Words{7, 7, 7, 7});
    // the word is no more than a word without .altmacro
    CHECK(mistakes_of(".macro M\nLOCAL x\n.endm\nM").size() == 1);
    // and in a repetition
    CHECK(mistakes_of(".altmacro\n.rept 1\nLOCAL x\n.endr").size() == 1);
}
