// SPDX-License-Identifier: MIT
// Macros and repetitions of the assembler itself.
#include "tests/unit/models/isa/assemble_support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <chrono>
#include <string>

using namespace tessera;
using namespace tessera::isa;
using namespace tessera::isa::test;

using Lines = std::vector<std::string>;
using Words = std::vector<std::uint32_t>;

namespace {

/// What `\all` of a macro with the given parameters becomes: the texts between bars.
std::string shown(const std::string& parameters, const std::string& body, const std::string& call) {
    const auto mistakes =
        mistakes_of(".macro M " + parameters + "\n.error \"" + body + "\"\n.endm\nM " + call);
    REQUIRE(mistakes.size() == 1);
    const std::string& text = mistakes[0];
    const std::string start = ".error: ";
    const std::size_t begin = text.find(start);
    return begin == std::string::npos
               ? text
               : text.substr(begin + start.size(), text.find('\n') - begin - start.size());
}

} // namespace

TEST_CASE("arguments end at commas and at blanks that no operator follows", "[isa]") {
    const auto two = [](const std::string& call) { return shown("a b", "[\\a][\\b]", call); };
    CHECK(two("1, 2") == "[1][2]");
    CHECK(two("1 2") == "[1][2]");
    CHECK(two("1,2") == "[1][2]");
    CHECK(two("1 , 2") == "[1][2]");
    CHECK(two("a + b, c") == "[a+b][c]");
    CHECK(two("a +b c") == "[a+b][c]");
    CHECK(two("a+ b c") == "[a+b][c]");
    CHECK(two("a << 2 b") == "[a<<2][b]");
    CHECK(two("a -1") == "[a-1][]");
    CHECK(two(". - 7b, x") == "[.-7b][x]");
    CHECK(two("a == b && !c d") == "[a==b&&!c][d]");
    for (const std::string op :
         {"+", "-", "*", "/", "|", "^", "&", "<<", ">>", "==", "!=", "<", ">", "||", "&&", "+ ~"}) {
        INFO(op);
        std::string joined = "a" + op + "b";
        joined.erase(std::remove(joined.begin(), joined.end(), ' '), joined.end());
        CHECK(two("a " + op + " b c") == "[" + joined + "][c]");
    }
    CHECK(two(".La .Lb") == "[.La][.Lb]");
    CHECK(two("(a b) c") == "[(a b)][c]");
    CHECK(two("f(a, (b, c)) d") == "[f(a, (b, c))][d]");
    CHECK(two("$a0:1, $m3+=") == "[$a0:1][$m3+=]");
    CHECK(two("$m3+=, 1") == "[$m3+=][1]");
    CHECK(two(", 2") == "[][2]");
    CHECK(two("") == "[][]");
    CHECK(shown("a", "[\\a]", "%5") == "[%5]");
}

TEST_CASE("arguments by keyword may have blanks round the equals sign", "[isa]") {
    const std::string macro = ".macro M a b=7\n.int \\a, \\b\n.endm\n";
    CHECK(words_of(macro + "M b = 2, a =1") == Words{1, 2});
    CHECK(words_of(macro + "M a= 1") == Words{1, 7});
    CHECK(words_of(macro + "M 1 == 1") == Words{0xffffffff, 7});
}

TEST_CASE("an assignment to a macro's name is no call", "[isa]") {
    CHECK(words_of(".macro M a\n.int \\a\n.endm\nM = 5\n.int M\nM 6") == Words{5, 6});
}

TEST_CASE("quoted arguments lose their quotes and may hold commas", "[isa]") {
    CHECK(listing_of(".macro M op tail\n\\op $a0:1, $a2:3 \\tail\n.endm\n"
                     "M f16v4add \",$a4:5\"\nM not64 \"\"\nM not64") ==
          Lines{"f16v4add $a0:1, $a2:3, $a4:5", "not64 $a0:1, $a2:3", "not64 $a0:1, $a2:3"});
    CHECK(words_of(".macro M a b\n.int \\a, \\b\n.endm\nM \"1 , 2\" 3") == Words{1, 2, 3});
    CHECK(words_of(".macro M a b\n.int \\a + 0\\b\n.endm\nM \"\" 3") == Words{3});
}

TEST_CASE("arguments may be missing or be given by name", "[isa]") {
    const auto three = [](const std::string& call) {
        return shown("a=1 b c=x+2", "[\\a][\\b][\\c]", call);
    };
    CHECK(three("") == "[1][][x+2]");
    CHECK(three("5") == "[5][][x+2]");
    CHECK(three(",6") == "[1][6][x+2]");
    CHECK(three("c=7 a=8") == "[8][][7]");
    CHECK(three("5, c=7") == "[5][][7]");
    CHECK(three("a==b") == "[a==b][][x+2]"); // no name: two signs
    CHECK(shown("a, b = 4, c=", "[\\a][\\b][\\c]", "1") == "[1][4][]");
    CHECK(mistakes_of(".macro M a:req b\n.endm\nM b=1") ==
          Lines{"a.S:3:3: macro 'M': got no value for 'a', expected one"});
    // What would have come of it is not looked at.
    CHECK(mistakes_of(".macro M a:req b\nno_such\n.endm\nM b=1") ==
          Lines{"a.S:4:3: macro 'M': got no value for 'a', expected one"});
    CHECK(mistakes_of(".macro M alpha\n.endm\nM alhpa=1") ==
          Lines{"a.S:3:3: macro 'M': has no parameter 'alhpa'; did you mean 'alpha'?"});
    CHECK(mistakes_of(".macro M a b\n.endm\nM a=1, 2") ==
          Lines{"a.S:3:8: macro 'M': got an argument without a name after one with a name"});
    CHECK(mistakes_of(".macro M a b\n.endm\nM 1, 2, 3") ==
          Lines{"a.S:3:9: macro 'M': got more arguments, expected at most 2"});
    CHECK(mistakes_of(".macro M\n.endm\nM 1") ==
          Lines{"a.S:3:3: macro 'M': got more arguments, expected at most 0"});
}

TEST_CASE("a vararg takes the rest of the statement as it is", "[isa]") {
    CHECK(words_of(".macro M a rest:vararg\n.int \\a, \\rest\n.endm\nM 1, 2 , 3+ 4,5 ; .int 6") ==
          Words{1, 2, 7, 5, 6});
    CHECK(words_of(".macro S text:vararg\n.ascii \\text\n.endm\nS \"ab\" \"c;\", \"d\"\n") ==
          Words{0x3b636261, 'd'});
    CHECK(mistakes_of(".macro DEF_STACK_USAGE args:vararg\n.endm\nDEF_STACK_USAGE 0 f - .Lx, 3")
              .empty());
}

TEST_CASE("parameters are replaced wherever a backslash names them", "[isa]") {
    CHECK(words_of(".macro M p type\n.equ half_\\type\\()_\\p, \\p\n.int half_\\type\\()_\\p\n"
                   ".endm\nM 3 x\nM 4 type=y") == Words{3, 4});
    // the longest name counts, an unknown one stays
    CHECK(shown("a ab", "\\ab \\abc \\a", "1 2") == "2 abc 1"); // .error drops the backslash
    CHECK(words_of(".macro M\n.Lx\\@: .int \\@\n.endm\nM\nM\nM") == Words{0, 1, 2});
    CHECK(words_of(".macro R r\nadd $\\r, $\\r, 1\n.endm\nR m3") == words_of("add $m3, $m3, 1"));
    CHECK(listing_of("#define w_xin a0:1\n.macro R r\nnot64 $\\r, $\\r\n.endm\nR w_xin") ==
          Lines{"not64 $a0:1, $a0:1"});
    CHECK(listing_of("#define w_xin a0:1\n.macro R r\nnot64 $w_\\r, $w_xin\n.endm\n") == Lines{});
}

TEST_CASE("macros win over instructions and directives and are forgotten on request", "[isa]") {
    CHECK(listing_of(".macro nop\nfnop\n.endm\nnop\n.purgem nop\nnop") == Lines{"fnop", "nop"});
    CHECK(words_of(".macro .word x\n.byte \\x, \\x, \\x, \\x\n.endmacro\n.word 7") ==
          Words{0x07070707});
    CHECK(mistakes_of(".macro M\n.endm\n.macro M\n.endm") ==
          Lines{"a.S:3:8: macro 'M': defined in line 1 already, expected a new name; .purgem "
                "forgets the old one"});
    CHECK(mistakes_of(".purgem M") == Lines{"a.S:1:9: .purgem: got 'M', expected a macro"});
    // macros belong to their source
    CHECK(mistakes_of({{"a.S", ".macro M\nnop\n.endm\nM"}, {"b.S", "M"}}) ==
          Lines{"b.S:1:1: instruction 'M': not known"});
    CHECK(mistakes_of(".macro COPY_ROWS\nnop\n.endm\nCOPY_ROW") ==
          Lines{"a.S:4:1: instruction 'COPY_ROW': not known; did you mean 'COPY_ROWS'?"});
}

TEST_CASE("a macro may define macros and leave early", "[isa]") {
    CHECK(words_of(".macro OUTER n\n.macro INNER_\\n x\n.int \\n, \\x\n.endm\n.endm\n"
                   "OUTER 1\nOUTER 2\nINNER_2 7\nINNER_1 8") == Words{2, 7, 1, 8});
    CHECK(
        words_of(".macro M x\n.int 1\n.if \\x\n.exitm\n.endif\n.int 2\n.endm\nM 0\nM 1\n.int 3") ==
        Words{1, 2, 1, 3});
    CHECK(words_of(".macro COUNT n\n.if \\n\n.int \\n\nCOUNT \\n-1\n.endif\n.endm\nCOUNT 3") ==
          Words{3, 2, 1});
    CHECK(words_of(".macro A ; .int 1 ; .endm ; A ; A") == Words{1, 1});
    CHECK(mistakes_of(".exitm") == Lines{"a.S:1:1: .exitm: got it outside a macro"});
    CHECK(mistakes_of(".endm") == Lines{"a.S:1:1: .endm: got it without a .macro"});
    CHECK(mistakes_of("nop\n  .macro M\nnop") ==
          Lines{"a.S:2:3: .macro: got the end of the text, expected .endm"});
}

TEST_CASE("a macro call may stand in a bundle and make halves or bundles", "[isa]") {
    const Lines one = {"{ nop ; fnop }"};
    CHECK(listing_of(".macro MAIN\nnop\n.endm\n{ MAIN ; fnop }") == one);
    CHECK(listing_of(".macro AUX a\nfnop \\a\n.endm\n{ nop\nAUX }") == one);
    CHECK(listing_of(".macro BOTH\nnop\nfnop\n.endm\n{ BOTH }") == one);
    CHECK(listing_of(".macro TWO\n{ nop ; fnop }\n{ nop\nfnop }\n.endm\nTWO") ==
          Lines{one[0], one[0]});
    CHECK(listing_of(".macro PICK x\n.if \\x\nnop\n.else\nmov $m0, $m1\n.endif\n.endm\n"
                     "{ PICK 1 ; fnop }\n{\n.if 0\nnop\n.else\nPICK 0\n.endif\nfnop }") ==
          Lines{one[0], "{ or $m0, $m1, 0 ; fnop }"});
}

TEST_CASE("text is repeated", "[isa]") {
    CHECK(words_of(".rept 3\n.int 5\n.endr\n.rept 0\n.int 6\n.endr") == Words{5, 5, 5});
    CHECK(words_of("i = 0\n.rept 2\n.rept 2\n.int i\ni = i + 1\n.endr\n.int 9\n.endr") ==
          Words{0, 1, 9, 2, 3, 9});
    CHECK(words_of(".irp x, 1, 2 3\n.int \\x\n.endr\n.irp x\n.int 0\\x\n.endr") ==
          Words{1, 2, 3, 0});
    CHECK(words_of(".irpc d, 472\n.int 1\\d\n.endr") == Words{14, 17, 12});
    CHECK(words_of(".macro M n\n.rept \\n\n.int \\n\n.endr\n.endm\nM 2") == Words{2, 2});
    CHECK(mistakes_of(".rept 2\nnop") ==
          Lines{"a.S:1:1: .rept: got the end of the text, expected .endr"});
    CHECK(mistakes_of(".rept -1\nnop\n.endr") ==
          Lines{"a.S:1:7: .rept: got -1, expected 0..16777216"});
    CHECK(mistakes_of(".endr") == Lines{"a.S:1:1: .endr: got it without a .rept"});
    CHECK(mistakes_of(".irp\n.endr") == Lines{"a.S:1:5: .irp: expected the name of a parameter"});
}

TEST_CASE("headers of macros out of shape are told", "[isa]") {
    const auto first = [](const std::string& header) {
        return mistakes_of(".macro " + header + "\n.endm").at(0);
    };
    CHECK(first("") == "a.S:1:7: .macro: expected a name");
    CHECK(first("M a:rek") ==
          "a.S:1:12: .macro M: parameter 'a': got ':rek', expected :req or :vararg");
    CHECK(first("M a a") ==
          "a.S:1:12: .macro M: got parameter 'a' twice, expected different names");
    CHECK(first("M a:vararg b") ==
          "a.S:1:19: .macro M: got a parameter after 'a:vararg', expected that to be the last");
    CHECK(first("M a, +") == "a.S:1:13: .macro M: got '+', expected the name of a parameter");
}

TEST_CASE("mistakes in macros tell the place and the way there", "[isa]") {
    const std::string inner = ".macro ADD d a b\n  add $\\d, $\\a, \\b\n.endm\n";
    // in the body
    CHECK(mistakes_of(".macro M\nnop\n adr $m0\n.endm\nnop ; M") ==
          Lines{"a.S:3:2: instruction 'adr': not known; did you mean 'add'?\n"
                "  a.S:5:7: in the expansion of macro 'M'"});
    // in an argument, through two macros: the argument's own place
    CHECK(mistakes_of(inner + ".macro TWICE x\nADD m0 m1 \\x\nADD m2 m3 1\n.endm\nTWICE 70000") ==
          Lines{"a.S:8:7: add: operand 3: got 70000, expected $m register, constant 0..65535 or "
                "constant -32768..32767\n  a.S:5:1: in the expansion of macro 'ADD'\n"
                "  a.S:8:1: in the expansion of macro 'TWICE'"});
    // once, however often it is expanded
    CHECK(mistakes_of(".macro M\nadr\n.endm\nM\nM\nM").size() == 1);
    CHECK(mistakes_of(".rept 5\nadr\n.endr") ==
          Lines{"a.S:2:1: instruction 'adr': not known; did you mean 'add'?"});
}

TEST_CASE("the line table names the outermost call and the body", "[isa]") {
    const auto codelet = assembled(".macro IN\nnop\n.endm\n.macro OUT\nIN\nnop\n.endm\nnop\nOUT");
    std::vector<std::pair<std::uint32_t, std::uint32_t>> lines;
    for (const program::LineEntry& entry : codelet.lines) {
        lines.emplace_back(entry.line, entry.body_line);
    }
    CHECK(lines == std::vector<std::pair<std::uint32_t, std::uint32_t>>{{8, 8}, {9, 2}, {9, 6}});
}

TEST_CASE("expansions that never end are told soon", "[isa]") {
    const auto begin = std::chrono::steady_clock::now();
    CHECK(mistakes_of(".macro M\nM\nM\n.endm\nM")
              .at(0)
              .find("a.S:2:1: expansion: got macros and repetitions nested more than 200 deep\n") ==
          0);
    const std::string too_much =
        "expansion: got more than 32 MiB of text from macros and repetitions";
    std::string doubling = ".macro M0\nnop = 1\n.endm\n";
    for (int i = 1; i < 60; ++i) {
        const std::string before = "M" + std::to_string(i - 1) + "\n";
        doubling += ".macro M" + std::to_string(i) + "\n" + before + before + ".endm\n";
    }
    CHECK(mistakes_of(doubling + "M59").at(0).find(too_much) != std::string::npos);
    CHECK(mistakes_of(".macro A x\nA \\x\\x\\x\\x\\x\\x\\x\\x\\x\\x\n.endm\nA xxxxxxxx")
              .at(0)
              .find(too_much) != std::string::npos);
    CHECK(mistakes_of(".rept 16000000\n.rept 16000000\nx = 1\n.endr\n.endr").at(0).find(too_much) !=
          std::string::npos);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    CHECK(elapsed.count() < 20);
}

TEST_CASE("seventy thousand instructions from macros assemble in about a second", "[isa]") {
    const std::string text =
        ".macro STEP d a b\n{ ld2x64pace $a0:1, $a2:3, $m4:5+=, $m6, 0b0101 ; f16v4mul $\\d, $\\a, "
        "$\\b }\nadd $m0, $m1, (1f - .) / 4 + CTXT_WORKERS\n.if 1 - \\@ * 0\n1:\n.endif\n.endm\n"
        ".macro EIGHT\n.irp x, 0:1, 2:3, 4:5, 6:7\nSTEP a4:5 a\\x a2:3\nSTEP a6:7, a0:1, a\\x\n"
        ".endr\n.endm\n.rept 2917\nEIGHT\n.endr\n";
    const auto begin = std::chrono::steady_clock::now();
    const auto codelet = assembled(text);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    CHECK(codelet.words.size() == 70008);
    CHECK(elapsed.count() < 10); // a second or less without sanitizers on a free host
}
