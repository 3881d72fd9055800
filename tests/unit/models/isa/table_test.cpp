// SPDX-License-Identifier: MIT
// The instruction table against assembler, disassembler and documentation.
#include "models/isa/instruction.h"
#include "models/isa/opcode_table_doc.h"
#include "tests/support/source_path.h"
#include "tests/unit/models/isa/assemble_support.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <random>
#include <sstream>

using namespace tessera;
using namespace tessera::isa;
using namespace tessera::isa::test;

namespace {

constexpr int kWordsPerRow = 300;

std::string text_of_file(const std::string& path) {
    std::ifstream file(tessera::test::source_path(path));
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Random bits in every operand field (and the broadcast field) of the row: one word, or two.
std::vector<std::uint32_t> random_words(const OpcodeSpec& row, std::mt19937& random) {
    std::uint64_t words = row.code;
    for (const OperandSpec& operand : spec_of(row.form).list()) {
        const auto field = static_cast<std::uint32_t>(random()) & ((1U << operand.bits) - 1U);
        if (operand.kind == OperandKind::EventsSplit) { // six bits at `shift`, six at 14
            words |= (field & 63U) << operand.shift | (field >> 6U) << 14U;
        } else {
            words |= std::uint64_t{field} << operand.shift;
        }
    }
    const auto first = static_cast<std::uint32_t>(words);
    if ((row.flags & kTwoWords) != 0) {
        return {first, static_cast<std::uint32_t>(words >> 32U)};
    }
    const auto broadcast = static_cast<std::uint32_t>(random()) & 3U;
    return {(row.flags & kBroadcast) != 0 ? first | broadcast : first};
}

} // namespace

TEST_CASE("every row goes from word to text and back over random operand fields", "[isa]") {
    std::mt19937 random(1);
    for (std::size_t i = 1; i < static_cast<std::size_t>(Opcode::kCount); ++i) {
        const OpcodeSpec& row = spec_of(static_cast<Opcode>(i));
        std::vector<std::uint32_t> words;
        for (int n = 0; n < kWordsPerRow; ++n) {
            const auto word = random_words(row, random);
            words.insert(words.end(), word.begin(), word.end());
            const Operation operation = decode(word.front(), word.back());
            CHECK(operation.opcode == static_cast<Opcode>(i));
            CHECK(encode(operation) == word.front());
            CHECK((word.size() == 1 || encode_second(operation) == word.back()));
        }
        // Not all words have a text: pairs may be odd, results may collide. But many must.
        std::string text;
        int named = 0;
        for (const ListingLine& line : disassemble(words, kBase)) {
            text += line.text + "\n";
            named += line.text.rfind(row.mnemonic, 0) == 0 ? 1 : 0;
        }
        INFO(row.mnemonic);
        CHECK(named > kWordsPerRow / 40);
        const bool is_repeat = row.form == Form::RptReg || row.form == Form::RptImm;
        if (!is_repeat) { // an rpt needs its body
            CHECK(words_of_any_row(text) == words);
        }
    }
}

TEST_CASE("bundles of random words go to text and back", "[isa]") {
    std::mt19937 random(2);
    const auto row = [&] {
        return spec_of(
            static_cast<Opcode>(1 + random() % (static_cast<unsigned>(Opcode::kCount) - 1)));
    };
    std::vector<std::uint32_t> words;
    for (int n = 0; n < 4000; ++n) {
        const std::uint32_t first = random_words(row(), random).front();
        if (spec_of(decode(first).opcode).mnemonic != "rpt") {
            words.push_back(first | kBundleBit);
            words.push_back(random_words(row(), random).front());
        }
    }
    std::string text;
    int bundles = 0;
    for (const ListingLine& line : disassemble(words, kBase)) {
        if (line.text.find("rpt") == std::string::npos) {
            text += line.text + "\n";
        } else {
            text += ".word " + std::to_string(line.words[0]) + "\n";
        }
        bundles += line.words.size() == 2 ? 1 : 0;
    }
    CHECK(bundles > 100);
    CHECK(words_of_any_row(text) == words);
}

TEST_CASE("any words go to text and back", "[isa]") {
    std::mt19937 random(3);
    std::vector<std::uint32_t> words(5000);
    for (auto& word : words) {
        word = static_cast<std::uint32_t>(random()) & 0xffU;
        word |= static_cast<std::uint32_t>(random() % 0x50) << 24U; // where the table has its rows
    }
    std::string text;
    for (const ListingLine& line : disassemble(words, kBase)) {
        const bool is_repeat = line.text.find("rpt") != std::string::npos;
        text += (is_repeat ? ".word " + std::to_string(line.words[0]) : line.text) + "\n";
    }
    CHECK(words_of_any_row(text) == words);
}

TEST_CASE("published words are made", "[isa]") {
    CHECK(words_of("setzi $m3, 0x12345") == std::vector<std::uint32_t>{0x19312345});
    CHECK(words_of("br $lr") == std::vector<std::uint32_t>{0x43a00000});
    CHECK(words_of("sync 2") == std::vector<std::uint32_t>{0x41800002});
    CHECK(words_of("call $m10, 0x4c010") == std::vector<std::uint32_t>{0x18a13004});
    CHECK(words_of("put 0x50, $m1") == std::vector<std::uint32_t>{0x43108050});
}

TEST_CASE("published words of exchange rows are made", "[isa]") {
    using Words = std::vector<std::uint32_t>;
    CHECK(words_of("sans 0") == Words{0x40c00000});
    CHECK(words_of("delay 5") == Words{0x40a00004});
    CHECK(words_of("send 40, 0x14000, 2") == Words{0x78000000U | 39U << 21 | 0x14000U << 3 | 2U});
    CHECK(words_of("sendoff 65, 3, 1") == Words{0x70000000U | 1U << 14 | 3U << 3 | 1U});
    CHECK(words_of("sendpic 2, 3, 1") == Words{0x70100000U | 1U << 21 | 3U << 18 | 1U});
    CHECK(words_of("delaypic 128, 1, 2") == Words{0x60000000U | 127U << 19 | 1U << 18 | 2U});
    CHECK(words_of("delayxpic 4096, 1, 0x640") ==
          Words{0x64000000U | 4095U << 14 | 1U << 13 | 0x640U});
    CHECK(words_of(".align 8\nsendpicp 3, 4, 1, 1, 0x640, 0, 0x10") ==
          Words{0xf0000000U | 1U << 27 | 2U << 21 | 4U << 3 | 1U, 0x640U << 19 | 0x10U});
}

TEST_CASE("an instruction of two words stands on eight bytes", "[isa]") {
    CHECK(mistakes_of("nop\nsendpicp 3, 4, 1, 1, 0x640, 0, 0x10") ==
          std::vector<std::string>{"a.S:2:1: sendpicp: stands at an address that is no multiple of "
                                   "8; put .align 8 before it"});
    const std::vector<std::uint32_t> words = {0x19e00000, 0xf0000000, 0x00000000, 0xf0000000};
    std::vector<std::string> texts;
    for (const ListingLine& line : disassemble(words, kBase)) {
        texts.push_back(line.text);
    }
    // at 4 modulo 8, and cut short by the end
    CHECK(texts == std::vector<std::string>{"nop", ".word 0xf0000000", ".word 0x00000000",
                                            ".word 0xf0000000"});
}

TEST_CASE("control registers have the names of who runs the code", "[isa]") {
    const std::vector<std::uint32_t> words = {0x43110001}; // get $m1, 1
    CHECK(disassemble(words, kBase).front().text == "get $m1, 1");
    CHECK(disassemble(words, kBase, CsrContext::Worker).front().text == "get $m1, $WSR");
    CHECK(disassemble(words, kBase, CsrContext::Supervisor).front().text == "get $m1, $SSR");
}

TEST_CASE("weight registers have names", "[isa]") {
    CHECK(words_of("ld64putcs $CWEI_15_3") == words_of("ld64putcs 63"));
    CHECK(words_of("ld128putcs $CWEI_0_2") == words_of("ld128putcs 2"));
    CHECK(mistakes_of("get $m0, $CWEI_0_0").size() == 1);
    CHECK(mistakes_of("ld64putcs $WSR").size() == 1);
}

TEST_CASE("the supervisor packs addresses too", "[isa]") {
    CHECK(mistakes_of(".supervisor\ntapack $m2:3, $m0, $m1, $m4").empty());
}

TEST_CASE("the point is the address of its own element in a list of data", "[isa]") {
    CHECK(words_of(".long 1f - ., 2f - .\n1: .long 0\n2:") == std::vector<std::uint32_t>{8, 8, 0});
}

TEST_CASE("a half beyond the largest is a mistake", "[isa]") {
    CHECK(mistakes_of("setzi $m0, 65504.0h").empty());
    CHECK(mistakes_of("setzi $m0, 70000h") ==
          std::vector<std::string>{"a.S:1:12: number: got 70000h, expected a half of at most "
                                   "65504h, or infh"});
}

TEST_CASE("movz is refused with its reason", "[isa]") {
    CHECK(mistakes_of("movz $m0, $m1, $m2") ==
          std::vector<std::string>{"a.S:1:1: movz: not modelled: its published name and formula "
                                   "contradict each other, expected movnz"});
}

TEST_CASE("a word that is no instruction becomes data", "[isa]") {
    const std::vector<std::uint32_t> words = {0x40ffffff, 0x19e00000, 0x99e00000};
    const auto listing = disassemble(words, kBase);
    REQUIRE(listing.size() == 3);
    CHECK(listing[0].text == ".word 0x40ffffff");
    CHECK(listing[1].text == "nop");
    CHECK(listing[1].address == kBase + 4);
    CHECK(listing[2].text == ".word 0x99e00000"); // half of a bundle
}

TEST_CASE("the documentation table is the instruction table", "[isa]") {
    CHECK(text_of_file("docs/instructions.md") == opcode_table_markdown());
}

TEST_CASE("every mnemonic has a meaning on the page and in the list", "[isa]") {
    const std::string page = opcode_table_markdown();
    const auto list = opcode_list();
    for (const auto mnemonic : mnemonics()) {
        INFO(mnemonic);
        CHECK_FALSE(meaning_of(mnemonic).empty());
        CHECK(page.find("| " + std::string(mnemonic) + " |") != std::string::npos);
        CHECK(std::any_of(list.begin(), list.end(), [&](const OpcodeLine& line) {
            return line.mnemonic == mnemonic && line.meaning.find('\\') == std::string::npos;
        }));
    }
    CHECK(meaning_of("no such mnemonic").empty());
}

namespace {

/// The text of the `number`th block of the language page that starts with this fence.
std::string block_of_page(const std::string& fence, int number) {
    const std::string page = text_of_file("docs/assembler.md");
    std::size_t begin = 0;
    for (int i = 0; i <= number; ++i) {
        begin = page.find("\n" + fence + "\n", begin);
        REQUIRE(begin != std::string::npos);
        begin += fence.size() + 2;
    }
    return page.substr(begin, page.find("```", begin) - begin);
}

} // namespace

TEST_CASE("the example of the documentation assembles", "[isa]") {
    const std::string example = block_of_page("```asm", 0);
    CHECK(mistakes_of(example).empty());
    const auto listing = listing_of(example);
    CHECK(listing.at(8) == "{ rpt $m2, 1 ; setzi $a0, 0x4000 }");
    CHECK(listing.at(9) == "{ ld64step $a4:5, $mzero, $m3+=, 1 ; f16v4mul $a2:3, $a0:BL, $a4:5 }");
    CHECK(listing.back() == "exitz $mzero");
}

TEST_CASE("the mistakes of the documentation are told as it shows them", "[isa]") {
    std::string shown;
    for (const std::string& mistake : mistakes_of(block_of_page("```asm", 2))) {
        shown += mistake + "\n";
    }
    const std::string page = text_of_file("docs/assembler.md");
    CHECK(shown == page.substr(page.rfind("```\n", page.rfind("```") - 1) + 4,
                               page.rfind("```") - page.rfind("```\n", page.rfind("```") - 1) - 4));
}
