// SPDX-License-Identifier: MIT
// What published sources rely on beyond the language as it is described, and what assembling one of
// them alone gives.
#include "models/isa/instruction.h"
#include "tests/unit/models/isa/assemble_support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace tessera;
using namespace tessera::isa;
using namespace tessera::isa::test;

using Lines = std::vector<std::string>;
using Words = std::vector<std::uint32_t>;

namespace {

constexpr std::uint32_t kNop = 0x19e00000;

/// What assembling a source alone gives.
struct Alone {
    program::Codelet codelet;
    AssemblyTally tally;

    [[nodiscard]] Lines undefined() const {
        Lines lines;
        for (const UndefinedSymbol& symbol : tally.undefined) {
            lines.push_back(symbol.name + " " + symbol.place);
        }
        return lines;
    }
};

Alone alone(const std::string& text) {
    AssemblyOptions options = options_for(kDefaultTarget);
    options.allow_undefined = true;
    Alone result;
    result.codelet = assemble("test", {{"a.S", text}}, kBase, options, &result.tally);
    return result;
}

AssemblyTally tally_of(const std::vector<SourceFile>& sources,
                       std::optional<Address> data_address = std::nullopt) {
    AssemblyOptions options = options_for(kDefaultTarget);
    options.data_address = data_address;
    AssemblyTally tally;
    static_cast<void>(assemble("test", sources, kBase, options, &tally));
    return tally;
}

} // namespace

TEST_CASE("strides wider than their field lose their upper bits", "[isa]") {
    CHECK(listing_of("st64pace $a0:1, $m0:1+=, $m2, 5\nst64pace $a0:1, $m0:1+=, $m2, 0b1010\n"
                     "st64pace $a0:1, $m0:1+=, $m2, 63") ==
          Lines{"st64pace $a0:1, $m0:1+=, $m2, 1", "st64pace $a0:1, $m0:1+=, $m2, 2",
                "st64pace $a0:1, $m0:1+=, $m2, 3"});
    for (const std::string start : {"ld2x64pace $a0:1, $a2:3", "ldst64pace $a0:1, $a2:3",
                                    "ld64a32pace $a0:1, $a2", "ld64b16pace $a0:1, $a2"}) {
        CHECK(listing_of(start + ", $m0:1+=, $m2, 0b110101") == Lines{start + ", $m0:1+=, $m2, 5"});
    }
    const std::string widest = "ld2xst64pace $a0:3, $a4:5, $m0:1+=, $m2, 63";
    CHECK(listing_of(widest) == Lines{widest});
    // other constants are as wide as their fields
    CHECK(mistakes_of("f16v4istacc $a0:1, $a2:3, $a4:5, 2").size() == 1);
}

TEST_CASE("the aux zero register may be what a load adds", "[isa]") {
    CHECK(
        listing_of("ld32 $a0, $m4, $azero, 3\nld32 $a0, $m4, $azero\nld64 $a0:1, $m4, $azero, $m5\n"
                   "ld64 $a0:1, $m4, $m5, $azero\nldz16 $m0, $m4, $azero, 1") ==
        Lines{"ld32 $a0, $m4, $mzero, 3", "ld32 $a0, $m4, $mzero, $mzero",
              "ld64 $a0:1, $m4, $mzero, $m5", "ld64 $a0:1, $m4, $m5, $mzero",
              "ldz16 $m0, $m4, $mzero, 1"});
    for (const std::string wrong :
         {"ld32 $a0, $azero, $m4, 0", "ld32 $a0, $m4, $a14, 0", "ld32 $a0, $m4, $azeros, 0",
          "st32 $a0, $m4, $azero, 0", "add $m0, $m4, $azero", "ld32step $a0, $m4, $azero+=, 1"}) {
        CAPTURE(wrong);
        CHECK(mistakes_of(wrong).size() == 1);
    }
}

TEST_CASE("what follows a shared name behind an at sign has no effect", "[isa]") {
    CHECK(assembled({{"a.S", ".globl f, @function\nf: nop"}, {"b.S", "bri f"}}).words.size() == 3);
    CHECK(assembled({{"a.S", ".globl f, g, @object\nf: nop\ng: nop"}, {"b.S", "bri g"}})
              .symbols.at("g") == kBase + 4);
    CHECK(mistakes_of(".globl @function").empty());
    CHECK(mistakes_of(".globl f function").size() == 1);
}

TEST_CASE("the lower word of an even register's pair may be broadcast by :BL", "[isa]") {
    for (const char* pair : {"0", "2", "4", "6"}) {
        const std::string from = std::string("f32v2mul $a0:1, $a") + pair;
        CHECK(listing_of(from + ":BL, $a0:1") == Lines{from + ":B, $a0:1"});
    }
    // of halves it is the lower half
    CHECK(listing_of("f16v4mul $a0:1, $a4:BL, $a0:1") == Lines{"f16v4mul $a0:1, $a4:BL, $a0:1"});
    CHECK(mistakes_of("f32v2mul $a0:1, $a5:BL, $a0:1").size() == 1);
    CHECK(mistakes_of("f32v2mul $a0:1, $a4:BU, $a0:1").size() == 1);
    CHECK(mistakes_of("f32add $a0, $a4:BL, $a0").size() == 1);
    CHECK(mistakes_of("f32v2mul $a0:1, $a0:1, $a4:BL").size() == 1);
}

TEST_CASE("operands that are not checked are taken by number and low bits", "[isa]") {
    struct Row {
        std::string written;
        std::string taken;
    };
    const std::vector<Row> rows = {
        {"f32add $m0, $a1, $m2", "f32add $a0, $a1, $a2"},
        {"add $m0, $a1, $m2", "add $m0, $m1, $m2"},
        {"setzi $m0, 0x123456", "setzi $m0, 0x23456"},
        {"setzi $m0, -1", "setzi $m0, 0xfffff"},
        {"cmpslt $m0, $m1, 0x1ffff", "cmpslt $m0, $m1, -1"},
        {"cmpslt $m0, $m1, 0x18000", "cmpslt $m0, $m1, -32768"},
        {"add $m0, $m1, 65536", "add $m0, $m1, 0"},
        {"ld64step $a0:1, $m0, $m1+=, 128", "ld64step $a0:1, $m0, $m1+=, -128"},
        {"f16v4sisoamp $a0:1, $a2:3, $a4:5, 65", "f16v4sisoamp $a0:1, $a2:3, $a4:5, 1"},
        {"st64pace $a0:1, $m0:1+=, $m2, 64", "st64pace $a0:1, $m0:1+=, $m2, 0"},
        // the row that bends least
        {"or $a0, $a1, 0x12345", "or $a0, $a1, 837"},
        {"shl $m0, $a1, 3", "shl $m0, $m1, 3"},
        // of equals the first
        {"or $a0, $m1, 5", "or $m0, $m1, 5"},
    };
    for (const Row& row : rows) {
        CAPTURE(row.written);
        CHECK(mistakes_of(row.written).size() == 1);
        CHECK(listing_of(".allow_invalid_operands\n" + row.written) == Lines{row.taken});
        const auto warned = assembled(".warn_on_invalid_operands\n" + row.written);
        CHECK(warned.words == words_of(row.taken));
        REQUIRE(warned.warnings.size() == 1);
        CHECK("a.S:1" + mistakes_of(row.written).front().substr(5) ==
              "a.S:1" + warned.warnings.front().substr(5));
        CHECK(mistakes_of(".allow_invalid_operands\n.error_on_invalid_operands\n" + row.written)
                  .size() == 1);
    }
    // neither another width nor what is no register or constant
    for (const std::string wrong :
         {"f32add $a0:1, $a1, $a2", "add $m0, 3, 4", "ld64step $a0:1, $m0, $m1, 1", "bri 2",
          "get $m0, $FP_CLR", "add $m0, $m1"}) {
        CAPTURE(wrong);
        CHECK(mistakes_of(".allow_invalid_operands\n" + wrong).size() == 1);
    }
}

TEST_CASE("symbols of other files are listed when a file is assembled alone", "[isa]") {
    const Alone result = alone("nop\ncall $lr, helper\nbri helper\nsetzi $m0, table - 4\n"
                               "half = table / 2\n.int half, helper, 7\n.byte table\n.byte 3\n"
                               ".globl f\n.align 4\nf: bri f\n.weak w\n.int w");
    CHECK(result.undefined() == Lines{"helper a.S:2:11", "table a.S:4:12"});
    CHECK(result.codelet.words.size() == 10);
    CHECK(result.codelet.words[1] == words_of("call $lr, 0").front());
    CHECK(result.codelet.words[3] == words_of("setzi $m0, 0").front());
    CHECK(result.codelet.words[4] == 0);
    CHECK(result.codelet.words[6] == 7);
    CHECK(result.codelet.words[7] == 0x300);
    CHECK(alone("nop").undefined().empty());
    // other mistakes stay, and what must be known at once
    CHECK_THROWS_WITH(alone("setzi $m0, 1 << 20\nbri there"), Catch::Contains("operand 2"));
    CHECK_THROWS_WITH(alone(".if there\n.endif"), Catch::Contains("not known yet"));
    CHECK_THROWS_WITH(alone("bri 1f"), Catch::Contains("no such label follows"));
    CHECK(mistakes_of("bri there") == Lines{"a.S:1:5: symbol 'there': not defined"});
}

TEST_CASE("instructions and bytes are counted", "[isa]") {
    const auto tally = tally_of(
        {{"a.S", ".align 16\nf: nop\n{ ld32 $a0, $m0, 0 ; fnop }\nldconst $m1, -1\n.align 32\n"
                 "add $m0, $m0, 1\n.data\n.int 1, 2\n.byte 3\n.section .debug_x, \"\"\n.int 4"},
         {"b.S", ".align 16\nadd $m0, $m0, $m1\n.section .text.x, \"ax\"\n.align 64\nnop\n"
                 ".align 8\nsendpicp 3, 4, 1, 1, 0x640, 0, 0x10"}});
    CHECK(tally.instructions == 9);
    CHECK(tally.bundles == 1);
    CHECK(tally.mnemonics == std::map<std::string, std::int64_t>{{"add", 2},
                                                                 {"fnop", 1},
                                                                 {"ld32", 1},
                                                                 {"nop", 2},
                                                                 {"or", 1},
                                                                 {"sendpicp", 1},
                                                                 {"setzi", 1}});
    REQUIRE(tally.sections.size() == 3);
    CHECK(tally.sections[0].name == ".text");
    CHECK(tally.sections[0].code_bytes == 4 + 8 + 8 + 4 + 4);
    CHECK(tally.sections[0].data_bytes == 0);
    CHECK(tally.sections[1].name == ".data");
    CHECK(tally.sections[1].data_bytes == 9);
    CHECK(tally.sections[1].code_bytes == 0);
    CHECK(tally.sections[2].code_bytes == 4 + 8);
    Bytes all = 0;
    for (const SectionTally& section : tally.sections) {
        all += section.code_bytes + section.data_bytes + section.padding_bytes;
    }
    const auto codelet = assembled(
        {{"a.S", ".align 16\nf: nop\n{ ld32 $a0, $m0, 0 ; fnop }\nldconst $m1, -1\n.align 32\n"
                 "add $m0, $m0, 1\n.data\n.int 1, 2\n.byte 3"},
         {"b.S", ".align 16\nadd $m0, $m0, $m1\n.section .text.x, \"ax\"\n.align 64\nnop\n"
                 ".align 8\nsendpicp 3, 4, 1, 1, 0x640, 0, 0x10"}});
    CHECK(static_cast<Bytes>(codelet.words.size()) * 4 == all); // every byte is one of the three
    // padding before and inside a section is its own
    CHECK(tally_of({{"a.S", "nop\n.align 16\nnop"}}).sections[0].padding_bytes == 12);
    const auto apart = tally_of({{"a.S", "nop\n.data\n.byte 1\n.align 4\n.byte 2"}}, 0x80000);
    CHECK(apart.sections[0].padding_bytes == 0);
    CHECK(apart.sections[1].padding_bytes == 3);
    CHECK(apart.sections[1].data_bytes == 2);
}

TEST_CASE("only what nop and fnop stand for has their names", "[isa]") {
    CHECK(shown_mnemonic(decode(kNop)) == "nop");
    CHECK(shown_mnemonic(decode(words_of("fnop").front())) == "fnop");
    CHECK(shown_mnemonic(decode(words_of("setzi $m14, 1").front())) == "setzi");
    CHECK(shown_mnemonic(decode(words_of("setzi $a13, 1").front())) == "setzi");
    CHECK(shown_mnemonic(decode(words_of("setzi $mzero, 0").front())) == "setzi");
    CHECK_FALSE(is_nop(decode(words_of("br $lr").front())));
}

TEST_CASE("an alignment with a limit pads up to it or not at all", "[isa]") {
    for (int before = 1; before <= 4; ++before) {
        for (int most = 0; most <= 16; most += 2) {
            CAPTURE(before, most);
            std::string text;
            for (int i = 0; i < before; ++i) {
                text += "nop\n";
            }
            const int bytes = (16 - 4 * before % 16) % 16;
            const std::size_t words =
                static_cast<std::size_t>(before + (bytes <= most ? bytes / 4 : 0));
            CHECK(words_of(text + fmt::format(".align 16, , {}\n.int 1", most)).size() ==
                  words + 1);
            CHECK(words_of(text + fmt::format(".p2align 4, , {}\n.int 1", most)).size() ==
                  words + 1);
            CHECK(words_of(text + fmt::format(".balign 16, 0x11, {}\n.int 1", most)).size() ==
                  words + 1);
        }
    }
    // where nothing is padded, the section is not aligned either
    const auto codelet = assembled("nop\n.align 64, , 4\nx: nop", kBase + 8);
    CHECK(codelet.symbols.at("x") == kBase + 12);
    CHECK(codelet.address == kBase + 8);
}
