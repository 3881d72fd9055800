// SPDX-License-Identifier: MIT
// What the C preprocessor makes of texts. Its mistakes: preprocess_errors_test.cpp.
#include "models/isa/assembler/c_preprocessor/line_reader.h"
#include "tests/unit/models/isa/preprocess_support.h"

#include <catch2/catch.hpp>

#include <utility>

using namespace tessera::isa;
using namespace tessera::isa::assembly;
using namespace tessera::isa::assembly::test;
using Texts = std::vector<std::string>;

TEST_CASE("text that is not C passes unchanged") {
    const Texts lines = {
        "    ld64step $a0:1, $mzero, $m0+=, 1",
        "\tld32 $m0, $m1, $mzero, \\arg",
        "    \\op\\() $a0, \\arg\\()_0:1, \\@",
        "1:  bri 1f; brnz $m0, 2b",
        ".L_x: .macro FOO a b=\",$azero\"",
        "    setzi $a0, 1.0h ; or $m0, $m0, 0b101",
        "    .ascii \"a // b /* c */ # d\"",
        "    foo.bar a:b $a0:BL `@?",
        "    .byte 'x', '\\n' it's",
        "    .asciz \"no end",
        "{   add $m0, $m0, -1   ;   fnop   }",
        "x = (. - 7b) & 0x7 # no comment here",
    };
    std::string text;
    for (const std::string& line : lines) {
        text += line + "\n";
    }
    const Preprocessed result = preprocessed(text);
    CHECK(result.mistakes.empty());
    REQUIRE(result.lines.size() == lines.size());
    for (std::size_t number = 1; number <= lines.size(); ++number) {
        CHECK(result.line(number) == lines[number - 1]);
    }
    // The same lines with a macro beside them, so that they are taken apart and put together again.
    for (const std::string& line : lines) {
        CHECK(only_line("#define EMPTY\nEMPTY " + line + "\n") ==
              preprocessed(line).texts().front());
    }
}

TEST_CASE("a mark at the front of a file is no text") {
    const auto result = preprocessed("\xef\xbb\xbf#define X 1\r\nX");
    CHECK(result.mistakes.empty());
    CHECK(result.texts() == std::vector<std::string>{"1"});
    CHECK(preprocessed("\xff\xfe#").mistakes ==
          std::vector<std::string>{"a.S:1:1: got UTF-16 text, expected UTF-8"});
}

TEST_CASE("a text has as many lines as it has") {
    CHECK(preprocessed("").lines.empty());
    CHECK(preprocessed("a").lines.size() == 1);
    CHECK(preprocessed("a\n").lines.size() == 1);
    CHECK(preprocessed("a\r\n\r\nb").texts() == Texts{"a", "b"});
}

TEST_CASE("a register's name may be a macro") {
    const std::string defines = "#define w_xin a0:1\n#define w_xin_0 a0\n#define m_p m2\n";
    CHECK(only_line(defines + "ld64 $w_xin, $m_p, $ m_p, $w_xin_0\n") ==
          "ld64 $a0:1, $m2, $ m2, $a0");
    CHECK(only_line(defines + "ld64step $w_xin, $mzero, $m_p+=, 1\n") ==
          "ld64step $a0:1, $mzero, $m2+=, 1");
    CHECK(only_line("#define a0 m1\n#undef a0\n$a0\n") == "$a0");
    CHECK(only_line("#define arg other\n\\arg\\() \\arg_2 .arg\n") == "\\other\\() \\arg_2 .other");
}

TEST_CASE("pasting before a backslash stands side by side") {
    const std::string defines = "#define NAME(arg) half_ ## arg\n#define OUTER(arg) NAME(arg)\n";
    CHECK(only_line(defines + "call NAME(\\SCALE_TYPE\\())\n") == "call half_\\SCALE_TYPE\\()");
    CHECK(only_line(defines + "call NAME( \\SCALE_TYPE\\() )x\n") == "call half_\\SCALE_TYPE\\()x");
    CHECK(only_line(defines + "OUTER(float)\n") == "half_float");
    CHECK(only_line("#define D . ##foo\nD\n") == ".foo");
    CHECK(only_line("#define D . ## foo\nD\n") == ". foo");
    CHECK(only_line("#define D(x) . ## x\nD( foo)\n") == ".foo");
    CHECK(only_line("#define R(n) $a##n:BL\nR(3)\n") == "$a3:BL");
}

TEST_CASE("nothing is left of an empty operand of a paste") {
    const std::string define = "#define RUN(IN) run ## IN ## _T\\OP\n";
    CHECK(only_line(define + "call RUN()\n") == "call run_T\\OP");
    CHECK(only_line(define + "call RUN( x )\n") == "call runx_T\\OP");
    CHECK(only_line("#define R(a, b) run ## a ## b\\OP\nR(,)\n") == "run\\OP");
    CHECK(only_line("#define R(a, b) run ## a ## b \\OP\nR(,)\n") == "run \\OP");
    CHECK(only_line("#define R(a) x a ## _T\nR()\n") == "x _T");
    CHECK(only_line("#define R(a) x a ## _T\\OP\nR()\n") == "x _T\\OP");
    CHECK(only_line("#define R(a) x ## a y\nR()\n") == "x y");
    CHECK(only_line("#define R(a) x a\\OP\nR()\n") == "x \\OP");
    CHECK(only_line("#define R(a, b) [ a ## b ]\nR(,)R(1,)R(,2)\n") == "[ ][ 1 ][ 2 ]");
}

TEST_CASE("a comma stays that stands before an empty operand of a paste") {
    const std::string define = "#define F(a, ...) x , a ## __VA_ARGS__\n";
    CHECK(only_line(define + "F()") == "x ,");
    CHECK(only_line(define + "F(, r)") == "x , r");
    CHECK(only_line(define + "F(l, r)") == "x , lr");
    // but not one that stands before the rest itself
    CHECK(only_line("#define G(a, ...) x , ## __VA_ARGS__\nG(1)") == "x");
    CHECK(only_line("#define G(a, ...) x , ## __VA_ARGS__\nG(1, r)") == "x , r");
}

TEST_CASE("function-like macros take and place their arguments") {
    CHECK(only_line("#define F(a, b) a-b\nF(1, (2, 3)) F (x,y) F\n") == "1-(2, 3) x-y F");
    CHECK(only_line("#define F(a) a ; nop\nF(add $m0, 1)\n") ==
          "mistake: a.S:2:1: macro 'F': got 2 arguments, expected 1");
    CHECK(only_line("#define E() x\nE()E( )\n") == "x x");
    CHECK(only_line("#define S(x) #x\nS( a  \"b\\n\"  '\"' \\c )\n") ==
          "\"a \\\"b\\\\n\\\" '\\\"' \\c\"");
    CHECK(only_line("#define S(x) #y x\nS(1)\n") == "#y 1");
    CHECK(only_line("#define S(x) x #\nS(1)\n") == "1 #");
    CHECK(only_line("#define V(a, ...) f(a, ##__VA_ARGS__)\nV(1) V(1, 2, 3)\n") ==
          "f(1) f(1, 2, 3)");
    CHECK(only_line("#define V(rest...) g(rest)\nV() V(1, 2)\n") == "g() g(1, 2)");
    CHECK(only_line("#define C(a, b) a##b\n#define AB 7\nC(A, B) C(, B) C(A, ) C(,)|\n") ==
          "7 B A |");
    CHECK(only_line("#define T(x) a x$m0\nT()\n") == "a $m0");
    CHECK(only_line("#define T(x) x b\nT(a)c\n") == "a b c");
    CHECK(only_line("#define N\n#define T(x) x\n$m0 N, T(N)+=\n") == "$m0 , +=");
}

TEST_CASE("a macro does not expand within itself") {
    CHECK(only_line("#define A B A\n#define B A B\nA\n") == "A B A");
    CHECK(only_line("#define f(x) x f\nf(1)(2)\n") == "1 f(2)");
    // The example of C (6.10.3.4, example 3).
    CHECK(only_line(
              "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n"
              "#define z z[0]\n#define h g(~\n#define m(a) a(w)\n#define w 0,1\n#define t(a) a\n"
              "f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);\n") ==
          "f(2 * (y+1)) + f(2 * (f(2 * (z[0])))) % f(2 * (0)) + t(1);");
    CHECK(only_line("#define N(x) x\n" + std::string(150, ' ') + "N(N(N(N(1))))\n") == "1");
}

TEST_CASE("arguments may span lines and the result is one line") {
    const Preprocessed result = preprocessed("#define F(a, b) { a ; b }\n"
                                             "x: F((add $m0,\n"
                                             "#if 1\n"
                                             "  // words\n"
                                             "     $m1), nop)\n"
                                             "#else\n"
                                             "     wrong)\n"
                                             "#endif\n"
                                             "after\n"
                                             "F\n"
                                             "  (1,\n"
                                             "2)\n"
                                             "F\n"
                                             "end\n");
    CHECK(result.mistakes.empty());
    CHECK(result.line(2) == "x: { (add $m0, $m1) ; nop }");
    CHECK(result.line(9) == "after");
    CHECK(result.line(10) == "{ 1 ; 2 }");
    CHECK(result.line(13) == "F");
    CHECK(result.line(14) == "end");
    CHECK(result.lines.size() == 14);
}

TEST_CASE("comments vanish and lines stay where they are") {
    const Preprocessed result = preprocessed("a /* x */ b // it's \" nothing\n"
                                             "c/*\n"
                                             " it's \"\n"
                                             "*/d\n"
                                             "  # comment that isn't \"any\n"
                                             "#comment isn't /* open\n"
                                             "#\n"
                                             "e \\\n"
                                             "f\n"
                                             "g // joined \\\n"
                                             "  to this\n"
                                             "h\n");
    CHECK(result.mistakes.empty());
    CHECK(result.texts() == Texts{"a   b", "c d", "e f", "g", "h"});
    CHECK(result.line(2) == "c d");
    CHECK(result.line(8) == "e f");
    CHECK(result.line(12) == "h");
    CHECK(result.origin_of(1, "b") == "a.S:1:11");
    CHECK(result.origin_of(2, "d") == "a.S:4:3");
    CHECK(result.origin_of(8, "f") == "a.S:9:1");
    CHECK(result.origin_of(12, "h") == "a.S:12:1");
}

TEST_CASE("conditions choose lines") {
    const auto chosen = [](const std::string& condition) {
        return only_line("#define ONE 1\n#define F(x) x\n#define HAS defined(ONE)\n#if " +
                         condition + "\nyes\n#else\nno\n#endif\n");
    };
    for (const char* condition : {"1",
                                  "ONE",
                                  "defined ONE",
                                  "defined(ONE) && !defined( TWO )",
                                  "HAS",
                                  "F(2) == 2",
                                  "UNKNOWN == 0",
                                  "1 + 2 * 3 == 7",
                                  "(1 + 2) * 3 == 9",
                                  "1 << 3 >> 1 == 4",
                                  "-1 < 0",
                                  "-1 > 0u",
                                  "~0 == -1",
                                  "10 / 3 == 3 && 10 % 3 == 1",
                                  "-7 / 2 == -3",
                                  "0x10 == 16 && 0b11 == 3 && 010 == 8 && 5ULL",
                                  "'A' == 65 && '\\n' == 10 && '\\\\' == 92",
                                  "0 ? 0 : 1 ? 2 : 0",
                                  "1 || 1 / 0",
                                  "!(0 && 1 % 0)",
                                  "3 & 2 | 4 ^ 4",
                                  "1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3",
                                  "1 != 2",
                                  "(-9223372036854775807 - 1) / -1 < 0",
                                  "(-9223372036854775807 - 1) % -1 == 0",
                                  "- - 1",
                                  "+1",
                                  "__IPU__ && __ASSEMBLER__ && __IPU_ARCH_VERSION__ == 2",
                                  "-8 >> 1 == -4"}) {
        INFO(condition);
        CHECK(chosen(condition) == "yes");
    }
    for (const char* condition : {"0", "TWO", "ONE - 1", "defined F(2) && 0", "1 == 2",
                                  "defined __cplusplus || defined(__x86_64__)", "0 || 0"}) {
        INFO(condition);
        CHECK(chosen(condition).substr(0, 3) != "yes");
    }
}

TEST_CASE("branches nest and what is left out is not looked at") {
    const std::string text = "#if V == 1\none\n#elif V == 2\n#ifdef NESTED\nnested\n#else\ntwo\n"
                             "#endif\n#elif 1 / 0\n#else\nother\n#endif\n";
    const auto with = [&](const std::string& value) {
        PreprocessOptions options;
        options.defines = {{"V", value}};
        return preprocessed(text, options).texts();
    };
    CHECK(with("1") == Texts{"one"});
    CHECK(with("2") == Texts{"two"});
    CHECK(only_line("#if 0\n#if 1 +\n#else\n#error no\n#include \"nowhere\"\n#endif\n#define A b\n"
                    "'\"\n#endif\nA\n") == "A");
    CHECK(only_line("#ifndef A\n#define A\nyes\n#endif\n#ifndef A\nno\n#elif 0\n#endif\n") ==
          "yes");
    CHECK(only_line("#ifdef A\nno\n#elifdef B\nno\n#elifndef A\nyes\n#endif\n") == "yes");
}

TEST_CASE("the machine and the caller predefine names") {
    PreprocessOptions options;
    options.target.architecture = 21;
    options.defines = {{"ONE", "1"}, {"F(x)", "<x>"}, {"NOTHING", ""}};
    CHECK(only_line("__IPU__ __IPU_ARCH_VERSION__ __ASSEMBLER__ ONE F(a) NOTHING|\n", options) ==
          "1 21 1 1 <a> |");
    CHECK(only_line("__cplusplus __x86_64__ __linux__ __STDC__\n") ==
          "__cplusplus __x86_64__ __linux__ __STDC__");
    CHECK(only_line("\n#define L __LINE__\n__FILE__ __LINE__ L __COUNTER__ __COUNTER__\n") ==
          "\"a.S\" 3 3 0 1");
}

TEST_CASE("text knows where it was written and through which macros it came") {
    const Preprocessed result = preprocessed("#define IN(x) sub x, 1\n"
                                             "#define OUT(x) { IN(x) ; fnop }\n"
                                             "  lab: OUT($m7) tail\n"
                                             "#define REG a##0\n"
                                             "  zero $REG ; __LINE__ done\n");
    CHECK(result.mistakes.empty());
    CHECK(result.line(3) == "  lab: { sub $m7, 1 ; fnop } tail");
    CHECK(result.origin_of(3, "lab") == "a.S:3:3");
    CHECK(result.lines[2].origin_of(0).at.column == 1);
    CHECK(result.origin_of(3, "{") == "a.S:2:16 < in the expansion of macro 'OUT' a.S:3:8");
    CHECK(result.origin_of(3, "sub") == "a.S:1:15 < in the expansion of macro 'IN' a.S:2:18 < in "
                                        "the expansion of macro 'OUT' a.S:3:8");
    CHECK(result.origin_of(3, "m7") == "a.S:3:13");
    CHECK(result.origin_of(3, "tail") == "a.S:3:17");
    CHECK(result.origin_of(5, "a0") == "a.S:4:13 < in the expansion of macro 'REG' a.S:5:9");
    CHECK(result.origin_of(5, "0 ;") == "a.S:4:13 < in the expansion of macro 'REG' a.S:5:9");
    CHECK(result.origin_of(5, "5") == "a.S:5:15");
    CHECK(result.origin_of(5, "done") == "a.S:5:24");
}

TEST_CASE("text of a caller's define stands nowhere, and what is behind it where it was written") {
    PreprocessOptions options;
    options.defines = {{"X", "ab cd"}};
    const Preprocessed result = preprocessed("  X tail\n", options);
    CHECK(result.line(1) == "  ab cd tail");
    const std::string nowhere = "a.S:1:3 < in the expansion of macro 'X' a.S:1:3";
    CHECK(result.origin_of(1, "ab") == nowhere);
    CHECK(result.origin_of(1, "b cd") == nowhere);
    CHECK(result.origin_of(1, "d tail") == nowhere);
    CHECK(result.origin_of(1, "tail") == "a.S:1:5");
    CHECK(result.origin_of(1, "il") == "a.S:1:7");
}

TEST_CASE("conditions compare and compute to the ends of 64 bits") {
    const auto holds = [](const std::string& condition) {
        return only_line("#if " + condition + "\nyes\n#else\nno\n#endif\n") == "yes";
    };
    for (const char* condition : {"3 < 4",
                                  "3 <= 3",
                                  "4 > 3",
                                  "3 >= 3",
                                  "3 == 3",
                                  "3 != 4",
                                  "!(3 < 3)",
                                  "!(3u < 3u)",
                                  "3u <= 3u",
                                  "!(3u > 3u)",
                                  "3u >= 3u",
                                  "!(-1 < 0u)",
                                  "!(4 <= 3)",
                                  "!(3 > 3)",
                                  "!(2 >= 3)",
                                  "!(3 == 4)",
                                  "!(3 != 3)",
                                  "(6 ^ 3) == 5",
                                  "(6 & 3) == 2",
                                  "(6 | 3) == 7",
                                  "7 - 3 - 2 == 2",
                                  "16 / 4 / 2 == 2",
                                  "17 % 5 == 2",
                                  "1 << 63 < 0",
                                  "1u << 63 > 0",
                                  "0xffffffffffffffff > 0",
                                  "9223372036854775807 > 0",
                                  "9223372036854775808 > 0",
                                  "-1 >> 63 == -1",
                                  "-1u >> 63 == 1",
                                  "(2 || 0) == 1",
                                  "(2 && 3) == 1",
                                  "(0 || 0) == 0",
                                  "(1 && 0) == 0",
                                  "1 ? 2 : 0",
                                  "0 ? 0 : 2",
                                  "!0",
                                  "~0u > 0",
                                  "-1 < 1 ? 1 : 0",
                                  "(1 ? -1 : 0u) > 0",
                                  "'\\0' == 0",
                                  "'a' + 1 == 'b'",
                                  "2 + 3 * 4 == 14",
                                  "1 + 1 << 1 == 4",
                                  "1 | 2 == 2",
                                  "5 & 4 == 4",
                                  "7 / 2 * 2 == 6",
                                  "-9 % 4 == -1"}) {
        INFO(condition);
        CHECK(holds(condition));
    }
}

TEST_CASE("what stands behind a text is no part of it") {
    for (const std::string text : {"1.5e+31", "0x1fu", "12345", "1e+", "a1_b", "\"a\\\"b\"", "'a'",
                                   "....", "##", "<<=", "&&"}) {
        for (std::size_t length = 1; length <= text.size(); ++length) {
            const std::string_view part = std::string_view(text).substr(0, length);
            const std::string alone(part);
            CAPTURE(text, length);
            cpp::LexemeKind kind{};
            cpp::LexemeKind kind_alone{};
            CHECK(cpp::is_single_lexeme(part, kind) == cpp::is_single_lexeme(alone, kind_alone));
            CHECK(kind == kind_alone);
            std::vector<cpp::Lexeme> lexemes;
            cpp::scan(part, {Piece{}}, lexemes);
            std::string put_together;
            for (const auto& lexeme : lexemes) {
                put_together += lexeme.text;
            }
            CHECK(put_together == alone);
        }
    }
    const std::string_view text = " \t\n\n (";
    CHECK(cpp::LineReader(text, 0, 0).next_is('('));
    CHECK_FALSE(cpp::LineReader(text, 0, 0).next_is(')'));
    for (std::size_t length = 0; length < text.size(); ++length) {
        CHECK_FALSE(cpp::LineReader(text.substr(0, length), 0, 0).next_is('('));
    }
}
