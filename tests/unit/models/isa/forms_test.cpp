// SPDX-License-Identifier: MIT
// Forms of operands that the machine's own assembler takes, and those that it refuses.
#include "tests/unit/models/isa/assemble_support.h"

#include <catch2/catch.hpp>

using namespace tessera;
using namespace tessera::isa;
using namespace tessera::isa::test;

using Lines = std::vector<std::string>;
using Words = std::vector<std::uint32_t>;

namespace {

/// The mistake of a text of one, without the file.
std::string mistake(const std::string& text) {
    const Lines all = mistakes_of(text);
    return all.size() == 1 ? all[0].substr(4) : std::to_string(all.size()) + " mistakes";
}

std::vector<std::string> mistakes_for(int architecture, const std::string& text) {
    Target target;
    target.architecture = architecture;
    try {
        static_cast<void>(assemble("test", {{"a.S", text}}, kBase, options_for(target)));
    } catch (const ConfigError& error) {
        Lines texts;
        for (const Diagnostic& diagnostic : error.diagnostics()) {
            texts.push_back(diagnostic.text());
        }
        return texts;
    }
    return {};
}

} // namespace

TEST_CASE("a mnemonic may say how its constant is extended", "[isa]") {
    // what fits the zero-extended form takes it, and the sign-extended one on request
    for (const std::string name : {"add", "cmpeq", "min", "max"}) {
        CAPTURE(name);
        const std::string rest = " $m0, $m1, ";
        CHECK(words_of(name + "z" + rest + "5") == words_of(name + rest + "5"));
        CHECK(words_of(name + "z" + rest + "65535") == words_of(name + rest + "65535"));
        CHECK(words_of(name + "s" + rest + "-5") == words_of(name + rest + "-5"));
        CHECK(words_of(name + "s" + rest + "-32768") == words_of(name + rest + "-32768"));
        CHECK(words_of(name + "s" + rest + "5") != words_of(name + rest + "5"));
        CHECK(listing_of(name + "s" + rest + "32767") == Lines{name + "s" + rest + "0x7fff"});
        CHECK(mistake(name + "z" + rest + "-1").find("expected constant 0..65535") !=
              std::string::npos);
        CHECK(mistake(name + "z" + rest + "65536").find("got 65536") != std::string::npos);
        CHECK(mistake(name + "s" + rest + "32768").find("expected constant -32768..32767") !=
              std::string::npos);
        CHECK(mistake(name + "s" + rest + "-32769").find("got -32769") != std::string::npos);
        CHECK(mistake(name + "s" + rest + "$m2").find("got $m2") != std::string::npos);
    }
    CHECK(words_of("subz $m0, 5, $m1") == words_of("sub $m0, 5, $m1"));
    CHECK(words_of("subs $m0, -5, $m1") == words_of("sub $m0, -5, $m1"));
    CHECK(listing_of("subs $m0, 5, $m1") == Lines{"subs $m0, 5, $m1"});
    CHECK(mistake("subz $m0, -1, $m1") ==
          "1:11: subz: operand 2: got -1, expected constant 0..65535");
    CHECK(mistake("subs $m0, 32768, $m1") ==
          "1:11: subs: operand 2: got 32768, expected constant -32768..32767");
}

TEST_CASE("strap is the supervisor's", "[isa]") {
    CHECK(listing_of("strap 15") == Lines{"strap 15"});
    CHECK(words_of("strap 1") != words_of("trap 1"));
    CHECK(mistake(".worker\nstrap 1") == "2:1: strap: got worker code, expected supervisor code");
    CHECK(mistake("strap 16") == "1:7: strap: operand 1: got 16, expected constant 0..15");
}

TEST_CASE("what sub takes off has a sign and so has its negative", "[isa]") {
    CHECK(words_of("sub $m0, $m1, 32767") == words_of("add $m0, $m1, -32767"));
    CHECK(words_of("sub $m0, $m1, -32767") == words_of("add $m0, $m1, 32767"));
    for (const std::string value : {"32768", "-32768", "65535", "-65535"}) {
        CHECK(mistake("sub $m0, $m1, " + value) ==
              "1:15: sub: operand 3: got " + value +
                  ", expected $m register or constant -32767..32767");
    }
    // a constant in front has the two forms of the machine
    CHECK(mistakes_of("sub $m0, 65535, $m1\nsub $m0, -32768, $m1").empty());
    CHECK(mistake("sub $m0, 65536, $m1") == "1:10: sub: operand 2: got 65536, expected $m "
                                            "register, constant 0..65535 or constant "
                                            "-32768..32767");
    CHECK(mistake("sub $m0, -32769, $m1").find("got -32769") != std::string::npos);
}

TEST_CASE("pairs of the aux file have names", "[isa]") {
    for (int pair = 0; pair < 8; ++pair) {
        const std::string first = std::to_string(2 * pair);
        CHECK(words_of("ld64 $ap" + std::to_string(pair) + ", $m0, 0") ==
              words_of("ld64 $a" + first + ":" + std::to_string(2 * pair + 1) + ", $m0, 0"));
    }
    CHECK(mistake("f32add $ap0, $a1, $a2") ==
          "1:8: f32add: operand 1: got $a0:1, expected $a register");
    CHECK(mistake("f16v4acc $ap8") == "1:10: register '$ap8': not known; did you mean 'a8'?");
}

TEST_CASE("a dollar may begin the name of a symbol", "[isa]") {
    CHECK(words_of("$loop: bri $loop") == words_of("loop: bri loop"));
    CHECK(words_of("$size = 12\nsetzi $m0, $size + 4") == words_of("setzi $m0, 16"));
    CHECK(words_of(".set $size, 12\n.int $size, -$size") == Words{12, 0xfffffff4});
    CHECK(words_of(".int (. - $a.b) / 4\n$a.b:") == Words{0xffffffff});
    CHECK(words_of("$x = 1\n.ifdef $x\nnop\n.else\nfnop\n.endif") == words_of("nop"));
    CHECK(assembled(
              std::vector<SourceFile>{{"a.S", "bri $there"}, {"b.S", ".globl $there\n$there: nop"}})
              .symbols.at("$there") == kBase + 8);
    // a register is one wherever its name stands
    CHECK(mistake("$m0: nop") ==
          "1:1: label: got '$m0', which is a register, expected another name");
    CHECK(mistake(".int $m0") ==
          "1:6: expression: got '$m0', expected a number, symbol or parenthesis");
    CHECK(mistake("bri $nowhere") == "1:5: register '$nowhere': not known");
    CHECK(mistake("ld32 $a16:B, $m0, 0") == "1:6: register '$a16': not known; did you mean 'a1'?");
    CHECK(mistakes_of("br $m16\nbr $m16").size() == 2);
    // of a control register the name is known
    CHECK(mistake("put $FP_CLEAR, $m0") ==
          "1:5: register '$FP_CLEAR': not known; did you mean 'FP_CLR'?");
    AssemblyOptions alone = options_for(kDefaultTarget);
    alone.allow_undefined = true;
    AssemblyTally tally;
    static_cast<void>(assemble("test", {{"a.S", "bri $there"}}, kBase, alone, &tally));
    REQUIRE(tally.undefined.size() == 1);
    CHECK(tally.undefined[0].name == "$there");
    CHECK_THROWS_AS(assemble("test", {{"a.S", "put $FP_CLEAR, $m0"}}, kBase, alone), ConfigError);
}

TEST_CASE("an operand may say which bits of an address it takes", "[isa]") {
    const std::string at = "x = 0x4c010\n";
    CHECK(words_of(at + "bri x@abs19@s2") == words_of(at + "bri x"));
    CHECK(words_of(at + "bri (x + 4)@abs19@s2") == words_of(at + "bri x + 4"));
    CHECK(words_of(at + "bri x@abs19@s2 + 4") == words_of(at + "bri x + 4"));
    CHECK(words_of(at + "call $m10, x@abs20@s2") == words_of(at + "call $m10, x"));
    CHECK(words_of(at + "setzi $m0, x@abs20") == words_of(at + "setzi $m0, x"));
    CHECK(words_of(at + "setzi $m0, x@abs18@s2") == words_of("setzi $m0, 0x13004"));
    CHECK(words_of("bri 1f@abs19@s2\n1: nop") == words_of("bri 1f\n1: nop"));
    CHECK(words_of("$x: bri $x@abs19@s2") == words_of("x: bri x"));
    CHECK(words_of(at + ".int x@abs32, x@relative@16@s2\n.short x@relative@16") ==
          Words{0x4c010, 4, 0x10});
    CHECK(mistake("setzi $m0, x@abs8\nx = 256") ==
          "1:12: relocation @abs8: got 256, expected 0..255");
    CHECK(mistake("setzi $m0, x@abs8@s2\nx = 1022") ==
          "1:12: relocation @abs8@s2: got 1022, expected a multiple of 4, 0..1020");
    CHECK(words_of("setzi $m0, x@abs8@s2\nx = 1020") == words_of("setzi $m0, 255"));
    CHECK(mistake("setzi $m0, x@relative@16@s2\nx = 0x4bffc") ==
          "1:12: relocation @relative@16@s2: got -4 from the start of memory, expected a multiple "
          "of 4, 0..262140");
    CHECK(mistake("setzi $m0, (1)@rel8") ==
          "1:15: relocation: got '@rel8', expected @absN or @relative@N, @sK behind it, as "
          "@abs19@s2");
    CHECK(mistake("setzi $m0, x@abs8 + x@abs8\nx = 1") ==
          "1:21: relocation: got a second one, expected one in an expression");
    // a field counts as a number, not as an address
    CHECK(words_of("run $m0, $m1, x@relative@16@s2\n.space 12\nx:")[0] ==
          words_of("run $m0, $m1, 4")[0]);
}

TEST_CASE("a relocation takes 1 to 32 bits of an address that is shifted by at most 8", "[isa]") {
    const auto is_taken = [](const std::string& field) {
        const std::string address = field.front() == 'a' ? "0x00000" : "0x4c000"; // 0 of its kind
        const auto told = mistakes_of("setzi $m0, (" + address + ")@" + field);
        const bool is_told =
            told == Lines{"a.S:1:21: relocation: got '@" + field +
                          "', expected @absN or @relative@N, @sK behind it, as @abs19@s2"};
        CHECK((told.empty() || is_told));
        return !is_told;
    };
    for (const std::string kind : {"abs", "relative@"}) {
        for (int bits = 0; bits < 100; ++bits) {
            CAPTURE(kind, bits);
            CHECK(is_taken(kind + std::to_string(bits)) == (bits >= 1 && bits <= 32));
        }
        for (int shift = 0; shift < 100; ++shift) {
            CAPTURE(kind, shift);
            CHECK(is_taken(kind + "8@s" + std::to_string(shift)) == (shift <= 8));
        }
        CHECK(is_taken(kind + "08@s08"));
        CHECK_FALSE(is_taken(kind + "008"));
        CHECK_FALSE(is_taken(kind + "8@s008"));
        CHECK_FALSE(is_taken(kind + "8x"));
    }
    // whose top bit counts, and the first that does not fit
    CHECK(words_of("setzi $m0, (1)@abs1") == words_of("setzi $m0, 1"));
    CHECK(mistake("setzi $m0, (2)@abs1") == "1:15: relocation @abs1: got 2, expected 0..1");
    CHECK(words_of(".int (0xffffffff00)@abs32@s8") == Words{0xffffffff});
    CHECK(mistake(".int (0x10000000000)@abs32@s8") ==
          "1:21: relocation @abs32@s8: got 1099511627776, expected a multiple of 256, "
          "0..1099511627520");
}

TEST_CASE("run takes the address of the vertex", "[isa]") {
    CHECK(words_of("run $m0, $m1, x\n.space 12\nx:")[0] == words_of("run $m0, $m1, 4")[0]);
    CHECK(words_of("x: run $m0, $m1, x + 8") == words_of("run $m0, $m1, 2"));
    CHECK(words_of("x: nop\ny: run $m0, $m1, y - x").back() ==
          words_of("run $m0, $m1, 4").back()); // a distance is a number
    CHECK(words_of("run $m0, $m1, 65535") == words_of("x: run $m0, $m1, x + 262140"));
    CHECK(listing_of("x: run $m0, $m1, x + 8") == Lines{"run $m0, $m1, 2"});
    const std::string expected =
        ", expected constant 0..65535 or address (a multiple of 4, at most "
        "262140 behind the start of memory)";
    CHECK(mistake("x: run $m0, $m1, x + 2") == "1:18: run: operand 3: got 311298" + expected);
    CHECK(mistake("x: run $m0, $m1, x + 262144") == "1:18: run: operand 3: got 573440" + expected);
    CHECK(mistake("x: run $m0, $m1, x - 4") == "1:18: run: operand 3: got 311292" + expected);
    CHECK(mistake("run $m0, $m1, 65536") == "1:15: run: operand 3: got 65536" + expected);
    // the constant of runall is a stride
    CHECK(mistake("x: runall $m0, $m1, x") ==
          "1:21: runall: operand 3: got 311296, expected constant 0..65535");
}

TEST_CASE("a result may go to the register that steps", "[isa]") {
    for (const std::string name : {"ld32step", "ldz8step", "lds8step", "ldz16step", "lds16step"}) {
        for (const std::string step : {"1", "$m2"}) {
            const std::string text = name + " $m0, $mzero, $m0+=, " + step;
            CAPTURE(text);
            CHECK(listing_of(text) == Lines{text});
        }
    }
    CHECK(mistake("ldd16a32 $a0, $m1++, $m2, $m1@") ==
          "1:1: ldd16a32: two results go to the same register, expected different ones");
}

TEST_CASE("control registers are those of who runs the code, and of the generation", "[isa]") {
    for (const std::string name : {"COUNT_L", "COUNT_U"}) {
        CHECK(mistakes_of(".worker\nget $m0, $" + name).empty());
        CHECK(mistake(".supervisor\nget $m0, $" + name) ==
              "2:10: control register $" + name + ": got supervisor code, expected worker code");
        CHECK(mistakes_of(".supervisor\nget $m0, $S" + name).empty());
        CHECK(mistake(".worker\nget $m0, $S" + name) ==
              "2:10: control register $S" + name + ": got worker code, expected supervisor code");
    }
    for (const std::string text :
         {"put $FP_INFMT, $m0", "put $FP_ISCL, $m0", "uput $FP_NFMT, $a0", "uget $a0, $FP_SCL"}) {
        CAPTURE(text);
        CHECK(mistakes_for(21, text).empty());
        for (const int architecture : {1, 2}) {
            const Lines mistakes = mistakes_for(architecture, text);
            REQUIRE(mistakes.size() == 1);
            CHECK(mistakes[0].find(": got architecture " + std::to_string(architecture) +
                                   ", expected 21, which has FP8") != std::string::npos);
        }
    }
    CHECK(mistake("put $FP_INFMT, $m0") == "1:5: control register $FP_INFMT: got architecture 2, "
                                           "expected 21, which has FP8");
}
