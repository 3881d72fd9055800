// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "sim/assemble/assemble.h"
#include "sim/cli/cli.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace tessera;
using nlohmann::json;

namespace {

/// Six instructions from line 4 on, with labels at the first and the fifth.
constexpr const char* kSource = R"(
        .globl first
first:
        setzi $m0, VALUE
        setzi $m1, 2
        setzi $m2, 3
        add $m0, $m0, $m1
second:
        add $m0, $m0, $m2
        br $lr
)";

std::string bytes_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

struct Scene {
    Scene() {
        command.files = {folder.write("a.S", kSource)};
        command.machine = "bow";
        command.defines = {"VALUE=9"};
    }
    /// The file of --json.
    json document() {
        command.json = folder.path("a.json");
        static_cast<void>(assemble::assemble_text(command));
        return json::parse(bytes_of(command.json));
    }
    /// The text, or why there is none.
    std::string text() {
        try {
            return assemble::assemble_text(command);
        } catch (const cli::UsageError& error) {
            return error.what();
        }
    }

    test::ScratchFolder folder;
    cli::AssembleCommand command;
};

} // namespace

TEST_CASE("an assembled file is told with its symbols, its listing and its tally", "[unit][sim]") {
    Scene scene;
    scene.command.address = "0x4d000";
    const json document = scene.document();
    CHECK(document["address"] == 0x4d000);
    CHECK(document["bytes"] == 24);
    CHECK(document["symbols"] == json{{"first", 0x4d000}, {"second", 0x4d010}});
    CHECK(document["undefined"] == json::array());
    CHECK(document["summary"]["instructions"] == 6);
    REQUIRE(document["listing"].size() == 6);
    scene.command.listing = true;
    scene.command.summary = true;
    std::string expected = "24 bytes at 0x4d000, 2 symbols\n"
                           "  0x0004d000  first\n"
                           "  0x0004d010  second\n"
                           "\n"
                           "instructions 6, 0 of them in 0 bundles\n"
                           "mnemonics    setzi 3, add 2, br 1\n"
                           "section                     code B    data B padding B\n"
                           ".text                           24         0         0\n"
                           "\n";
    const std::vector<int> lines{4, 5, 6, 7, 9, 10};
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const json& line = document["listing"][i];
        CHECK(line["address"] == 0x4d000 + 4 * i);
        REQUIRE(line["words"].size() == 1);
        const auto source = line["source"].get<std::string>();
        CHECK(source.find(fmt::format("a.S:{}", lines[i])) != std::string::npos);
        expected += i == 0 ? "first:\n" : i == 4 ? "second:\n" : "";
        expected += fmt::format("{:#010x}  {:<18}  {:<52} {}\n", 0x4d000 + 4 * i,
                                fmt::format("{:08x}", line["words"][0].get<std::uint32_t>()),
                                line["text"].get<std::string>(), source);
    }
    CHECK(scene.text() == expected);
    CHECK(document["listing"][0]["text"] == "setzi $m0, 9");
    scene.command.quiet = true;
    CHECK(scene.text().empty());
}

TEST_CASE("bundles, data, what a source prints and what is in none are told", "[unit][sim]") {
    Scene scene;
    const std::string file = scene.folder.write("c.S", R"(
        .worker
        .print "said"
        .globl entry
entry:
        { add $m0, $m0, 1
          f32add $a0, $a0, $a1 }
        bri elsewhere
        .section .data.table
        .globl table
table:  .word 1
        .align 16
        .half 2
)");
    scene.command.files = {file};
    scene.command.address = "0x4d000";
    scene.command.allow_undefined = true;
    scene.command.summary = true;
    const std::string place = file + ":8:13";
    // data stands at a multiple of 8, and its second part at one of 16
    CHECK(scene.text() == "said\n"
                          "36 bytes at 0x4d000, 2 symbols\n"
                          "  0x0004d000  entry\n"
                          "  0x0004d010  table\n"
                          "  undefined   elsewhere  " +
                              place +
                              "\n"
                              "\n"
                              "instructions 3, 2 of them in 1 bundle\n"
                              "mnemonics    add 1, bri 1, f32add 1\n"
                              "section                     code B    data B padding B\n"
                              ".text                           12         0         0\n"
                              ".data.table                      0         6        16\n");
    const json document = scene.document();
    CHECK(document["printed"] == json{"said"});
    CHECK(document["undefined"] ==
          json::parse(R"([{"name": "elsewhere"}])")
              .patch({{{"op", "add"}, {"path", "/0/place"}, {"value", place}}}));
    CHECK(document["summary"] == json::parse(R"({
        "instructions": 3, "bundles": 1, "mnemonics": {"add": 1, "bri": 1, "f32add": 1},
        "sections": [{"name": ".text", "code_bytes": 12, "data_bytes": 0, "padding_bytes": 0},
                     {"name": ".data.table", "code_bytes": 0, "data_bytes": 6, "padding_bytes": 16}]})"));
    CHECK(document["listing"][0]["words"].size() == 2);
    CHECK(document["listing"][1]["address"] == 0x4d008);
    scene.command.files = {scene.folder.write("d.S", "        .worker\n")};
    scene.command.json.clear();
    CHECK(scene.text().find("instructions 0, 0 of them in 0 bundles\nmnemonics    none\n") !=
          std::string::npos);
}

TEST_CASE("equally frequent mnemonics are told by name", "[unit][sim]") {
    Scene scene;
    std::string source;
    for (const char* line : {"sub $m0, $m0, $m1", "or $m0, $m0, $m1", "and $m0, $m0, $m1", "br $lr",
                             "add $m0, $m0, $m1", "add $m0, $m0, $m1"}) {
        source += std::string("        ") + line + "\n";
    }
    scene.command.files = {scene.folder.write("b.S", source)};
    scene.command.summary = true;
    CHECK(scene.text().find("mnemonics    add 2, and 1, br 1, or 1, sub 1\n") != std::string::npos);
}

TEST_CASE("the words of an assembled file are little-endian, and are told back", "[unit][sim]") {
    Scene scene;
    scene.command.out = scene.folder.path("a.bin");
    const json document = scene.document();
    std::string bytes;
    std::string hexadecimal;
    std::vector<std::string> texts;
    for (const json& line : document["listing"]) {
        for (const json& word : line["words"]) {
            const auto bits = word.get<std::uint32_t>();
            for (unsigned byte = 0; byte < 4; ++byte) {
                bytes += static_cast<char>(bits >> (8 * byte) & 0xffU);
            }
            hexadecimal += fmt::format(" {:x}\n", bits);
        }
    }
    CHECK(bytes_of(scene.command.out) == bytes);
    cli::DisassembleCommand back;
    back.machine = "bow";
    back.file = scene.command.out;
    back.address = "0x50000";
    std::string expected;
    for (std::size_t i = 0; i < document["listing"].size(); ++i) {
        const json& line = document["listing"][i];
        expected += fmt::format("{:<52} // {:#010x}  {:08x}\n", line["text"].get<std::string>(),
                                0x50000 + 4 * i, line["words"][0].get<std::uint32_t>());
    }
    CHECK(assemble::disassemble_text(back) == expected);
    back.file = scene.folder.write("a.txt", hexadecimal);
    back.hex = true;
    CHECK(assemble::disassemble_text(back) == expected);
}

TEST_CASE("a definition is a name and a value, or a name that is 1", "[unit][sim]") {
    const auto first = [](const std::string& define) -> std::string {
        Scene scene;
        scene.command.defines = {define, "VALUE=3"};
        if (define.rfind("VALUE", 0) == 0) {
            scene.command.defines.pop_back();
        }
        try {
            return scene.document()["listing"][0]["text"];
        } catch (const cli::UsageError& error) {
            return error.what();
        }
    };
    CHECK(first("VALUE") == "setzi $m0, 1");
    CHECK(first("VALUE=12") == "setzi $m0, 12");
    CHECK(first("A1=2") == "setzi $m0, 3");
    CHECK(first("_a_9=2") == "setzi $m0, 3");
    for (const std::string wrong : {"", "=2", "1A=2", "A-B=2", "A b"}) {
        CHECK(first(wrong) == "asm: -D: got '" + wrong + "', expected NAME or NAME=VALUE");
    }
}

TEST_CASE("an address is a multiple of eight, decimal or hexadecimal", "[unit][sim]") {
    Scene scene;
    const auto head = [&](const std::string& address) {
        scene.command.address = address;
        const std::string text = scene.text();
        return text.substr(0, text.find(','));
    };
    CHECK(head("0x50008") == "24 bytes at 0x50008");
    CHECK(head("0X50008") == "24 bytes at 0x50008");
    CHECK(head("327688") == "24 bytes at 0x50008");
    CHECK(head("") == "24 bytes at 0x4c000");
    for (const std::string wrong : {"0x", "x", "0x50004", "0x50001", "4", "12g", "0x12 "}) {
        CHECK(head(wrong) == "asm: --address: got '" + wrong + "'");
    }
}
