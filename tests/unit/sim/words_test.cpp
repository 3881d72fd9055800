// SPDX-License-Identifier: MIT
// Files of words that are to be disassembled.
#include "base/error.h"
#include "sim/assemble/assemble.h"
#include "tests/support/scratch_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

using namespace tessera;

namespace {

std::string told(const std::string& text) {
    const test::ScratchFolder folder;
    cli::DisassembleCommand command;
    command.file = folder.write("words", text);
    command.hex = true;
    try {
        return assemble::disassemble_text(command);
    } catch (const ConfigError& error) {
        const Diagnostic& found = error.diagnostics().front();
        return std::to_string(found.line) + ":" + std::to_string(found.column) + " " +
               found.message;
    }
}

} // namespace

TEST_CASE("a word that is none is told with its line and column, and with as much as people read") {
    const std::string expected = ", expected a word of up to 8 hexadecimal digits";
    CHECK(told("zz") == "1:1 got 'zz'" + expected);
    CHECK(told("19e00000 zz") == "1:10 got 'zz'" + expected);
    CHECK(told("19e00000\n\n  0x19e00000 zz\n") == "3:14 got 'zz'" + expected);
    CHECK(told("123456789") == "1:1 got '123456789'" + expected);
    for (const std::size_t length :
         {std::size_t{39}, std::size_t{40}, std::size_t{41}, std::size_t{1000}}) {
        const std::string shown(std::min<std::size_t>(length, 40), 'x');
        CHECK(told(std::string(length, 'x') + " 1") == "1:1 got '" + shown + "'" + expected);
    }
}

TEST_CASE("words may have their prefix, or not") {
    CHECK(told("19e00000 0x19e00000") == told("0x19e00000\n19e00000\n"));
    CHECK(told("19e00000").find("nop") != std::string::npos);
}
