// SPDX-License-Identifier: MIT
// The last value that is taken and the first that is not: of every constant operand of the table,
// of data, directives and limits; and published numbers once more.
#include "models/isa/assembler/diagnostics.h"
#include "models/isa/assembler/lexer.h"
#include "models/isa/assembler/match.h"
#include "models/isa/assembler/source_text.h"
#include "models/isa/csr.h"
#include "tests/unit/models/isa/assemble_support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string>

using namespace tessera;
using namespace tessera::isa;
using namespace tessera::isa::test;

using Lines = std::vector<std::string>;
using Words = std::vector<std::uint32_t>;

namespace {

/// Values that an operand takes, and neighbours that it does not.
struct Range {
    std::vector<std::int64_t> good;
    std::vector<std::int64_t> bad;
};

Range range_of(const OperandSpec& operand) {
    const std::int64_t n = std::int64_t{1} << operand.bits;
    switch (operand.kind) {
    case OperandKind::SImm:
        return {{-n / 2, -1, 0, n / 2 - 1}, {-n / 2 - 1, n / 2}};
    case OperandKind::TopImm:
        return {{0x100000, 0x7ff00000, 0x80000000, 0xfff00000, -0x80000000LL},
                {0x100001, 0x180000, 0x100000000, -0x80100000LL}};
    case OperandKind::CodeAddr:
        return {{0, 4, 4 * n - 4}, {-4, 2, 4 * n}};
    case OperandKind::Events:
    case OperandKind::EventsSplit:
        return {{1, n}, {0, n + 1}};
    case OperandKind::UCsr:
        return {{0, 255, 256, 511}, {-1, 512}};
    case OperandKind::Strides:
        return {{0, 63}, {-1, 64}};
    default:
        return {{0, n - 1}, {-1, n}};
    }
}

/// Whether the row itself, not another of its mnemonic, takes these operands.
bool takes(Opcode opcode, const std::vector<assembly::Operand>& operands) {
    const auto own = alias_of(opcode);
    const auto matched = assembly::match(own.empty() ? spec_of(opcode).mnemonic : own, operands);
    const auto* operation = std::get_if<Operation>(&matched);
    return operation != nullptr && operation->opcode == opcode &&
           decode(encode(*operation), has_two_words(opcode) ? encode_second(*operation) : 0) ==
               *operation;
}

} // namespace

TEST_CASE("every constant operand takes its range and nothing beside it", "[isa]") {
    int checked = 0;
    for (std::uint16_t code = 1; code < static_cast<std::uint16_t>(Opcode::kCount); ++code) {
        const auto opcode = static_cast<Opcode>(code);
        CAPTURE(spec_of(opcode).mnemonic);
        Operation plain;
        plain.opcode = opcode;
        const auto list = spec_of(spec_of(opcode).form).list();
        std::int32_t next = 0; // registers apart
        for (const OperandSpec& operand : list) {
            if (is_register(operand.kind)) {
                set_operand(plain, operand.slot, next);
                next += 4;
            } else {
                set_operand(plain, operand.slot,
                            static_cast<std::int32_t>(range_of(operand).good.front()));
            }
        }
        for (std::size_t i = 0; i < list.size(); ++i) {
            if (is_register(list[i].kind)) {
                continue;
            }
            auto operands = assembly::operands_of(plain);
            operands[i].shape = assembly::OperandShape::Expression;
            const Range range = range_of(list[i]);
            for (const std::int64_t value : range.good) {
                CAPTURE(i, value);
                operands[i].value = value;
                CHECK(takes(opcode, operands));
                ++checked;
            }
            for (const std::int64_t value : range.bad) {
                CAPTURE(i, value);
                operands[i].value = value;
                CHECK_FALSE(takes(opcode, operands));
            }
        }
    }
    CHECK(checked > 200);
}

TEST_CASE("data of each width take their range and nothing beside it", "[isa]") {
    struct Row {
        const char* directive;
        std::int64_t least;
        std::int64_t most;
    };
    for (const Row& row : {Row{".byte", -128, 255}, Row{".short", -32768, 65535},
                           Row{".int", -2147483648LL, 4294967295LL}}) {
        for (const std::int64_t value : {row.least, row.most}) {
            CHECK(mistakes_of(fmt::format("{} {}", row.directive, value)).empty());
            CHECK(mistakes_of(fmt::format(".fill 2, {}, {}",
                                          row.most > 65535 ? 4
                                          : row.most > 255 ? 2
                                                           : 1,
                                          value))
                      .empty());
        }
        for (const std::int64_t value : {row.least - 1, row.most + 1}) {
            CHECK(mistakes_of(fmt::format("{} {}", row.directive, value)).size() == 1);
            CHECK(mistakes_of(fmt::format(".fill 2, {}, {}",
                                          row.most > 65535 ? 4
                                          : row.most > 255 ? 2
                                                           : 1,
                                          value))
                      .size() == 1);
        }
    }
    CHECK(words_of(".quad 0xffffffffffffffff, 0x8000000000000000") ==
          Words{0xffffffff, 0xffffffff, 0, 0x80000000});
    CHECK(mistakes_of(".space 4, 255").empty());
    CHECK(mistakes_of(".space 4, 256").size() == 1);
}

TEST_CASE("directives take their limits and nothing beyond", "[isa]") {
    CHECK(mistakes_of(".p2align 15").empty());
    CHECK(mistakes_of(".p2align 16").size() == 1);
    CHECK(mistakes_of(".p2align -1").size() == 1);
    CHECK(words_of(".p2align 0\n.int 1") == Words{1});
    CHECK(mistakes_of(".align 32768").empty());
    CHECK(mistakes_of(".align 65536").size() == 1);
    CHECK(mistakes_of(".align -8").size() == 1);
    CHECK(words_of(".int 1, 2\n.org 8\n.int 3") == Words{1, 2, 3});
    CHECK(mistakes_of(".int 1, 2\n.org 7").size() == 1);
    CHECK(words_of(".fill 0, 4, 1\n.fill 1, 0, 1\n.int 1") == Words{1});
    CHECK(mistakes_of(".fill -1, 4, 1").size() == 1);
    CHECK(words_of(".space 0\n.int 1") == Words{1});
    CHECK(words_of(".space 1048576").size() == 262144);
    CHECK(mistakes_of(".space 1048577").size() == 1);
    CHECK(mistakes_of(".space 1048576\n.byte 1").size() == 1);
    CHECK(words_of(".rept 0\n.int 1\n.endr\n.int 2") == Words{2});
    CHECK(mistakes_of(".rept -1\n.endr").size() == 1);
    CHECK(mistakes_of(".rept 16777217\n.endr").size() == 1);
    // a short ldconst ends at 20 bits
    CHECK(listing_of("ldconst $m0, 0xfffff\nldconst $m0, 0x100000") ==
          Lines{"setzi $m0, 0xfffff", "setzi $m0, 0", "or $m0, $m0, 0x100000"});
    CHECK(mistakes_of("ldconst $m0, -0x80000000\nldconst $m0, 0xffffffff").empty());
    CHECK(mistakes_of("ldconst $m0, -0x80000001").size() == 1);
    // halves round to the largest, or are none
    CHECK(words_of(".half 65519h, 0h") == Words{0x7bff});
    CHECK(mistakes_of(".half 65520h").size() == 1);
    // hexadecimal from 4096 on
    CHECK(listing_of("setzi $m0, 4095\nsetzi $m0, 4096") ==
          Lines{"setzi $m0, 4095", "setzi $m0, 0x1000"});
}

TEST_CASE("expressions go to the ends of 64 bits", "[isa]") {
    const auto value = [](const std::string& expression) {
        const Words words = words_of(".quad " + expression);
        return static_cast<std::int64_t>(words[0] | std::uint64_t{words[1]} << 32U);
    };
    CHECK(value("1 << 63") == std::numeric_limits<std::int64_t>::min());
    CHECK(value("1 << 0") == 1);
    CHECK(value("-1 >> 63") == 1);
    CHECK(value("-1 >> 0") == -1);
    CHECK(mistakes_of(".quad 1 >> 64").size() == 1);
    CHECK(mistakes_of(".quad 1 << -1").size() == 1);
    CHECK(value("2 && 3") == 1);
    CHECK(value("2 && 0") == 0);
    CHECK(value("0 || 3") == 1);
    CHECK(value("0 || 0") == 0);
    CHECK(value("3 == 3") == -1);
    CHECK(value("3 == 4") == 0);
    CHECK(value("3 <> 4") == -1);
    CHECK(value("3 != 3") == 0);
    CHECK(value("3 < 3") == 0);
    CHECK(value("3 <= 3") == -1);
    CHECK(value("3 > 3") == 0);
    CHECK(value("3 >= 3") == -1);
    CHECK(value("4 >= 3") == -1);
    CHECK(value("2 >= 3") == 0);
    CHECK(value("12 ^ 10") == 6);
    CHECK(value("12 | 3 & 2") == 2); // of one strength
    CHECK(value("7 % 4 * 2") == 6);
    CHECK(value("9223372036854775807 + 1") == std::numeric_limits<std::int64_t>::min());
    CHECK(value("18446744073709551615") == -1);
    CHECK(mistakes_of(".quad 18446744073709551616").size() == 1);
    const auto nested = [](int depth) {
        return ".quad " + std::string(static_cast<std::size_t>(depth), '(') + "1" +
               std::string(static_cast<std::size_t>(depth), ')');
    };
    CHECK(mistakes_of(nested(64)).empty());
    CHECK(mistakes_of(nested(65)).size() == 1);
    // of parentheses side by side none is within another
    std::string many = ".quad (1)";
    for (int i = 0; i < 100; ++i) {
        many += " + (1)";
    }
    CHECK(mistakes_of(many).empty());
}

TEST_CASE("read-only and discarded registers may be named twice, others may not", "[isa]") {
    CHECK(mistakes_of("ldb16b16 $a0:1, $m0, $m11++, $m11>>").size() == 1);
    CHECK(mistakes_of("ld32step $m12, $m0, $m12+=, 1").empty());
    CHECK(mistakes_of("ld32step $m15, $m0, $m15+=, 1").empty());
    CHECK(mistakes_of("{ ld32 $a7, $m0, 0 ; f32add $a7, $a0, $a1 }").size() == 1);
    // of those whose results are discarded only the zeros as a pair
    for (const std::string name : {"$a8", "$a12", "$a13", "$a15"}) {
        CHECK(
            mistakes_of("{ ld32 " + name + ", $m0, 0 ; f32add " + name + ", $a0, $a1 }") ==
            Lines{"a.S:1:3: bundle: both halves write the same register, expected different ones"});
    }
    CHECK(mistakes_of("{ ld32 $a15, $m0, 0 ; f32v2add $azeros, $a0:1, $a2:3 }").size() == 1);
    CHECK(mistakes_of("{ ld64 $azeros, $m0, 0 ; f32add $azero, $a0, $a1 }").size() == 1);
    CHECK(mistakes_of("{ ld128 $a12:15, $m0, 0 ; f32v2add $azeros, $a0:1, $a2:3 }").size() == 1);
    CHECK(mistakes_of("{ ld32 $a15, $m0, 0 ; f32add $a14, $a0, $a1 }").empty());
    CHECK(mistakes_of("{ ld64 $azeros, $m0, 0 ; f32v2add $azeros, $a0:1, $a2:3 }").empty());
    // pairs and quads overlap by one register
    CHECK(mistakes_of("{ ld64 $a2:3, $m0, 0 ; f32add $a3, $a0, $a1 }").size() == 1);
    CHECK(mistakes_of("{ ld64 $a2:3, $m0, 0 ; f32add $a4, $a0, $a1 }").empty());
    CHECK(mistakes_of("{ ld128 $a0:3, $m0, 0 ; f32add $a3, $a4, $a5 }").size() == 1);
    CHECK(mistakes_of("{ ld128 $a0:3, $m0, 0 ; f32add $a4, $a4, $a5 }").empty());
    CHECK(mistakes_of("ld2x64pace $a0:1, $a2:3, $m0:1+=, $m2, 0").empty());
    CHECK(mistakes_of("ld64a32pace $a0:1, $a1, $m0:1+=, $m2, 0").size() == 1);
    CHECK(mistakes_of("ldd16a32 $a0, $m1++, $m2, $m1@").size() == 1);
}

TEST_CASE("sections are code or data by their whole name", "[isa]") {
    const auto data_words = [](const std::string& section) {
        AssemblyOptions options = options_for(kDefaultTarget);
        options.data_address = 0x80000;
        return assemble("test", {{"a.S", ".section " + section + "\n.int 1"}}, kBase, options)
            .data_words.size();
    };
    for (const std::string name : {".data", ".data.x", ".rodata", ".rodata.str", ".bss", ".sdata",
                                   ".sbss", ".data_x", ".x, \"aw\""}) {
        CAPTURE(name);
        CHECK(data_words(name) == 1);
    }
    for (const std::string name : {".datax", ".dat", ".text", ".vertex", ".data, \"ax\""}) {
        CAPTURE(name);
        CHECK(data_words(name) == 0);
    }
    for (const std::string name : {".debug", ".debug_info", ".note.x", ".comment", ".x, \"\""}) {
        CAPTURE(name);
        CHECK(words_of(".section " + name + "\n.int 1").empty());
    }
    CHECK(words_of(".section .notes\n.int 1") == Words{1});
}

TEST_CASE("a name is suggested up to a distance that grows with its length", "[isa]") {
    const assembly::SourceMap map;
    assembly::Diagnostics diagnostics(map);
    const auto suggests = [&](std::string_view name, std::string_view candidate) {
        const std::vector<std::string_view> candidates = {candidate};
        return !diagnostics.nearest(name, candidates).empty();
    };
    CHECK(suggests("ab", "ax"));
    CHECK_FALSE(suggests("ab", "xy"));
    CHECK(suggests("abc", "abx"));
    CHECK_FALSE(suggests("abc", "axy"));
    CHECK(suggests("abcde", "abcxy"));
    CHECK_FALSE(suggests("abcde", "abxyz"));
    CHECK_FALSE(suggests("abcde", "xycde"));
    CHECK(suggests("abcdef", "abcdxy"));
    CHECK_FALSE(suggests("abcdef", "abcxyz"));
    CHECK(suggests("abcdef", "abcd"));
    CHECK_FALSE(suggests("abcdef", "abc"));
    CHECK(suggests("bcd", "abcd"));
    CHECK(suggests("acbd", "abcd")); // one swap
    CHECK(suggests("ABCD", "abcd"));
    // the nearest of several, the first of equals
    const std::vector<std::string_view> several = {"abxx", "abcx", "abcy"};
    CHECK(diagnostics.nearest("abcd", several) == "did you mean 'abcx'?");
    const std::string longest(63, 'a');
    CHECK(suggests(longest, longest));
    CHECK_FALSE(suggests(longest + "a", longest + "a"));
    CHECK_FALSE(suggests(longest, longest + "a"));
    CHECK_FALSE(suggests(longest + "a", longest));
}

TEST_CASE("a source's names are compared 200,000 times, and then none is suggested", "[isa]") {
    const assembly::SourceMap map;
    for (const std::size_t names : {std::size_t{199'999}, std::size_t{200'000}}) {
        CAPTURE(names);
        assembly::Diagnostics diagnostics(map);
        const std::vector<std::string_view> far(names, "x");
        const std::vector<std::string_view> near = {"abcx"};
        CHECK(diagnostics.nearest("abcd", far).empty());
        CHECK(diagnostics.nearest("abcd", near).empty() == (names == 200'000));
        CHECK(diagnostics.nearest("abcd", near).empty());
    }
}

TEST_CASE("a hundred warnings are shown", "[isa]") {
    for (const std::size_t warnings : {std::size_t{99}, std::size_t{100}, std::size_t{101}}) {
        std::string text;
        for (std::size_t i = 0; i < warnings; ++i) {
            text += ".warning\n";
        }
        CHECK(assembled(text).warnings.size() == std::min<std::size_t>(warnings, 100));
    }
}

TEST_CASE("a hundred mistakes are shown and the others counted", "[isa]") {
    for (const std::size_t mistakes :
         {std::size_t{99}, std::size_t{100}, std::size_t{101}, std::size_t{150}}) {
        std::string text;
        for (std::size_t i = 0; i < mistakes; ++i) {
            text += "bri nowhere_" + std::to_string(i) + "\n";
        }
        const Lines found = mistakes_of(text);
        CHECK(found.size() == std::min<std::size_t>(mistakes, 101));
        if (mistakes > 100) {
            CHECK(found.back() == "a.S: and " + std::to_string(mistakes - 100) + " more mistakes");
        }
    }
}

TEST_CASE("characters by number have as many digits as they may", "[isa]") {
    const auto bytes = [](std::initializer_list<int> list) {
        std::string text;
        for (const int byte : list) {
            text += static_cast<char>(byte);
        }
        return text;
    };
    const std::vector<std::pair<std::string, std::string>> texts{{"\\x", bytes({0})},
                                                                 {"\\x4", bytes({4})},
                                                                 {"\\x41", "A"},
                                                                 {"\\x414", "A4"},
                                                                 {"\\X4a", "J"},
                                                                 {"\\xfF", bytes({255})},
                                                                 {"\\xg", bytes({0, 'g'})},
                                                                 {"\\x4g", bytes({4, 'g'})},
                                                                 {"\\0", bytes({0})},
                                                                 {"\\7", bytes({7})},
                                                                 {"\\8", "8"},
                                                                 {"\\18", bytes({1, '8'})},
                                                                 {"\\10", bytes({8})},
                                                                 {"\\101", "A"},
                                                                 {"\\1012", "A2"},
                                                                 {"\\377", bytes({255})},
                                                                 {"\\400", bytes({0})},
                                                                 {"\\", "\\"},
                                                                 {"a\\", "a\\"},
                                                                 {"\\\\n", "\\n"},
                                                                 {"\\n\\t\\r\\b\\f", "\n\t\r\b\f"},
                                                                 {"\\q", "q"}};
    for (const auto& [written, meant] : texts) {
        CAPTURE(written);
        CHECK(assembly::unescaped(written) == meant);
    }
    // what stands behind a text is no part of it
    CHECK(assembly::unescaped(std::string_view("\\x414").substr(0, 3)) == bytes({4}));
    CHECK(assembly::unescaped(std::string_view("\\1012").substr(0, 2)) == bytes({1}));
}

TEST_CASE("padding is zeros beside whole words, and in code nops of whole words", "[isa]") {
    const std::uint32_t nop = words_of("nop").front();
    for (std::size_t before = 0; before <= 9; ++before) {
        for (const std::size_t alignment : {1U, 2U, 4U, 8U, 16U}) {
            for (const bool is_code : {false, true}) {
                for (const std::size_t behind : {0U, 1U, 4U}) {
                    CAPTURE(before, alignment, is_code, behind);
                    std::string text = is_code ? "nop\nnop\nnop\nnop\n" : ".data\n.zero 16\n";
                    for (std::size_t i = 0; i < before; ++i) {
                        text += ".byte 0xff\n";
                    }
                    text += fmt::format(".balign {}\n", alignment);
                    for (std::size_t i = 0; i < behind; ++i) {
                        text += ".byte 0xff\n";
                    }
                    const std::size_t begin = 16 + before;
                    const std::size_t end = (begin + alignment - 1) / alignment * alignment;
                    Words expected((end + behind + 3) / 4);
                    for (std::size_t i = 0; i < expected.size(); ++i) {
                        const bool is_nop = i < 4 || (4 * i >= begin && 4 * i + 4 <= end);
                        expected[i] = is_nop && is_code ? nop : 0;
                        for (std::size_t byte = 4 * i; byte < 4 * i + 4; ++byte) {
                            const bool is_data = (byte >= 16 && byte < begin) ||
                                                 (byte >= end && byte < end + behind);
                            expected[i] |= is_data ? 0xffU << (8 * (byte % 4)) : 0U;
                        }
                    }
                    CHECK(words_of(text) == expected);
                }
            }
        }
    }
}

TEST_CASE("expansions nest to their limit", "[isa]") {
    const auto nested = [](int depth) {
        return fmt::format(".macro M\n.if n\nn = n - 1\nM\n.endif\n.endm\nn = {}\nM", depth - 1);
    };
    CHECK(mistakes_of(nested(200)).empty());
    CHECK_FALSE(mistakes_of(nested(201)).empty());
}

TEST_CASE("control registers have their published numbers", "[isa]") {
    struct Row {
        const char* name;
        std::uint16_t number;
    };
    const std::vector<Row> rows = {
        {"PC", 0x00},
        {"WSR", 0x01},
        {"VERTEX_BASE", 0x02},
        {"WORKER_BASE", 0x03},
        {"REPEAT_COUNT", 0x04},
        {"REPEAT_FIRST", 0x05},
        {"REPEAT_END", 0x06},
        {"SSR", 0x01},
        {"CR", 0x02},
        {"TILE_ID", 0x03},
        {"FP_ICTL", 0x20},
        {"WORKER0_BASE", 0x21},
        {"WORKER1_BASE", 0x22},
        {"WORKER2_BASE", 0x23},
        {"WORKER3_BASE", 0x24},
        {"WORKER4_BASE", 0x25},
        {"WORKER5_BASE", 0x26},
        {"WORKER6_BASE", 0x27},
        {"WORKER7_BASE", 0x28},
        {"FP_INFMT", 0x31},
        {"FP_ISCL", 0x33},
        {"CCCSLOAD", 0x50},
        {"COUNT_L", 0x60},
        {"COUNT_U", 0x61},
        {"SCOUNT_L", 0x60},
        {"SCOUNT_U", 0x61},
        {"DBG_DATA", 0x70},
        {"DBG_BRK_ID", 0x71},
        {"CTXT_STS", 0x72},
        {"INCOMING_MUX", 0xa0},
        {"INCOMING_MUXPAIR", 0xa1},
        {"INCOMING_DELTA", 0xa2},
        {"INCOMING_FORMAT", 0xa3},
        {"INCOMING_BASE", 0xa4},
        {"INCOMING_SINIT", 0xa5},
        {"INCOMING_DCOUNT", 0xa6},
        {"OUTGOING_BASE", 0xa7},
        {"OUTGOING_DELTA", 0xa8},
        {"EXCHANGE_CTL", 0xa9},
        {"ANS_DCOUNT", 0xaa},
        {"EXCHANGE_ADJ", 0xab},
        {"FP_STS", 0x100},
        {"FP_CLR", 0x101},
        {"FP_CTL", 0x102},
        {"PRNG_0_0", 0x103},
        {"PRNG_0_1", 0x104},
        {"PRNG_1_0", 0x105},
        {"PRNG_1_1", 0x106},
        {"PRNG_SEED", 0x107},
        {"TAS", 0x108},
        {"FP_NFMT", 0x109},
        {"FP_SCL", 0x10a},
    };
    CHECK(csr_names().size() == rows.size() + 64);
    for (const Row& row : rows) {
        CAPTURE(row.name);
        REQUIRE(find_csr(row.name) != nullptr);
        CHECK(find_csr(row.name)->number == row.number);
        const bool is_aux = row.number >= 0x100;
        const std::string put = is_aux ? "uput " : "put ";
        const std::string from = is_aux ? ", $a1" : ", $m1";
        CHECK(words_of_any_row(put + "$" + row.name + from) ==
              words_of(put + std::to_string(row.number) + from));
    }
    // who has which
    for (const std::string name :
         {"WSR", "VERTEX_BASE", "REPEAT_COUNT", "FP_CLR", "TAS", "COUNT_L", "COUNT_U"}) {
        CHECK(find_csr(name)->context == CsrContext::Worker);
    }
    for (const std::string name :
         {"SSR", "CR", "TILE_ID", "FP_ICTL", "CCCSLOAD", "EXCHANGE_ADJ", "SCOUNT_L", "SCOUNT_U"}) {
        CHECK(find_csr(name)->context == CsrContext::Supervisor);
    }
    for (const std::string name : {"PC", "DBG_DATA", "DBG_BRK_ID"}) {
        CHECK(find_csr(name)->context == CsrContext::Both);
    }
    for (int unit = 0; unit < 16; ++unit) {
        for (int n = 0; n < 4; ++n) {
            CHECK(find_csr(fmt::format("CWEI_{}_{}", unit, n))->number == unit * 4 + n);
        }
    }
}

TEST_CASE("a control register's number has a name where the context has it and no other does",
          "[isa]") {
    struct Row {
        std::uint16_t number;
        std::string worker;
        std::string supervisor;
        std::string both;
    };
    const std::vector<Row> rows = {
        {0x00, "PC", "PC", "PC"},
        {0x01, "WSR", "SSR", ""},
        {0x02, "VERTEX_BASE", "CR", ""},
        {0x03, "WORKER_BASE", "TILE_ID", ""},
        {0x04, "REPEAT_COUNT", "", "REPEAT_COUNT"},
        {0x20, "", "FP_ICTL", "FP_ICTL"},
        {0x60, "COUNT_L", "SCOUNT_L", ""},
        {0x71, "DBG_BRK_ID", "DBG_BRK_ID", "DBG_BRK_ID"},
        {0x72, "", "CTXT_STS", "CTXT_STS"},
        {0x100, "FP_STS", "", "FP_STS"},
        {0x10a, "FP_SCL", "", "FP_SCL"},
        {0x10b, "", "", ""},
    };
    for (const Row& row : rows) {
        CAPTURE(row.number);
        CHECK(csr_name(row.number, CsrContext::Worker) == row.worker);
        CHECK(csr_name(row.number, CsrContext::Supervisor) == row.supervisor);
        CHECK(csr_name(row.number, CsrContext::Both) == row.both);
    }
}

TEST_CASE("constants have their published values, with the header and without", "[isa]") {
    const Constants published = {
        {"CTXT_WORKERS", 6},
        {"CSR_W_WSR__CTXTID_M1__MASK", 7},
        {"CSR_W_FP_CLR__ZAACC__MASK", 1},
        {"CSR_W_FP_CLR__ZAACC__SHIFT", 3},
        {"CSR_W_REPEAT_COUNT__VALUE__MASK", 0xffff},
        {"CSR_W_FP_CTL__INDEX", 0x102},
        {"CSR_S_FP_ICTL__INDEX", 0x20},
        {"CSR_S_FP_ICTL__ESR__MASK", 1},
        {"CSR_S_FP_ICTL__ESR__SHIFT", 19},
        {"CSR_S_FP_ICTL__NANOO__MASK", 1},
        {"CSR_S_FP_ICTL__NANOO__SHIFT", 20},
        {"CSR_S_FP_ICTL__OFLO__MASK", 1},
        {"CSR_S_FP_ICTL__OFLO__SHIFT", 2},
        {"CSR_S_FP_INFMT__INDEX", 0x31},
        {"TMEM_REGION0_BASE_ADDR", 0x4c000},
        {"TMEM_ELEMSIZE", 0x4000},
        {"TMEM_BYTE_MAX_ADDRESS_WIDTH", 21},
        {"TMEM_FULL_ADDRESS_MASK", 0x1fffff},
        {"TEXCH_SYNCZONE_LOCAL", 2},
        {"TFPU_FP32_TRUE", 0xffffffff},
        {"TFPU_FP32_FALSE", 0},
        {"TFPU_FP16_TRUE", 0xffff},
        {"TFPU_FP16_FALSE", 0},
        {"TISTACC_P0", 0},
        {"TISTACC_P1", 1},
        {"TSTACC_P0", 0},
        {"TSTACC_P1", 1},
    };
    const Constants constants = standard_constants(kDefaultTarget);
    for (const auto& [name, value] : published) {
        CAPTURE(name);
        REQUIRE(constants.count(name) == 1);
        CHECK(constants.at(name) == value);
    }
    // flags are free, but of different steps different
    std::map<std::int64_t, std::string> flags;
    std::string all;
    for (const auto& [name, value] : constants) {
        if (name.rfind("TAMP_F32", 0) == 0) {
            CHECK(flags.emplace(value, name).second);
        }
        if (name.rfind("TAMP_F16V4", 0) == 0) {
            CHECK(constants.at("TAMP_F32" + name.substr(10)) == value);
        }
        all += ".quad " + name + "\n";
    }
    CHECK(flags.size() == 4 * 8);
    std::map<std::int64_t, std::string> slices;
    for (const auto& [name, value] : constants) {
        if (name.rfind("TSLIC_", 0) == 0) {
            CAPTURE(name);
            CHECK(slices.emplace(value, name).second);
        }
    }
    CHECK(slices.size() == 2 * 4);
    // the header says the same
    CHECK(words_of("#include <poplar/TileConstants.hpp>\n" + all) == words_of(all));
}

TEST_CASE("control registers below 256 are of get and put, the others of uget and uput", "[isa]") {
    std::set<std::uint16_t> at_border;
    for (const CsrName& name : csr_names()) {
        if (name.context == CsrContext::Weights || name.is_of_fp8) {
            continue;
        }
        const std::string mode =
            name.context == CsrContext::Supervisor ? ".supervisor\n" : ".worker\n";
        const auto is_refused = [&](const std::string& text) {
            const auto mistakes = mistakes_of(mode + text);
            return std::any_of(mistakes.begin(), mistakes.end(), [](const std::string& mistake) {
                return mistake.find("control register ") != std::string::npos;
            });
        };
        const std::string symbol = "$" + std::string(name.name);
        const bool is_aux = name.number >= 256;
        CAPTURE(symbol, name.number);
        CHECK(is_refused("get $m0, " + symbol) == is_aux);
        CHECK(is_refused("put " + symbol + ", $m0") == is_aux);
        CHECK(is_refused("uget $a0, " + symbol) != is_aux);
        CHECK(is_refused("uput " + symbol + ", $a0") != is_aux);
        at_border.insert(name.number);
    }
    CHECK(at_border.count(256) == 1);
}
