// SPDX-License-Identifier: MIT
#include "tests/unit/models/isa/assemble_support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <ctime>
#include <map>

using namespace tessera;
using namespace tessera::isa;
using namespace tessera::isa::test;

using Lines = std::vector<std::string>;

TEST_CASE("a kernel with supervisor and worker code assembles", "[isa]") {
    const std::string text = R"(
#define m_rows m0
#define m_addr m4:5
#define a_in a0:1
    .section .text.kernel, "ax", @progbits
    .globl entry
    .type entry, @function
    .supervisor
entry:
    setzi $m1, worker
    put $CCCSLOAD, $m0
    ld128putcs 0
    runall $m1, $m0, 0
    sync TEXCH_SYNCZONE_LOCAL
    br $lr
    .size entry, .-entry
    .worker
    .align 8
worker:
    get $m1, $WSR               // the worker's number
    and $m1, $m1, CSR_W_WSR__CTXTID_M1__MASK
    { ld32 $m_rows, $mvertex_base, $mzero, 0
      setzi $a7, 1 << CSR_W_FP_CLR__ZAACC__SHIFT }
    tapack $m_addr, $m2, $m3, $m2
    {brz $m_rows, .Lend; uput $FP_CLR, $a7}
    ldconst $m6, 0x12345678
    .align 8
    { rpt $ m_rows, (2f - 1f) / 8 - 1 ; fnop }
1:
    { ld2xst64pace $a0 : 3, $a4:5, $m_addr+=, $m6, 0b010101 ; f16v4hihov4amp $a4:5, $a_in, $a2:3, TAMP_F16V4_E4_P0 }
    { ld64step $a0:1, $mzero, $m2+=, 1 ; f16v4mul $a2:3, $a0:BU, $a4:5 }
2:
.Lend:
    exitz $mzero
)";
    CHECK(mistakes_of(text) == Lines{});
    const program::Codelet codelet = assembled(text);
    CHECK(codelet.symbols.at("entry") == kBase);
    CHECK(codelet.symbols.at("worker") == kBase + 24);
    CHECK(codelet.symbols.size() == 2);
    CHECK(listing_of(text) ==
          Lines{"setzi $m1, 0x4c018", "put $CCCSLOAD, $m0", "ld128putcs 0", "runall $m1, $m0, 0",
                "sync 2", "br $m10", "get $m1, 1", "and $m1, $m1, 7",
                "{ ld32 $m0, $m13, $mzero, 0 ; setzi $a7, 8 }", "tapack $m4:5, $m2, $m3, $m2",
                "{ brz $m0, 0x4c058 ; uput $FP_CLR, $a7 }", "setzi $m6, 0x45678",
                "or $m6, $m6, 0x12300000", "nop", "{ rpt $m0, 1 ; fnop }",
                "{ ld2xst64pace $a0:3, $a4:5, $m4:5+=, $m6, 21 ; f16v4hihov4amp $a4:5, $a0:1, "
                "$a2:3, 48 }",
                "{ ld64step $a0:1, $mzero, $m2+=, 1 ; f16v4mul $a2:3, $a0:BU, $a4:5 }",
                "exitz $mzero"});
}

namespace {

using Words = std::vector<std::uint32_t>;

/// The value of an expression, after `before`, as the assembler puts it into data.
std::int32_t value_of(const std::string& expression, const std::string& before = "") {
    return static_cast<std::int32_t>(words_of(before + "\n.int " + expression).back());
}

} // namespace

TEST_CASE("bundles may be written on one line or several", "[isa]") {
    const Lines expected = {"{ nop ; fnop }"};
    for (const char* text : {"{ nop ; fnop }", "{nop;fnop};", "{\nnop\nfnop\n}", "{ nop\n; fnop }",
                             "{ nop ; fnop ; }", "{ /* a */ nop // b\n fnop }"}) {
        INFO(text);
        CHECK(listing_of(text) == expected);
    }
    CHECK(listing_of("nop { nop ; fnop } fnop") == Lines{"nop", "{ nop ; fnop }", "fnop"});
    CHECK(words_of("{ nop ; fnop }") == Words{0x99e00000, 0x32d00000});
}

TEST_CASE("labels stand before code and numeric labels may come again", "[isa]") {
    CHECK(listing_of("a: b:\n c: bri c\n bri d\nd$1@x.y: d: nop") ==
          Lines{"bri 0x4c000", "bri 0x4c008", "nop"});
    CHECK(listing_of("1: bri 1f\n1: bri 1b\n2: bri 1b; 1: bri 2b\n bri 1b") ==
          Lines{"bri 0x4c004", "bri 0x4c004", "bri 0x4c004", "bri 0x4c008", "bri 0x4c00c"});
    CHECK(listing_of("0: bri 0b\nsetzi $m0, 0b11") == Lines{"bri 0x4c000", "setzi $m0, 3"});
    CHECK(listing_of("bri .Lend ; .Lend: bri .") == Lines{"bri 0x4c004", "bri 0x4c004"});
}

TEST_CASE("expressions have the values of GNU assemblers", "[isa]") {
    CHECK(value_of("1 + 2 * 3") == 7);
    CHECK(value_of("(1 + 2) * 3") == 9);
    CHECK(value_of("1 + 2 << 3") == 17);
    CHECK(value_of("1 | 2 + 4") == 7);
    CHECK(value_of("6 & 3 == 2") == -1);
    CHECK(value_of("7 - 2 - 1") == 4);
    CHECK(value_of("100 / 7 % 4") == 2);
    CHECK(value_of("-7 / 2") == -3);
    CHECK(value_of("-9 % 4") == -1);
    CHECK(value_of("-8 >> 60") == 15); // brings in zeros
    CHECK(value_of("~0 ^ 0xf0 & 0x3c") == 0xc);
    CHECK(value_of("!5 + !0") == 1);
    CHECK(value_of("- - + -3") == -3);
    CHECK(value_of("3 < 4") == -1);
    CHECK(value_of("4 <= 3") == 0);
    CHECK(value_of("3 > 4 || 4 >= 4") == 1);
    CHECK(value_of("1 != 1 && 1") == 0);
    CHECK(value_of("0x1F + 0b101 + 10") == 46);
    CHECK(value_of("-(-1 << 63) / -1 & 0") == 0);
    CHECK(value_of("1.0h") == 0x3c00);
    CHECK(value_of("-2.5h") == 0xc100);
    CHECK(value_of("infh | -infh") == 0xfc00);
    CHECK(value_of("3h") == 0x4200);
    CHECK(value_of("CTXT_WORKERS * 4") == 24);
    CHECK(value_of("TAMP_F32_E2_P3") == 0x13);
}

TEST_CASE("the place and label differences are known in time", "[isa]") {
    CHECK(value_of(". - start", "start: nop ; nop") == 8);
    CHECK(value_of("(. - 7b) & 7", "7: nop") == 4);
    CHECK(words_of(".int end - ., end ; end:") == Words{8, kBase + 8});
    // known while parsing: an alignment and a short ldconst need it
    CHECK(listing_of("a: nop ; b: .align (b - a) * 4\nldconst $m0, b - a\n") ==
          Lines{"nop", "nop", "nop", "nop", "setzi $m0, 4"});
    // not known yet: two instructions
    CHECK(listing_of("ldconst $m0, c - .\n c:") == Lines{"setzi $m0, 8", "or $m0, $m0, 0"});
    // in sections of different sources too, once they are linked
    CHECK(assembled({{"a.S", ".globl a\na: nop"}, {"b.S", "nop\nb: .int b - a, a"}}).words ==
          Words{0x19e00000, 0x19e00000, 0x19e00000, 12, kBase});
}

TEST_CASE("assigned symbols keep the value that a use saw", "[isa]") {
    CHECK(words_of("n = 1\n.int n\n.equ n, n + 1\n.int n\n.set n, 7 ; .int n") == Words{1, 2, 7});
    CHECK(words_of(".int n, later\n later = n * 2\n n = 4") == Words{4, 8});
    CHECK(words_of(".equ bytes, 2f - 1f\n1: nop ; nop\n2: .int bytes").back() == 8);
    CHECK(words_of("CTXT_WORKERS = 3\n.int CTXT_WORKERS") == Words{3});
}

TEST_CASE("an assigned symbol is told if it is a number of 32 bits", "[isa]") {
    const auto codelet = assembled(
        {{"a.S",
          ".globl none, least, most, more\n.set none, -1\n.set least, 0\n.set most, 0xffffffff\n"
          ".set more, 0x100000000\nf: nop"}});
    CHECK(codelet.symbols.contains("least"));
    CHECK(codelet.symbols.at("most") == 0xffffffff);
    CHECK_FALSE(codelet.symbols.contains("none"));
    CHECK_FALSE(codelet.symbols.contains("more"));
}

TEST_CASE("symbols are shared where they are global", "[isa]") {
    const auto codelet = assembled({{"a.S", ".globl f, K\nf: nop\nloop: bri g\nK = 5\n.Lx: nop"},
                                    {"b.S", ".global g\ng: bri loop\nloop: bri f\n.int K\n.Lx:"}});
    CHECK(codelet.words ==
          Words{0x19e00000, 0x15013004, 0x19e00000, 0x19e00000, 0x15013005, 0x15013000, 5});
    CHECK(codelet.symbols == std::map<std::string, Address>{
                                 {"K", 5}, {"f", kBase}, {"g", kBase + 16}, {"loop", kBase + 4}});
    // a local label is not seen elsewhere
    CHECK(mistakes_of({{"a.S", "f: nop"}, {"b.S", "bri f"}}) ==
          Lines{"b.S:1:5: symbol 'f': not defined"});
    // a .L label stays local whatever is said
    CHECK(mistakes_of({{"a.S", ".globl .Lf\n.Lf: nop"}, {"b.S", "bri .Lf"}}).size() == 1);
    // a weak symbol gives way
    CHECK(assembled({{"a.S", ".weak f\nf: nop"}, {"b.S", ".globl f\nf: nop"}}).symbols.at("f") ==
          kBase + 8);
    CHECK(assembled({{"a.S", ".globl f\nf: nop"}, {"b.S", ".weak f\nf: nop"}}).symbols.at("f") ==
          kBase);
}

TEST_CASE("sections follow each other in order of first appearance", "[isa]") {
    const std::string text = ".section .data.x, \"aw\"\n.short 1\n.text\nbri x\n"
                             ".section .data.x\n.short 2\n.align 16\nx: .int 3\n.text\nnop";
    // .data.x appears first only after .text, which every source starts in
    CHECK(words_of(text) ==
          Words{0x15013008, 0x19e00000, 0x19e00000, 0x19e00000, 0x00020001, 0, 0, 0, 3});
}

TEST_CASE("alignment pads with zero bytes and then nops", "[isa]") {
    CHECK(words_of(".half 0x1234\n.balign 8\n.int 1") == Words{0x1234, 0x19e00000, 1});
    CHECK(words_of("nop ; .p2align 3\n.long 1") == Words{0x19e00000, 0x19e00000, 1});
    CHECK(words_of(".short -1, 2, 0xffff") == Words{0x0002ffff, 0xffff});
    CHECK(words_of(".align 0\n.align 1\n.int -1") == Words{0xffffffff});
    // a section starts on its largest alignment, whatever the codelet's address
    const auto codelet = assembled("nop\n.align 32\nx: nop", 0x4c008);
    CHECK(codelet.symbols.at("x") % 32 == 0);
}

TEST_CASE("macros without parameters are replaced also after a dollar", "[isa]") {
    CHECK(listing_of("#define acc a0:1\n#define ptr m3\n#define N (COUNT + 1)\n#define COUNT 3\n"
                     "ld64step $acc, $mzero, $ ptr += , N\n#undef ptr\n#define ptr m4\nbr $ptr") ==
          Lines{"ld64step $a0:1, $mzero, $m3+=, 4", "br $m4"});
    CHECK(listing_of("#define two nop ; nop\ntwo\n#define loop loop\nloop: bri loop") ==
          Lines{"nop", "nop", "bri 0x4c008"});
    CHECK(listing_of("# a comment that isn't code\n  # 12 \"a.c\"\nnop") == Lines{"nop"});
    CHECK(listing_of("#define long_one \\\n  nop\nlong_one") == Lines{"nop"});
    CHECK(listing_of("#define empty\nempty nop empty") == Lines{"nop"});
}

TEST_CASE("operands are written as the machine's assembler takes them", "[isa]") {
    CHECK(listing_of("add $m0,$m1,-1\nadd $bp, $fp, $sp\nsub $m0, 5, $m1\nsub $m0, $m1, 5") ==
          Lines{"add $m0, $m1, -1", "add $m8, $m9, $m11", "sub $m0, 5, $m1", "add $m0, $m1, -5"});
    CHECK(
        listing_of("ld32 $m0, $m1, 2\nld32 $a0, $m1, $m2\nld32 $a0, $m1, $m2, $m3") ==
        Lines{"ld32 $m0, $m1, $mzero, 2", "ld32 $a0, $m1, $mzero, $m2", "ld32 $a0, $m1, $m2, $m3"});
    CHECK(listing_of("ldd16a64 $a0:1, $m1++, $m2, $m3@\nldd16b16 $azero, $m1++, $m2, $mzero@") ==
          Lines{"ldd16a64 $a0:1, $m1++, $m2, $m3@", "ldd16b16 $azero, $m1++, $m2, $mzero@"});
    CHECK(listing_of("f16v2mul $a0, $a1:BL, $a2\nf32v2mul $a0:1, $a3:B, $a4 : 5") ==
          Lines{"f16v2mul $a0, $a1:BL, $a2", "f32v2mul $a0:1, $a3:B, $a4:5"});
    CHECK(listing_of("or $a0, $azero, 0x3f800000\nor $m0, $m0, -0x80000000\nsetzi $a1, 1.0h") ==
          Lines{"or $a0, $azero, 0x3f800000", "or $m0, $m0, 0x80000000", "setzi $a1, 0x3c00"});
    CHECK(listing_of("f32v4tof16 $azeros, $a12:15\nand64 $a14:15, $a2:3, $azeros") ==
          Lines{"f32v4tof16 $azeros, $a12:15", "and64 $azeros, $a2:3, $azeros"});
    CHECK(listing_of("uput 0x101, $a0\nuput 1, $a0\nuget $a0, $TAS\nget $m0, $COUNT_L") ==
          Lines{"uput $FP_CLR, $a0", "uput $FP_CLR, $a0", "uget $a0, $TAS", "get $m0, 96"});
}

TEST_CASE("pseudo instructions stand for real ones", "[isa]") {
    CHECK(listing_of("nop\nfnop\nmov $m0, $m1\nmov $a0, $a1\nmov $a0:1, $a2:3\nmov $m0, $a1") ==
          Lines{"nop", "fnop", "or $m0, $m1, 0", "or $a0, $a1, 0", "or64 $a0:1, $a2:3, $azeros",
                "atom $m0, $a1"});
    CHECK(listing_of("zero $m0\nzero $a0\nzero $a0:1\nswap16 $m0, $m1\nswap16 $a0, $a1") ==
          Lines{"setzi $m0, 0", "setzi $a0, 0", "or64 $a0:1, $azeros, $azeros",
                "roll16 $m0, $m1, $m1", "roll16 $a0, $a1, $a1"});
    CHECK(listing_of("ldconst $m0, 7\nldconst $m1, 0xfffffffe\nldconst $a2, -1\n") ==
          Lines{"setzi $m0, 7", "setzi $m1, 0xffffe", "or $m1, $m1, 0xfff00000",
                "setzi $a2, 0xfffff", "or $a2, $a2, 0xfff00000"});
    CHECK(listing_of("get $a0, $FP_STS\nput $FP_CLR, $a0\nput $CCCSLOAD, $m0") ==
          Lines{"uget $a0, $FP_STS", "uput $FP_CLR, $a0", "put $CCCSLOAD, $m0"});
}

TEST_CASE("the line table has an entry for every code word", "[isa]") {
    const auto codelet = assembled(
        {{"a.S", "nop\n{ nop\n fnop }\n.align 8\n"}, {"b.S", "\nldconst $m0, -1\n.int 3"}});
    CHECK(codelet.name == "test");
    CHECK(codelet.files == std::vector<std::string>{"a.S", "b.S"});
    std::vector<std::vector<std::uint32_t>> lines;
    for (const program::LineEntry& entry : codelet.lines) {
        lines.push_back({entry.address - kBase, entry.file, entry.line});
    }
    CHECK(lines == std::vector<std::vector<std::uint32_t>>{
                       {0, 0, 1}, {4, 0, 2}, {8, 0, 3}, {16, 1, 2}, {20, 1, 2}});
}

TEST_CASE("the number of workers is a constant of the machine", "[isa]") {
    for (const std::int64_t workers : {1, 6, 8}) {
        Target target;
        target.workers = workers;
        CHECK(standard_constants(target).at("CTXT_WORKERS") == workers);
    }
    CHECK(standard_constants(kDefaultTarget).at("TAMP_F16V4_E4_P3") == 0x33);
    CHECK(standard_constants(kDefaultTarget).at("TAMP_F32_E1_P7") == 7);
}

TEST_CASE("a thousand lines assemble in milliseconds", "[isa]") {
    std::string text;
    for (int i = 0; i < 500; ++i) {
        text += "{ ld2x64pace $a0:1, $a2:3, $m4:5+=, $m6, 0b0101 ; f16v4mul $a4:5, $a0:1, $a2:3 }\n"
                "add $m0, $m1, (1f - .) / 4 + CTXT_WORKERS\n1:\n";
    }
    const AssemblyOptions options = options_for(kDefaultTarget);
    double best_s = 1;
    for (int run = 0; run < 5; ++run) {
        const auto begin = std::clock(); // processor time, which other programs hardly change
        const auto codelet = assemble("test", {{"a.S", text}}, kBase, options);
        const auto elapsed = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        CHECK(codelet.words.size() == 1500);
        best_s = std::min(best_s, elapsed);
    }
    CHECK(best_s < 0.1); // 3 ms without sanitizers; the margin is for slow hosts
}
