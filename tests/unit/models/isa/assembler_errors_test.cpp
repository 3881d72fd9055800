// SPDX-License-Identifier: MIT
// Every message of the assembler, provoked.
#include "models/isa/assembler/diagnostics.h"
#include "tests/unit/models/isa/assemble_support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <chrono>

using namespace tessera;
using namespace tessera::isa;
using namespace tessera::isa::test;

using Lines = std::vector<std::string>;

namespace {

struct Mistake {
    std::string text;
    std::string message;
};

void check_all(const std::vector<Mistake>& mistakes) {
    for (const Mistake& mistake : mistakes) {
        INFO(mistake.text);
        CHECK(mistakes_of(mistake.text) == Lines{"a.S:" + mistake.message});
    }
}

} // namespace

TEST_CASE("the lexer and the preprocessor say what they cannot read", "[isa]") {
    check_all({
        {"/* open", "1:1: comment without its end, expected '*/'"},
        {".type \"open", "1:7: string: got the end of the line, expected \""},
        // a quote behind a backslash ends no string, also of an argument
        {".ascii \"ab\\\"", "1:8: string: got the end of the line, expected \""},
        {".macro m x\n.ascii \\x\n.endm\nm \"ab\\\"",
         "4:3: string: got the end of the line, expected \"\n"
         "  a.S:4:1: in the expansion of macro 'm'"},
        {"nop '", "1:5: got the character ''', expected a label, directive or instruction"},
        {"nop \x01", "1:5: got the byte 1, expected printable text"},
        {"nop \x7f", "1:5: got the byte 127, expected printable text"},
        {"nop ; setzi $m0, 12ab ; nop",
         "1:18: number: got 12ab, expected decimal, 0x or 0b digits"},
        {"setzi $m0, 12ab", "1:12: number: got 12ab, expected decimal, 0x or 0b digits"},
        {"setzi $m0, 0x", "1:12: number: got 0x, expected decimal, 0x or 0b digits"},
        {".equ a, 0x1ffffffffffffffff",
         "1:9: number: got 0x1ffffffffffffffff, expected at most 64 bits"},
        {".int 08", "1:6: number: got 08, expected octal digits after the leading 0"},
        {"setzi $a0, 1.5", "1:12: number: got 1.5, expected an integer or a half such as 1.0h"},
        {"#include \"x.h\"", "1:2: cannot find the include file 'x.h'"},
    });
}

TEST_CASE("statements out of shape are told", "[isa]") {
    check_all({
        {"$m0", "1:1: statement: got '$', expected a label, directive or instruction"},
        {"}", "1:1: statement: got '}', expected a label, directive or instruction"},
        {".text nop", "1:7: statement: got 'nop', expected the end of the statement"},
        {"add $m0 $m1", "1:9: add: got '$', expected a comma or the end of the statement"},
        {"br $m0,", "1:8: br: got the end of the line, expected an operand after the comma"},
        {"br $", "1:5: register: got the end of the line, expected a register name after $"},
        {".aling 8", "1:1: directive '.aling': not known; did you mean '.align'?"},
        {".marco X", "1:1: directive '.marco': not known; did you mean '.macro'?"},
        {".equ 3, 4", "1:6: .equ: got '3', expected a name"},
        {".set a 4", "1:8: .set: got '4', expected a comma"},
        {".globl", "1:7: .globl: got the end of the line, expected a name"},
        {".align 3", "1:1: .align: got 3, expected a power of two of bytes, at most 32768"},
        {".balign 65536",
         "1:1: .balign: got 65536, expected a power of two of bytes, at most 32768"},
        {".p2align 16", "1:1: .p2align: got 16, expected 0..15"},
        {".align x\nx = 8", "1:1: .align: got a value that is not known yet, expected a power of "
                            "two of bytes, at most 32768"},
        {".error \"too few rows\"", "1:1: .error: too few rows"},
        {".error", "1:1: .error"},
        {".short 1\nnop",
         "2:1: instruction: got an address that is no multiple of 4; put .align 4 before it"},
        {".short 65536", "1:8: data: got 65536, expected -32768..65535"},
        {".int 1 << 32", "1:6: data: got 4294967296, expected -2147483648..4294967295"},
    });
}

namespace {

/// `wrong` stands behind `begin`, with more behind it that makes no sense either.
void check_only_mistake(const std::string& begin, const std::string& wrong,
                        const std::string& message) {
    const std::string text = begin + wrong + " ) 7";
    INFO(text);
    CHECK(mistakes_of(text) == Lines{fmt::format("a.S:1:{}: {}", begin.size() + 1, message)});
}

} // namespace

TEST_CASE("the first mistake of a statement is the only one that is told", "[isa]") {
    for (const std::string begin : {"x = ",
                                    ".set x, ",
                                    ".equiv x, ",
                                    ".byte ",
                                    ".byte 1, ",
                                    ".quad ",
                                    ".uleb128 ",
                                    ".sleb128 1, ",
                                    ".octa (",
                                    ".octa 1, ",
                                    ".dcb.l ",
                                    ".dcb.l 1, ",
                                    ".dcb.s ",
                                    ".ds.w ",
                                    ".space ",
                                    ".space 1, ",
                                    ".fill ",
                                    ".fill 1, ",
                                    ".fill 1, 1, ",
                                    ".align ",
                                    ".align 8, ",
                                    ".align 8, 0, ",
                                    ".align 8, , ",
                                    ".p2align ",
                                    ".org ",
                                    ".org 8, ",
                                    ".comm x, ",
                                    ".comm x, 4, ",
                                    ".lcomm x, ",
                                    ".lcomm x, 4, ",
                                    ".size x, ",
                                    ".subsection ",
                                    ".incbin \"f\", ",
                                    ".incbin \"f\", 1, ",
                                    "setzi $m0, "}) {
        check_only_mistake(begin, ")",
                           "expression: got ')', expected a number, symbol or parenthesis");
    }
    for (const std::string name : {".equ", ".set", ".equiv", ".globl", ".weak", ".local", ".comm",
                                   ".lcomm", ".size", ".scatters", ".section", ".pushsection"}) {
        check_only_mistake(name + " ", "3", name + ": got '3', expected a name");
    }
    for (const std::string name : {".globl", ".weak", ".local", ".scatters"}) {
        check_only_mistake(name + " x, ", "3", name + ": got '3', expected a name");
    }
    for (const std::string name : {".equ", ".set", ".equiv", ".comm", ".lcomm", ".size"}) {
        check_only_mistake(name + " x ", "4", name + ": got '4', expected a comma");
    }
    for (const std::string name : {".float", ".double", ".dc.s", ".dcb.d 1,"}) {
        check_only_mistake(name + " -", "x",
                           name.substr(0, name.find(' ')) +
                               ": got 'x', expected a number such as 1.5");
    }
    check_only_mistake(".float 1.5, ", "x", ".float: got 'x', expected a number such as 1.5");
    for (const std::string name : {".ascii", ".asciz", ".string", ".print"}) {
        check_only_mistake(name + " ", "x", name + ": got 'x', expected a string");
    }
    check_only_mistake(".ascii \"a\", ", "x", ".ascii: got 'x', expected a string");
    check_only_mistake(".incbin ", "x", ".incbin: got 'x', expected the name of a file in quotes");
    for (const std::string begin :
         {".text ", ".data ", ".worker ", ".previous ", ".byte 1 ", ".float 1 ", ".ascii \"a\" ",
          ".align 8 ", ".globl x ", ".allow_optimizations ", ".print \"a\" ", "x = 4 "}) {
        check_only_mistake(begin, "y", "statement: got 'y', expected the end of the statement");
    }
}

TEST_CASE("directives that decide where something stands have numbers that are known there",
          "[isa]") {
    const std::string power = "a power of two of bytes, at most 32768";
    const std::string bytes = "a number of bytes";
    const std::string elements = "a number of elements";
    struct Row {
        std::string begin;
        std::string expected;
    };
    for (const Row& row : {Row{".dcb.b ", elements}, Row{".dcb.d ", elements},
                           Row{".ds.l ", elements}, Row{".space ", bytes}, Row{".fill ", elements},
                           Row{".fill 1, ", bytes}, Row{".align ", power}, Row{".balign ", power},
                           Row{".p2align ", "0..15"}, Row{".align 8, 0, ", bytes},
                           Row{".comm x, ", bytes}, Row{".comm x, 4, ", "an alignment in bytes"},
                           Row{".lcomm x, ", bytes}, Row{".subsection ", "a number"},
                           Row{".incbin \"f\", ", bytes}, Row{".incbin \"f\", 0, ", bytes}}) {
        INFO(row.begin);
        const std::string name = row.begin.substr(0, row.begin.find(' '));
        CHECK(mistakes_of(row.begin + "later\nlater = 1") ==
              Lines{"a.S:1:1: " + name + ": got a value that is not known yet, expected " +
                    row.expected});
    }
}

TEST_CASE("symbols and labels that do not fit are told", "[isa]") {
    check_all({
        {"x:\nnop\nx:", "3:1: symbol 'x': defined in line 1 already, expected a new name"},
        {"x = 1\nx:", "2:1: symbol 'x': defined in line 1 already, expected a new name"},
        {"bri worker_mian\nworker_main: nop",
         "1:5: symbol 'worker_mian': not defined; did you mean 'worker_main'?"},
        {"bri CTXT_WORKER", "1:5: symbol 'CTXT_WORKER': not defined; did you mean 'CTXT_WORKERS'?"},
        {"bri 1b", "1:5: label 1b: no such label precedes, expected '1:' above"},
        {"1: bri 1f", "1:8: label 1f: no such label follows, expected '1:' below"},
        {".set a, b\n.set b, a\n", "2:9: symbol: its value depends on itself"},
    });
    CHECK(mistakes_of({{"a.S", ".globl x\nx: nop"}, {"b.S", ".globl x\nx: nop"}}) ==
          Lines{"b.S:2:1: global symbol 'x': defined in another source too, expected one "
                "definition"});
    CHECK(mistakes_of({{"a.S", "bri workr"}, {"b.S", ".globl worker\nworker: nop"}}) ==
          Lines{"a.S:1:5: symbol 'workr': not defined; did you mean 'worker'?"});
    // values are nested 200 deep: each of s0 to s199 needs the next one, s200 is a number
    for (const int symbols : {201, 202}) {
        std::string text;
        for (int i = 0; i + 1 < symbols; ++i) {
            text += fmt::format(".set s{}, s{}\n", i, i + 1);
        }
        text += fmt::format("s{} = 1\n.int s0", symbols - 1);
        const Lines told = mistakes_of(text);
        CHECK(told.empty() == (symbols == 201));
        if (!told.empty()) {
            CHECK(told.front() ==
                  "a.S:200:12: symbol: its value is nested more than 200 symbols deep");
        }
    }
    // one message a name, not one a use
    CHECK(mistakes_of("bri nowhere\nbri nowhere").size() == 1);
}

TEST_CASE("expressions that have no value are told", "[isa]") {
    check_all({
        {"setzi $m0, 1 +", "1:15: expression: got the end of the line, expected a number, symbol "
                           "or parenthesis"},
        {"setzi $m0, (1 ; nop", "1:15: expression: got ';', expected an operator or )"},
        {"setzi $m0, \"x\"",
         "1:12: expression: got a string, expected a number, symbol or parenthesis"},
        {"setzi $m0, 1 / 0", "1:14: expression: division by zero"},
        {"setzi $m0, 1 % (2 - 2)", "1:14: expression: division by zero"},
        {"setzi $m0, 1 << 64", "1:14: expression: got a shift by 64, expected 0..63"},
        {"setzi $m0, 1 >> -1", "1:14: expression: got a shift by -1, expected 0..63"},
    });
    const std::string deep(100000, '(');
    CHECK(mistakes_of("setzi $m0, " + deep) ==
          Lines{"a.S:1:76: expression: got more than 64 nested parentheses, expected at most 64"});
    CHECK(mistakes_of("setzi $m0, " + std::string(99999, '-') + "-1").empty());
}

TEST_CASE("registers that do not exist are told", "[isa]") {
    check_all({
        {"br $m16", "1:4: register '$m16': not known; did you mean 'm1'?"},
        {"get $m0, $FP_CLEAR", "1:10: register '$FP_CLEAR': not known; did you mean 'FP_CLR'?"},
        {"f16v4acc $a1:2",
         "1:10: register: got $a1:2, expected a pair that starts at an even number"},
        {"f16v8acc $a2:5",
         "1:10: register: got $a2:5, expected a quad that starts at a multiple of 4"},
        {"f16v8acc $a0:2",
         "1:10: register: got $a0:2, expected a pair such as 0:1 or a quad such as 0:3"},
        {"f16v8acc $a0:x", "1:14: register: got ':x', expected :BL, :BU, :B or a register range"},
        {"br $m0:3", "1:4: register: got $m0:3, expected a pair: there are no quads of $m"},
    });
}

TEST_CASE("operands that an instruction does not take are told", "[isa]") {
    check_all({
        {"ad $m0, $m1, $m2", "1:1: instruction 'ad': not known; did you mean 'add'?"},
        {"fnopp", "1:1: instruction 'fnopp': not known; did you mean 'fnop'?"},
        {"br", "1:1: br: got 0 operands, expected 1"},
        {"ld32 $m0", "1:1: ld32: got 1 operands, expected 3 or 4"},
        {"sendpicp", "1:1: sendpicp: got 0 operands, expected 7"},
        {"add $m0, $m1, 65536", "1:15: add: operand 3: got 65536, expected $m register, constant "
                                "0..65535 or constant -32768..32767"},
        {"cmpslt $m0, $m1, 32768",
         "1:18: cmpslt: operand 3: got 32768, expected $m register or constant -32768..32767"},
        {"or $m0, $m1, 4097", "1:14: or: operand 3: got 4097, expected $m register, constant "
                              "0..4095 or constant whose low 20 bits are zero"},
        {"setzi $m0, -1", "1:12: setzi: operand 2: got -1, expected constant 0..1048575"},
        {"bri 2",
         "1:5: bri: operand 1: got 2, expected code address (a multiple of 4, 0..2097148)"},
        {"call $m0, 0x400000", "1:11: call: operand 2: got 4194304, expected code address (a "
                               "multiple of 4, 0..4194300)"},
        {"get $m0, $FP_CLR", "1:10: get: operand 2: got $FP_CLR, expected control register 0..255"},
        {"uput $WSR, $a0",
         "1:6: uput: operand 1: got $WSR, expected aux control register 256..511"},
        {"ld64step $a0:1, $m0, $m1, 1",
         "1:22: ld64step: operand 3: got $m1, expected $m register with +="},
        {"ldd16a64 $a0:1, $m0, $m1, $m2@",
         "1:17: ldd16a64: operand 2: got $m0, expected $m register with ++"},
        {"ldd16a64 $a0:1, $m0++, $m1, $m2",
         "1:29: ldd16a64: operand 4: got $m2, expected $m register with @"},
        {"tapack $m4, $m0, $m1, $m2", "1:8: tapack: operand 1: got $m4, expected $m pair"},
        {"f16v8acc $a0:1", "1:10: f16v8acc: operand 1: got $a0:1, expected $a quad"},
        {"f16v2add $a0, $a2:3, $a4", "1:15: f16v2add: operand 2: got $a2:3, expected $a register "
                                     "(:BL, :BU or :B may follow)"},
        {"f16v4add $a0:1, $a2, $a4:5", "1:17: f16v4add: operand 2: got $a2, expected $a pair or "
                                       "register with :BL, :BU or :B"},
        {"f32v2add $a0:1, $a3:BL, $a4:5", "1:17: f32v2add: operand 2: got $a3:BL, expected $a pair "
                                          "or register with :B, or :BL if even"},
        {"f32v2add $a0:1, $a2:BU, $a4:5", "1:17: f32v2add: operand 2: got $a2:BU, expected $a pair "
                                          "or register with :B, or :BL if even"},
        {"f32add $a0, $a1:B, $a2", "1:13: f32add: operand 2: got $a1:B, expected $a register"},
        {"st64pace $a0:1, $m0:1+=, $m2, 64", "1:31: st64pace: operand 4: got 64, expected constant "
                                             "0..63, whose low 2 bits count"},
        {"ld2xst64pace $a0:3, $a4:5, $m0:1+=, $m2, -1",
         "1:42: ld2xst64pace: operand 5: got -1, expected constant 0..63, whose low 6 bits count"},
        {"f16v4sisoamp $a0:1, $a2:3, $a4:5, 64",
         "1:35: f16v4sisoamp: operand 4: got 64, expected constant 0..63"},
        {"mov $a0, $m0", "1:1: mov: got other operands, expected $m, $m or $a, $a or $a pair, $a "
                         "pair or $m, $a"},
        {"nop $m0", "1:1: nop: got other operands, expected no operands"},
        {"ldconst $m0, 1 << 32",
         "1:14: setzi: operand 2: got 4294967296, expected constant 0..1048575"},
    });
}

TEST_CASE("instructions that the machine would refuse are told", "[isa]") {
    check_all({
        {"ld2x64pace $azeros, $azeros, $m0:1+=, $m2, 0",
         "1:1: ld2x64pace: two results go to the same register, expected different ones"},
        {"ldb16b16 $a0:1, $m0, $m1++, $m1>>",
         "1:1: ldb16b16: two results go to the same register, expected different ones"},
        {".worker\nsync 2", "2:1: sync: got worker code, expected supervisor code"},
        {".supervisor\nfnop", "2:1: fnop: got supervisor code, expected worker code"},
        {".supervisor\nld64 $a0:1, $m0, 0", "2:1: ld64: got supervisor code, expected worker code"},
        {".supervisor\n{ nop ; fnop }", "2:1: bundle: got supervisor code, expected worker code"},
        {".worker\nput $CR, $m0",
         "2:5: control register $CR: got worker code, expected supervisor code"},
        {".supervisor\nget $m0, $WSR",
         "2:10: control register $WSR: got supervisor code, expected worker code"},
    });
}

TEST_CASE("bundles that cannot be are told", "[isa]") {
    check_all({
        {"{ nop }", "1:1: bundle: got 1 instructions, expected 2"},
        {"{ nop ; fnop ; fnop }", "1:1: bundle: got 3 instructions, expected 2"},
        {"{ nop ; fnop", "1:1: bundle: got the end of the file, expected an instruction or }"},
        {"{ nop ; x: fnop }", "1:9: bundle: got 'x', expected an instruction or }"},
        {"{ nop ; .int 1 }", "1:9: bundle: got '.int', expected an instruction or }"},
        {"{ fnop ; nop }", "1:3: bundle: got aux then main, expected main then aux"},
        {"{ nop ; nop }", "1:3: bundle: got main then main, expected main then aux"},
        {"{ exitz $mzero ; fnop }",
         "1:3: bundle: exitz stands alone, expected it outside a bundle"},
        {"{ ld64 $a0:1, $m0, 0 ; f32add $a1, $a2, $a3 }",
         "1:3: bundle: both halves write the same register, expected different ones"},
        {"{ ldconst $m0, 0x12345678 ; fnop }",
         "1:3: bundle: ldconst stands alone, expected it outside a bundle"},
        {"{ ldconst $m0, 1 ; fnop }",
         "1:3: bundle: ldconst stands alone, expected it outside a bundle"},
        {"{ nop ; ldconst $a0, 1 }",
         "1:9: bundle: ldconst stands alone, expected it outside a bundle"},
    });
    // writes to $azeros are discarded
    CHECK(mistakes_of("{ ld64 $azeros, $m0, 0 ; f16v4add $azeros, $a0:1, $a2:3 }").empty());
}

TEST_CASE("rpt bodies that cannot be are told", "[isa]") {
    const std::string bundle = "{ nop ; fnop }\n";
    check_all({
        {"rpt 3, 0\n" + bundle, "1:1: rpt: the body starts at an address that is no multiple of 8; "
                                "put .align 8 and a nop before it, or make rpt a bundle"},
        {"{ rpt $m0, 1 ; fnop }\n" + bundle,
         "1:3: rpt: the section ends inside the body, expected 2 bundles"},
        {"nop\nrpt 3, 1\n" + bundle + "nop",
         "4:1: rpt: the body of line 2 holds an instruction alone, expected only bundles"},
        {"nop\nrpt 3, 0\n.int 1, 2",
         "2:1: rpt: the body holds data or padding, expected only bundles"},
        {"nop\nrpt 3, 0\n{ bri 0 ; fnop }",
         "3:3: rpt: the body of line 2 holds bri, expected no control or system instruction"},
        {"nop\nrpt 3, 0\n{ nop ; uput $FP_CLR, $a0 }",
         "3:9: rpt: the body of line 2 holds uput, expected no control or system instruction"},
        {"nop\nrpt 3, 0\n{ rpt 2, 0 ; fnop }\n" + bundle,
         "3:3: rpt: the body of line 2 holds rpt, expected no control or system instruction"},
    });
    CHECK(mistakes_of("nop\nrpt 3, 1\n" + bundle + bundle).empty());
}

TEST_CASE("all mistakes of all sources come at once in source order", "[isa]") {
    CHECK(mistakes_of({{"a.S", "br $m16\nnop\nadd $m0, $m1\n{ nop }\nbri there\n"},
                       {"b.S", ".unknown_one\nsetzi $m0, 1 << 20\n"}}) ==
          Lines{"a.S:1:4: register '$m16': not known; did you mean 'm1'?",
                "a.S:3:1: add: got 2 operands, expected 3",
                "a.S:4:1: bundle: got 1 instructions, expected 2",
                "a.S:5:5: symbol 'there': not defined",
                "b.S:1:1: directive '.unknown_one': not known",
                "b.S:2:12: setzi: operand 2: got 1048576, expected constant 0..1048575"});
}

TEST_CASE("mistakes of one line come in the order of their columns, whenever they are found",
          "[isa]") {
    // that a symbol is missing is known last
    CHECK(mistakes_of("bri there ; br $m16") ==
          Lines{"a.S:1:5: symbol 'there': not defined",
                "a.S:1:16: register '$m16': not known; did you mean 'm1'?"});
    CHECK(mistakes_of("br $m16 ; bri there") ==
          Lines{"a.S:1:4: register '$m16': not known; did you mean 'm1'?",
                "a.S:1:15: symbol 'there': not defined"});
}

TEST_CASE("a code address off 8 bytes or outside memory is told", "[isa]") {
    CHECK_THROWS_WITH(assembled("nop", 0x4c004),
                      "test: code address: got 0x4c004, expected a multiple of 8 below 0x200000");
    CHECK_THROWS_AS(assembled("nop", 0x200000), ConfigError);
}

TEST_CASE("hostile sources end soon with few messages", "[isa]") {
    const auto begin = std::chrono::steady_clock::now();
    std::string doubling = "#define x0 nop ;\n";
    std::string unknown;
    std::string chain;
    std::string sums = ".set s0, far\n";
    for (int i = 1; i < 5000; ++i) {
        const std::string number = std::to_string(i);
        const std::string before = std::to_string(i - 1);
        doubling += "#define x" + number + " x" + before + " x" + before + "\n";
        unknown += "bri unknown_symbol_" + number + "\nlabel_of_line_" + number + ": nop\n";
        chain += ".set c" + before + ", c" + number + "\n";
        sums += ".set s" + number + ", s" + before + " + s" + before + "\n";
    }
    CHECK(mistakes_of(doubling + "x40\n").size() == 1);
    CHECK(mistakes_of(doubling + "x4000\n").size() == 1);
    CHECK(mistakes_of(unknown).size() == assembly::Diagnostics::kMaxShown + 1);
    CHECK(mistakes_of(chain + ".set c4999, 1\n").size() > 1);
    CHECK(mistakes_of(sums + "far = 0\n.int s4999").empty());
    std::string padding;
    for (int i = 0; i < 1000; ++i) {
        padding += "nop\n.align 32768\n";
    }
    CHECK(mistakes_of(padding) ==
          Lines{"a.S:65:1: source: got more than 1048576 bytes of code and data"});
    CHECK(mistakes_of(std::string(1000000, '{')).size() == 101);
    CHECK(mistakes_of(std::string(1000000, ';')).empty());
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    CHECK(elapsed.count() < 20);
}
