// SPDX-License-Identifier: MIT
// Conditions of the assembler itself.
#include "tests/unit/models/isa/assemble_support.h"

#include <catch2/catch.hpp>

using namespace tessera;
using namespace tessera::isa;
using namespace tessera::isa::test;

using Lines = std::vector<std::string>;
using Words = std::vector<std::uint32_t>;

namespace {

bool holds(const std::string& condition, const std::string& before = "") {
    return words_of(before + "\n" + condition + "\n.int 1\n.else\n.int 0\n.endif\n").back() == 1;
}

} // namespace

TEST_CASE("conditions compare a number with zero", "[isa]") {
    CHECK(holds(".if 1"));
    CHECK(holds(".if -1"));
    CHECK_FALSE(holds(".if 2 - 2"));
    CHECK(holds(".ifne 3"));
    CHECK(holds(".ifeq 0"));
    CHECK_FALSE(holds(".ifeq 1"));
    CHECK(holds(".ifgt 1"));
    CHECK_FALSE(holds(".ifgt 0"));
    CHECK(holds(".ifge 0"));
    CHECK_FALSE(holds(".ifge -1"));
    CHECK(holds(".iflt -1"));
    CHECK_FALSE(holds(".iflt 0"));
    CHECK(holds(".ifle 0"));
    CHECK_FALSE(holds(".ifle 1"));
    CHECK(holds(".if N == 3 && M > N", ".equ N, 3\nM = 4"));
    CHECK(holds(".if CTXT_WORKERS == 6"));
}

TEST_CASE("conditions may use differences of labels above", "[isa]") {
    CHECK(holds(".if (. - 7b) & 0x7", "7: nop"));
    CHECK_FALSE(holds(".if (. - 7b) & 0x7", "7: nop ; nop"));
    CHECK(holds(".if end - start == 12", "start: nop\n{ nop ; fnop }\nend:"));
    CHECK(listing_of("7: nop\n.if (. - 7b) & 0x7\nnop\n.endif\nfnop") ==
          Lines{"nop", "nop", "fnop"});
    const std::string unknown = "got a value that is not known yet, expected a number or a "
                                "difference of labels above";
    CHECK(mistakes_of(".if later\n.endif\nlater = 1") == Lines{"a.S:1:5: .if: " + unknown});
    CHECK(mistakes_of("x: .ifeq 1f - x\n.endif\n1:") == Lines{"a.S:1:10: .ifeq: " + unknown});
    CHECK(mistakes_of("x: .if x\n.endif") == Lines{"a.S:1:8: .if: " + unknown});
}

TEST_CASE("places of one section are compared where they stand", "[isa]") {
    const std::string labels = "x: nop\ny: nop\n";
    const auto compared = [&](const std::string& sign, const std::string& left,
                              const std::string& right) {
        return words_of(labels + ".if " + left + " " + sign + " " + right +
                        "\n.int 1\n.else\n.int 2\n.endif")
                   .back() == 1;
    };
    struct Row {
        std::string sign;
        bool less;
        bool equal;
        bool greater;
    };
    for (const Row& row :
         {Row{"==", false, true, false}, Row{"!=", true, false, true}, Row{"<>", true, false, true},
          Row{"<", true, false, false}, Row{"<=", true, true, false}, Row{">", false, false, true},
          Row{">=", false, true, true}}) {
        CAPTURE(row.sign);
        CHECK(compared(row.sign, "x", "y") == row.less);
        CHECK(compared(row.sign, "x", "x") == row.equal);
        CHECK(compared(row.sign, "y", "x") == row.greater);
        CHECK(compared(row.sign, "x + 4", "y") == row.equal);
    }
}

TEST_CASE("of a place only the distance from another of its section is known where it stands",
          "[isa]") {
    const std::string labels = ".data\nz: .int 0\n.text\nnop\nx: nop\ny: nop\n";
    const auto is_known = [&](const std::string& expression) {
        const auto told = mistakes_of(labels + ".space " + expression);
        const bool is_told =
            told == Lines{"a.S:7:1: .space: got a value that is not known yet, expected a number "
                          "of bytes"};
        CHECK((told.empty() || is_told));
        return told.empty();
    };
    for (const std::string known : {"y - x", "x - x", "(x + 8) - y", "x - (y - 4)", "(8 + x) - x",
                                    "(y - x) * 2", "-(x - y)", "(x == x) & 4", "(y >= x) & 4"}) {
        CAPTURE(known);
        CHECK(is_known(known));
    }
    for (const std::string unknown :
         {"x",      "x + 4",  "x - 4",  "4 - x",  "x + x",       "x * 2",        "2 * x", "x | 1",
          "x & 1",  "x << 1", "x / 4",  "x % 4",  "-x",          "~x",           "!x",    "x - z",
          "x == z", "x < 4",  "x && y", "x || 0", "(x + z) - z", "x - 4 - y + y"}) {
        CAPTURE(unknown);
        CHECK_FALSE(is_known(unknown));
    }
    // nor is a common symbol, which has its place after all sources
    CHECK(mistakes_of(".comm c, 4\n.space c") ==
          Lines{"a.S:2:1: .space: got a value that is not known yet, expected a number of bytes"});
}

TEST_CASE("texts are compared", "[isa]") {
    CHECK(holds(".ifc abc, abc"));
    CHECK(holds(".ifc  a b ,a b "));
    CHECK(holds(".ifc \"abc\", abc"));
    CHECK(holds(".ifc \"a,b\", \"a,b\""));
    CHECK_FALSE(holds(".ifc abc, ABC"));
    CHECK(holds(".ifc ,"));
    CHECK(holds(".ifc \"\","));
    CHECK(holds(".ifeqs \"\", \"\""));
    CHECK(holds(".ifnc abc, abd"));
    CHECK(holds(".ifeqs \"x\", \"x\""));
    CHECK(holds(".ifnes \"x\", \"y\""));
    CHECK(holds(".ifb"));
    CHECK(holds(".ifb "));
    CHECK_FALSE(holds(".ifb x"));
    CHECK(holds(".ifnb x"));
    CHECK(words_of(".macro M t\n.ifc \\t, half\n.int 1\n.elseif 1\n.int 2\n.endif\n.endm\n"
                   "M half\nM float") == Words{1, 2});
    CHECK(mistakes_of(".ifc a\n.endif") ==
          Lines{"a.S:1:6: .ifc: got one text, expected two with a comma between"});
}

TEST_CASE("conditions ask for symbols", "[isa]") {
    CHECK(holds(".ifdef x", "x = 1"));
    CHECK(holds(".ifdef x", "x: nop"));
    CHECK(holds(".ifdef x", ".weak x\nx: nop"));
    CHECK_FALSE(holds(".ifdef x", ".globl x"));
    CHECK(holds(".ifdef CTXT_WORKERS"));
    CHECK(holds(".ifndef x"));
    CHECK(holds(".ifnotdef x"));
    CHECK(mistakes_of(".ifdef 3\n.endif") == Lines{"a.S:1:8: .ifdef: expected a name"});
    for (const std::string directive : {".ifdef", ".ifndef", ".ifnotdef"}) {
        for (const std::string names : {"a b", "a, b", "a+1", ""}) {
            CAPTURE(directive, names);
            const auto told = mistakes_of(directive + " " + names + "\n.endif");
            REQUIRE(told.size() == 1);
            CHECK(told[0].find(directive + ": expected a name") != std::string::npos);
        }
    }
}

TEST_CASE("one branch is taken and the others are not read", "[isa]") {
    const std::string chain = ".if N == 1\n.int 1\n.elseif N == 2\n.int 2\n.elseif N < 4\n.int 3\n"
                              ".else\n.int 4\n.endif";
    for (std::uint32_t n = 1; n <= 4; ++n) {
        CHECK(words_of("N = " + std::to_string(n) + "\n" + chain) == Words{n});
    }
    CHECK(words_of(".if 0\n.if 1\n.int 1\n.else\n.int 2\n.endif\nno such ! thing\n.else\n.int 3\n"
                   ".endif") == Words{3});
    CHECK(words_of(".if 1 ; .int 1 ; .else ; .int 2 ; .endif") == Words{1});
    CHECK(words_of(".if 0\n.macro M\n.if\n.endm\n.endif\n.endif\n.int 5") == Words{5});
}

TEST_CASE("conditions out of shape are told", "[isa]") {
    CHECK(mistakes_of("nop\n .if 1\n.if 0\n.endif") ==
          Lines{"a.S:2:2: .if: got the end of the file, expected .endif"});
    CHECK(mistakes_of(".endif") == Lines{"a.S:1:1: .endif: no .if is open"});
    CHECK(mistakes_of(".else") == Lines{"a.S:1:1: .else: no .if is open"});
    CHECK(mistakes_of(".if 1\n.else\n.else\n.endif") ==
          Lines{"a.S:3:1: .else: got it after .else, expected .endif"});
    CHECK(mistakes_of(".if 1 2\n.endif") ==
          Lines{"a.S:1:7: statement: got '2', expected the end of the statement"});
    CHECK(mistakes_of(".if\n.endif") ==
          Lines{"a.S:1:4: expression: got the end of the line, expected a number, symbol or "
                "parenthesis"});
}
