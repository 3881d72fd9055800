// SPDX-License-Identifier: MIT
// Directives about data, places, sections, checks and messages.
#include "tests/unit/models/isa/assemble_support.h"

#include <catch2/catch.hpp>

using namespace tessera;
using namespace tessera::isa;
using namespace tessera::isa::test;

using Lines = std::vector<std::string>;
using Words = std::vector<std::uint32_t>;

namespace {

constexpr std::uint32_t kNop = 0x19e00000;

} // namespace

TEST_CASE("data of every width is laid down", "[isa]") {
    CHECK(words_of(".byte 1, 2, -1, 255") == Words{0xffff0201});
    CHECK(words_of(".short 1\n.half 2\n.hword 3\n.2byte 4") == Words{0x00020001, 0x00040003});
    CHECK(words_of(".word 1\n.int 2\n.long 3\n.4byte 4") == Words{1, 2, 3, 4});
    CHECK(words_of(".quad 0x1234567890abcdef, -1\n.8byte 3") ==
          Words{0x90abcdef, 0x12345678, 0xffffffff, 0xffffffff, 3, 0});
    CHECK(words_of(".half 1.0h, -2.5h, infh, -nanh") == Words{0xc1003c00, 0xfece7c00});
    CHECK(words_of(".float 1.0, -2.5, 3, 1e-1, inf") ==
          Words{0x3f800000, 0xc0200000, 0x40400000, 0x3dcccccd, 0x7f800000});
    CHECK(words_of(".single 0.5\n.double -1.5") == Words{0x3f000000, 0, 0xbff80000});
    CHECK(words_of(".ascii \"ab\", \"c\" \"d\"\n.string \"x\\n\\x41\"\n.asciz \"\\101\\\"\\\\\"") ==
          Words{0x64636261, 0x00410a78, 0x005c2241});
    CHECK(words_of("x: .int x, 'a', '\\n', 010, 0x10, 0b10") == Words{kBase, 97, 10, 8, 16, 2});
    CHECK(words_of(".byte\n.int") == Words{});
    CHECK(mistakes_of(".float x") ==
          Lines{"a.S:1:8: .float: got 'x', expected a number such as 1.5"});
    CHECK(mistakes_of(".ascii 3") == Lines{"a.S:1:8: .ascii: got '3', expected a string"});
    CHECK(mistakes_of(".byte 256") == Lines{"a.S:1:7: data: got 256, expected -128..255"});
}

TEST_CASE("what is no finite number has the names that it has elsewhere", "[isa]") {
    for (const std::string name : {"inf", "infinity", "Inf", "Infinity"}) {
        INFO(name);
        CHECK(words_of(".float " + name + ", -" + name) == Words{0x7f800000, 0xff800000});
    }
    for (const std::string name : {"nan", "NaN"}) {
        INFO(name);
        const auto words = words_of(".float " + name);
        REQUIRE(words.size() == 1);
        CHECK((words[0] & 0x7fffffff) > 0x7f800000);
    }
    CHECK(mistakes_of(".float INF") ==
          Lines{"a.S:1:8: .float: got 'INF', expected a number such as 1.5"});
}

TEST_CASE("a zero and b is the label before unless a binary digit follows", "[isa]") {
    CHECK(words_of("0: nop\n.int 0b - 0b0, 0b11") == Words{kNop, kBase, 3});
}

TEST_CASE("a symbol says that its vertices scatter", "[isa]") {
    const auto codelet = assembled(".scatters f, g\nf: nop\ng: nop\nh: nop");
    CHECK(codelet.symbol_info.at("f").scatters);
    CHECK(codelet.symbol_info.at("g").scatters);
    CHECK(!codelet.symbol_info.at("h").scatters);
    CHECK(mistakes_of(".scatters 3") == Lines{"a.S:1:11: .scatters: got '3', expected a name"});
}

TEST_CASE("space is left and filled", "[isa]") {
    CHECK(words_of(".space 4\n.skip 2, 0x11\n.zero 2") == Words{0, 0x1111});
    CHECK(words_of(".fill 2, 2, 0x1234\n.fill 2, 4, -1\n.fill 4") ==
          Words{0x12341234, 0xffffffff, 0xffffffff, 0});
    CHECK(words_of(".fill 1, 8, -2") == Words{0xfffffffe, 0xffffffff});
    CHECK(mistakes_of(".space e - s\ns: nop ; e:") ==
          Lines{"a.S:1:1: .space: got a value that is not known yet, expected a number of bytes"});
}

TEST_CASE("places move forward", "[isa]") {
    CHECK(words_of(".int 1\n.org 12, 0xff\n.int 2") == Words{1, 0xffffffff, 0xffffffff, 2});
    CHECK(words_of("x: .int 1\n.org x + 8\n.int 2") == Words{1, 0, 2});
    CHECK(mistakes_of(".int 1, 2\n.org 4") ==
          Lines{"a.S:2:1: .org: got offset 4 at offset 8, expected an offset in this section that "
                "is not behind"});
    CHECK(words_of("nop\n.align 8, 0x55\n.int 1") == Words{kNop, 0x55555555, 1});
    CHECK(words_of("nop\n.balign 16,,4\n.int 1") == Words{kNop, 1});
    CHECK(words_of("nop\n.p2align 3\n.int 1") == Words{kNop, kNop, 1});
    CHECK(mistakes_of(".space -1") == Lines{"a.S:1:1: .space: got -1 bytes, expected 0 or more"});
    CHECK(mistakes_of(".fill 1, 9") ==
          Lines{"a.S:1:1: .fill: got 1 elements of 9 bytes, expected 0 or more of 0..8"});
    CHECK(mistakes_of(".space 1 << 40") ==
          Lines{"a.S:1:1: source: got more than 1048576 bytes of code and data"});
}

TEST_CASE("sections may be left and come back to", "[isa]") {
    CHECK(words_of(".int 1\n.data\n.int 2\n.previous\n.int 3\n.previous\n.int 4\n.text\n.int 5") ==
          Words{1, 3, 5, kNop, 2, 4});
    CHECK(words_of(".int 1\n.pushsection .rodata, \"a\", @progbits\n.int 2\n.popsection\n.int 3") ==
          Words{1, 3, 2});
    CHECK(words_of(".subsection 2\n.int 2\n.subsection 1\n.int 1\n.text\n.int 0\n.data\n.int 9") ==
          Words{0, kNop, 1, kNop, 2, kNop, 9});
    CHECK(words_of(".section .vertex.x, \"axG\", @progbits, group, comdat\nnop") == Words{kNop});
    CHECK(mistakes_of(".popsection") == Lines{"a.S:1:1: .popsection: no .pushsection is open"});
}

TEST_CASE("a subsection is code or data as its section is", "[isa]") {
    // data are padded with zeros, code with nops
    const std::uint32_t nop = words_of("nop").front();
    for (const std::string section :
         {".data", ".section mine, \"a\"", ".text", ".section mine, \"ax\""}) {
        CAPTURE(section);
        const bool is_data = section == ".data" || section.ends_with("\"a\"");
        CHECK(words_of(section + "\n.int 1, 1\n.subsection 1\n.int 2\n.align 8\n.int 3") ==
              Words{1, 1, 2, is_data ? 0 : nop, 3});
    }
    // and stands in no memory where that does not
    CHECK(words_of(".int 1\n.section .comment\n.int 2\n.subsection 1\n.int 3") == Words{1});
}

TEST_CASE("sections for tools are not in memory", "[isa]") {
    const auto codelet = assembled(".int 1\n.section .debug_info, \"\", @progbits\n.int 2\nx:\n"
                                   ".section .note.GNU-stack, \"\"\n.section .comment\n.int 3");
    CHECK(codelet.words == Words{1});
    CHECK(codelet.symbols.empty());
}

TEST_CASE("sections that hold only data may go elsewhere", "[isa]") {
    AssemblyOptions options = options_for(kDefaultTarget);
    options.data_address = 0x80000;
    const std::string text = "start: setzi $m0, table\n.data\n.short 1\n.align 4\ntable: .int 5\n"
                             ".section .rodata.x, \"a\"\n.int 6\n.section .data.code\nnop\n";
    const auto codelet = assemble("test", {{"a.S", text}}, kBase, options);
    CHECK(codelet.words == Words{0x19080004, kNop, kNop});
    CHECK(codelet.data_address == 0x80000);
    CHECK(codelet.data_words == Words{1, 5, 6});
    CHECK(codelet.symbols.at("table") == 0x80004);
    options.data_address = 0x80004;
    CHECK_THROWS_WITH(assemble("test", {{"a.S", text}}, kBase, options),
                      "test: data address: got 0x80004, expected a multiple of 8 below 0x200000");
}

TEST_CASE("what other tools need is accepted", "[isa]") {
    CHECK(
        listing_of(".file \"a.c\"\n.loc 1 2 3\n.ident \"x\"\n.cfi_startproc\n.cfi_def_cfa $m11, 8\n"
                   ".hidden x\n.protected y\n.extern z\n.type x, @function\n.addrsig\n"
                   ".addrsig_sym x\nx: nop\n.cfi_endproc\n") == Lines{"nop"});
}

TEST_CASE("directives for other tools have no effect, whatever stands behind them", "[isa]") {
    for (const std::string name : {".extern",
                                   ".hidden",
                                   ".protected",
                                   ".internal",
                                   ".type",
                                   ".file",
                                   ".loc",
                                   ".ident",
                                   ".addrsig",
                                   ".addrsig_sym",
                                   ".cfi_sections",
                                   ".cfi_startproc",
                                   ".cfi_endproc",
                                   ".cfi_def_cfa",
                                   ".cfi_def_cfa_register",
                                   ".cfi_def_cfa_offset",
                                   ".cfi_adjust_cfa_offset",
                                   ".cfi_offset",
                                   ".cfi_rel_offset",
                                   ".cfi_restore",
                                   ".cfi_undefined",
                                   ".cfi_same_value",
                                   ".cfi_remember_state",
                                   ".cfi_restore_state",
                                   ".cfi_register",
                                   ".cfi_return_column",
                                   ".cfi_signal_frame",
                                   ".cfi_personality",
                                   ".cfi_lsda",
                                   ".cfi_escape",
                                   ".cfi_val_offset",
                                   ".cfi_window_save"}) {
        CAPTURE(name);
        for (const std::string arguments : {"", " x", " x, @function, \"y\" 4 (", " $m11, -8"}) {
            CHECK(words_of("nop\n" + name + arguments + "\nnop") == words_of("nop\nnop"));
            // not so in a bundle of which it is no half
            const bool is_half = name != ".extern";
            CHECK(mistakes_of("{ nop ; fnop\n" + name + arguments + "\n}").empty() == is_half);
        }
    }
}

TEST_CASE("statements and labels stand as they like", "[isa]") {
    CHECK(listing_of("a: b: 1: nop ; c: { nop ; fnop } d:nop\n{ nop\n\n;fnop\n} bri b") ==
          Lines{"nop", "{ nop ; fnop }", "nop", "{ nop ; fnop }", "bri 0x4c000"});
    CHECK(listing_of("x : nop # a comment ; fnop\n/* y */ nop") == Lines{"nop", "nop"});
    CHECK(listing_of("add $ m0 , $m1 , $\tm2\nnot64 $a0 : 1, $a2: 3") ==
          Lines{"add $m0, $m1, $m2", "not64 $a0:1, $a2:3"});
}

TEST_CASE("messages of the source's own are shown", "[isa]") {
    const auto codelet = assembled("nop\n .warning \"old form\"\n.warning");
    CHECK(codelet.warnings == Lines{"a.S:2:2: .warning: old form", "a.S:3:1: .warning"});
    CHECK(mistakes_of(".err") == Lines{"a.S:1:1: .err"});
    CHECK(mistakes_of("{ nop ; fnop\n.error \"in a bundle\" }") ==
          Lines{"a.S:2:1: .error: in a bundle"});
}

TEST_CASE("checks can be turned into warnings and off", "[isa]") {
    const std::string code = "\n.supervisor\nfnop\n{ nop ; fnop }\nput $FP_CLR, $a0\n";
    CHECK(mistakes_of(code).size() == 4);
    CHECK(mistakes_of(".allow_invalid_execution_mode" + code).empty());
    CHECK(assembled(".warn_on_invalid_execution_mode" + code).warnings.size() >= 3);
    CHECK(mistakes_of(".allow_invalid_execution_mode\n.error_on_invalid_execution_mode" + code)
              .size() == 4);
    CHECK(mistakes_of("rpt 3, 0\nnop").size() == 2);
    CHECK(mistakes_of(".allow_invalid_repeat\nrpt 3, 0\nnop").empty());
    CHECK(assembled(".warn_on_invalid_repeat\nrpt 3, 0\nnop").warnings.size() == 2);
    CHECK(mistakes_of(".allow_invalid_bundles\n{ nop ; nop }").empty());
    CHECK(assembled(".warn_on_invalid_bundles\n{ nop ; nop }").warnings ==
          Lines{"a.S:2:3: bundle: got main then main, expected main then aux"});
    CHECK(mistakes_of(".allow_invalid_operands\nld2x64pace $a0:1, $a0:1, $m0:1+=, $m2, 0").empty());
}

TEST_CASE("each check is turned off, into warnings and on again by itself", "[isa]") {
    struct Check {
        std::string name;
        std::string wrong; ///< in the eyes of this check alone
        std::string message;
    };
    const std::vector<Check> checks = {
        {"bundles", "{ nop ; nop }", "2:3: bundle: got main then main, expected main then aux"},
        {"operands", "ld2x64pace $a0:1, $a0:1, $m0:1+=, $m2, 0",
         "2:1: ld2x64pace: two results go to the same register, expected different ones"},
        {"execution_mode", ".supervisor ; exitz $m0",
         "2:15: exitz: got supervisor code, expected worker code"},
        {"repeat", ".word 0 ; rpt 3, 0",
         "2:11: rpt: the section ends inside the body, expected 1 bundles"},
    };
    const auto outcome = [](const std::string& text) -> Lines {
        try {
            return assembled(text).warnings;
        } catch (const ConfigError& error) {
            Lines told{"refused"};
            for (const Diagnostic& diagnostic : error.diagnostics()) {
                told.push_back(diagnostic.text());
            }
            return told;
        }
    };
    for (const Check& check : checks) {
        const std::string message = "a.S:" + check.message;
        for (const Check& other : checks) {
            CAPTURE(check.name, other.name);
            const bool is_own = check.name == other.name;
            const Lines refused{"refused", message};
            const std::string code = "\n" + check.wrong;
            const auto after = [&](const std::string& what) { return what + other.name; };
            CHECK(outcome(after(".error_on_invalid_") + code) == refused);
            CHECK(outcome(after(".warn_on_invalid_") + code) ==
                  (is_own ? Lines{message} : refused));
            CHECK(outcome(after(".allow_invalid_") + code) == (is_own ? Lines{} : refused));
            CHECK(outcome(after(".allow_invalid_") + " ; " + after(".error_on_invalid_") + code) ==
                  refused);
        }
    }
    CHECK(mistakes_of(".allow_optimizations\n.disallow_optimizations\n{ fnop ; nop }").size() == 1);
    CHECK(mistakes_of(".disallow_optimizations\n.allow_optimizations\n{ fnop ; nop }").empty());
}

TEST_CASE("on request halves are swapped and rpt bodies aligned", "[isa]") {
    CHECK(mistakes_of("{ fnop ; nop }").size() == 1);
    CHECK(listing_of(".allow_optimizations\n{ fnop ; nop }\n{ mov $a0, $a1\nmov $m0, $m1 }") ==
          Lines{"{ nop ; fnop }", "{ or $m0, $m1, 0 ; or $a0, $a1, 0 }"});
    CHECK(mistakes_of("rpt 3, 0\n{ nop ; fnop }").size() == 1);
    CHECK(listing_of(".allow_optimizations\nrpt 3, 0\n{ nop ; fnop }\nrpt 3, 0\n{ nop ; fnop }\n"
                     "{ rpt 3, 0 ; fnop }\n{ nop ; fnop }") ==
          Lines{"nop", "rpt 3, 0", "{ nop ; fnop }", "nop", "rpt 3, 0", "{ nop ; fnop }",
                "{ rpt 3, 0 ; fnop }", "{ nop ; fnop }"});
    // a bundle off 8 bytes is moved where it is an rpt, in whichever half, and no other is
    for (const std::string rpt : {"{ rpt 3, 0 ; fnop }", "{ fnop ; rpt 3, 0 }"}) {
        CHECK(listing_of(".allow_optimizations\nnop\n" + rpt + "\n{ nop ; fnop }") ==
              Lines{"nop", "nop", "{ rpt 3, 0 ; fnop }", "{ nop ; fnop }"});
    }
    CHECK(listing_of(".allow_optimizations\nnop\n{ nop ; fnop }") ==
          Lines{"nop", "{ nop ; fnop }"});
    CHECK(mistakes_of("nop\n{ rpt 3, 0 ; fnop }\n{ nop ; fnop }").size() == 1);
    CHECK(mistakes_of(".allow_optimizations\n{ nop ; nop }").size() == 1);
}

TEST_CASE("the preprocessor comes first", "[isa]") {
    AssemblyOptions options = options_for(kDefaultTarget);
    options.defines = {{"ROWS", "4"}};
    const std::string text =
        "#include \"poplar/TileConstants.hpp\"\n#include <poplar/StackSizeDefs.hpp>\n"
        "#ifdef __IPU__\n#define glue(a) half_##a\n.macro M t\n"
        ".equ glue(\\t\\()), ROWS\n.int half_\\t, CTXT_WORKERS\n.endm\n#endif\n"
        ".section .text.x, FUNCTION_IS_WORKER\nM x\nDEF_STACK_USAGE 0 f\n";
    CHECK(assemble("test", {{"a.S", text}}, kBase, options).words == Words{4, 6});
    CHECK(
        mistakes_of("#define BAD adr $m0 ; nop\nBAD")
            .at(0)
            .find("a.S:1:13: instruction 'adr': not known; did you mean 'add'?\n  a.S:2:1: in the "
                  "expansion of macro 'BAD'") == 0);
}
