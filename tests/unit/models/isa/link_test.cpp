// SPDX-License-Identifier: MIT
// Symbols of several sources, and what the codelet tells of them.
#include "models/isa/instruction.h"
#include "models/program/source_place.h"
#include "tests/unit/models/isa/assemble_support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace tessera;
using namespace tessera::isa;
using namespace tessera::isa::test;

using Lines = std::vector<std::string>;
using Words = std::vector<std::uint32_t>;

TEST_CASE("a weak definition gives way also where it stands", "[isa]") {
    const std::string weak = ".weak f\nf: .int 1\n.int f - here, f\nhere:";
    // alone, in its own section
    CHECK(assembled(weak).words == Words{1, static_cast<std::uint32_t>(-12), kBase});
    // the other source's definition wins, for the weak source too
    const auto codelet = assembled({{"a.S", weak}, {"b.S", ".globl f\nf: .int 2"}});
    CHECK(codelet.words == Words{1, 4, kBase + 16, 0x19e00000, 2});
    CHECK(codelet.symbols.at("f") == kBase + 16);
    CHECK(codelet.symbol_info.at("f").binding == program::SymbolBinding::Global);
    // .weak may come behind the uses
    CHECK(assembled({{"a.S", "f: .int f\n.weak f"}, {"b.S", ".globl f\nf: .int 2"}}).words ==
          Words{kBase + 8, 0x19e00000, 2});
}

TEST_CASE("a weak symbol that nobody defines is zero", "[isa]") {
    CHECK(words_of(".weak f\n.int f, f + 4\n.if 1\n.endif") == Words{0, 4});
    CHECK(mistakes_of(".globl f\n.int f") == Lines{"a.S:2:6: symbol 'f': not defined"});
    CHECK(assembled({{"a.S", ".weak f\n.int f"}, {"b.S", ".globl f\nf = 7"}}).words == Words{7});
}

TEST_CASE("local takes back what global said", "[isa]") {
    CHECK(mistakes_of({{"a.S", ".globl f\nf: nop\n.local f"}, {"b.S", "bri f"}}) ==
          Lines{"b.S:1:5: symbol 'f': not defined"});
}

TEST_CASE("the codelet tells kinds and sizes of its symbols", "[isa]") {
    const auto codelet = assembled(".globl f, n\n.weak w\nf: nop ; nop\n.size f, . - f\nw: nop\n"
                                   "loop: nop\n.Lx: nop\nn = 3\n");
    CHECK(codelet.symbol_info.size() == codelet.symbols.size());
    CHECK(codelet.symbol_info.at("f").binding == program::SymbolBinding::Global);
    CHECK(codelet.symbol_info.at("f").bytes == 8);
    CHECK(codelet.symbol_info.at("w").binding == program::SymbolBinding::Weak);
    CHECK(codelet.symbol_info.at("loop").binding == program::SymbolBinding::Local);
    CHECK(codelet.symbol_info.at("loop").bytes == 0);
    CHECK(codelet.symbols.count(".Lx") == 0);
}

TEST_CASE("a fixed symbol is defined once", "[isa]") {
    CHECK(words_of(".equiv n, 3\n.int n") == Words{3});
    const Lines again = {"a.S:2:8: symbol 'n': defined in line 1 already, expected a new name"};
    CHECK(mistakes_of("n = 1\n.equiv n, 2") == again);
    CHECK(mistakes_of(".equiv n, 1\n.equiv n, 2") == again);
    CHECK(mistakes_of(".equiv n, 1\nn = 2") ==
          Lines{"a.S:2:1: symbol 'n': defined in line 1 already, expected a new name"});
}

TEST_CASE("a numeric label that follows is one of the same source", "[isa]") {
    // also where the other source has one of that number, or more of them
    for (const std::string other : {"nop", "1: nop", "1: 1: 1: nop"}) {
        CAPTURE(other);
        const auto all = assembled({{"a.S", other}, {"b.S", ".globl f\nf: bri 1f\nnop\n1: nop"}});
        const Address at = all.symbols.at("f");
        CHECK(all.words[(at - kBase) / 4] == words_of(fmt::format("bri {}", at + 8))[0]);
    }
}

TEST_CASE("sources keep their macros conditions and numeric labels apart", "[isa]") {
    CHECK(mistakes_of({{"a.S", ".if 1"}, {"b.S", "nop"}}) ==
          Lines{"a.S:1:1: .if: got the end of the file, expected .endif"});
    CHECK(assembled({{"a.S", "1: .int 1f\n1:"}, {"b.S", "1: .int 1b"}}).words ==
          Words{kBase + 4, 0x19e00000, kBase + 8});
    // names in an included file are those of the source
    CHECK(mistakes_of({{"a.S", "#include \"poplar/TileConstants.hpp\"\nx: nop"}, {"b.S", "x: nop"}})
              .empty());
}

TEST_CASE("an instruction that the generation lacks is told", "[isa]") {
    Target first;
    first.architecture = 1;
    Target third;
    third.architecture = 21;
    std::size_t checked = 0;
    for (std::size_t i = 1; i < static_cast<std::size_t>(Opcode::kCount); ++i) {
        const OpcodeSpec& row = spec_of(static_cast<Opcode>(i));
        if ((row.flags & (kTwoSets | kFp8)) == 0) {
            continue;
        }
        const auto line = disassemble({row.code}, kBase).front();
        if (line.text.rfind(row.mnemonic, 0) != 0) {
            continue; // registers numbered zero are no legal operands
        }
        ++checked;
        const bool is_fp8 = (row.flags & kFp8) != 0;
        CHECK_THROWS_WITH(assemble("test", {{"a.S", line.text}}, kBase, options_for(first)),
                          Catch::Contains(is_fp8 ? "expected 21, which has FP8"
                                                 : "expected 2 or 21, which have two sets"));
        CHECK(assemble("test", {{"a.S", line.text}}, kBase, options_for(third)).words ==
              Words{row.code});
    }
    CHECK(checked > 4);
}

TEST_CASE("an instruction's place is its line and where its macro was called", "[isa]") {
    const auto codelet = assembled("nop\n.macro M\n nop\n.endm\nM\n#define TWO nop; nop\nTWO");
    const auto place = [&](Address word) {
        return program::source_place(codelet, kBase + 4 * word);
    };
    CHECK(place(0) == "a.S:1");
    CHECK(place(1) == "a.S:3 (from line 5)");
    CHECK(place(2) == "a.S:6 (from line 7)");
    CHECK(place(4).empty());
}
