// SPDX-License-Identifier: MIT
// The instruction table against assembler, disassembler and documentation.
#include "models/isa/instruction.h"
#include "models/isa/opcode_table_doc.h"
#include "tests/unit/isa/assemble_support.h"

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
    std::ifstream file(std::string(TESSERA_SOURCE_DIR) + "/" + path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

/// Random bits in every operand field (and the broadcast field) of the row.
std::uint32_t random_word(const OpcodeSpec& row, std::mt19937& random) {
    std::uint32_t word = row.code;
    for (const OperandSpec& operand : spec_of(row.form).list()) {
        const auto field = static_cast<std::uint32_t>(random()) & ((1U << operand.bits) - 1U);
        word |= field << operand.shift;
    }
    return (row.flags & kBroadcast) != 0 ? word | (random() & 3U) : word;
}

} // namespace

TEST_CASE("every row goes from word to text and back over random operand fields", "[isa]") {
    std::mt19937 random(1);
    for (std::size_t i = 1; i < static_cast<std::size_t>(Opcode::kCount); ++i) {
        const OpcodeSpec& row = spec_of(static_cast<Opcode>(i));
        std::vector<std::uint32_t> words;
        for (int n = 0; n < kWordsPerRow; ++n) {
            words.push_back(random_word(row, random));
            CHECK(decode(words.back()).opcode == static_cast<Opcode>(i));
            CHECK(encode(decode(words.back())) == words.back());
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
            CHECK(words_of(text) == words);
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
        const std::uint32_t first = random_word(row(), random);
        if (spec_of(decode(first).opcode).mnemonic != "rpt") {
            words.push_back(first | kBundleBit);
            words.push_back(random_word(row(), random));
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
    CHECK(words_of(text) == words);
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
    CHECK(words_of(text) == words);
}

TEST_CASE("published words are made", "[isa]") {
    CHECK(words_of("setzi $m3, 0x12345") == std::vector<std::uint32_t>{0x19312345});
    CHECK(words_of("br $lr") == std::vector<std::uint32_t>{0x43a00000});
    CHECK(words_of("sync 2") == std::vector<std::uint32_t>{0x41800002});
    CHECK(words_of("call $m10, 0x4c010") == std::vector<std::uint32_t>{0x18a13004});
    CHECK(words_of("put 0x50, $m1") == std::vector<std::uint32_t>{0x43108050});
}

TEST_CASE("a word that is no instruction becomes data", "[isa]") {
    const std::vector<std::uint32_t> words = {0x7fffffff, 0x19e00000, 0x99e00000};
    const auto listing = disassemble(words, kBase);
    REQUIRE(listing.size() == 3);
    CHECK(listing[0].text == ".word 0x7fffffff");
    CHECK(listing[1].text == "nop");
    CHECK(listing[1].address == kBase + 4);
    CHECK(listing[2].text == ".word 0x99e00000"); // half of a bundle
}

TEST_CASE("the documentation table is the instruction table", "[isa]") {
    CHECK(text_of_file("docs/instructions.md") == opcode_table_markdown());
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
    for (const std::string& mistake : mistakes_of(block_of_page("```asm", 1))) {
        shown += mistake + "\n";
    }
    const std::string page = text_of_file("docs/assembler.md");
    CHECK(shown == page.substr(page.rfind("```\n", page.rfind("```") - 1) + 4,
                               page.rfind("```") - page.rfind("```\n", page.rfind("```") - 1) - 4));
}
