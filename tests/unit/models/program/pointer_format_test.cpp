// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "models/program/pointer_format.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace tessera;
using program::PointerFormat;
using program::PointerTarget;

TEST_CASE("each pointer format has the bits that codelets read", "[unit][program]") {
    struct Row {
        PointerFormat format;
        const char* name;
        Bytes bytes;
        PointerTarget target;
        std::uint64_t bits;
    };
    const std::vector<Row> rows = {
        {PointerFormat::Word, "word", 4, {0x81234}, 0x81234},
        {PointerFormat::ShortSpan, "short_span", 4, {0x81234, 0x567}, 0x56781234},
        {PointerFormat::Scaled16, "scaled16", 2, {0x81230, 0, 0, 16}, 0x8123},
        {PointerFormat::Scaled16, "scaled16", 2, {0x80018, 0, 0x80000, 8}, 3},
        {PointerFormat::Scaled16, "scaled16", 2, {0xffff}, 0xffff},
        {PointerFormat::Span, "span", 8, {0x81234, 0x89abcdef}, 0x89abcdef00081234},
        {PointerFormat::Delta, "delta", 4, {0x80010, 5, 0x80000, 2}, 0x500008},
    };
    for (const Row& row : rows) {
        CAPTURE(row.name);
        const auto& facts = program::facts_of(row.format);
        CHECK(facts.format == row.format);
        CHECK(facts.name == row.name);
        CHECK(facts.bytes == row.bytes);
        CHECK(program::pointer_mistake(row.format, row.target).empty());
        CHECK(program::pack_pointer(row.format, row.target, "field") == row.bits);
    }
}

TEST_CASE("a pointer format holds its last address and length and refuses the next",
          "[unit][program]") {
    for (const auto& facts : program::kPointerFormats) {
        CAPTURE(facts.name);
        const std::int64_t unit = facts.relative ? 4 : 1;
        const std::int64_t base = facts.relative ? 0x80000 : 0;
        const std::int64_t last = base + unit * program::largest_offset(facts.format);
        const std::int64_t most = program::largest_length(facts.format);
        const auto fits = [&](std::int64_t address, std::int64_t length) {
            return program::pointer_mistake(facts.format, {address, length, base, unit}).empty();
        };
        CHECK(facts.address_bits + facts.length_bits == 8 * facts.bytes);
        CHECK(fits(base, 0));
        CHECK(fits(last, most));
        CHECK_FALSE(fits(last + unit, 0));
        CHECK_FALSE(fits(base - unit, 0));
        CHECK_FALSE(fits(base, most + 1));
        CHECK_FALSE(fits(base, -1));
        CHECK(fits(base + 1, 0) == (unit == 1));
    }
}

TEST_CASE("what a pointer format cannot hold is told", "[unit][program]") {
    CHECK(program::pointer_mistake(PointerFormat::Scaled16, {0x80002, 0, 0, 16}) ==
          "got address 0x80002 from base 0x0, expected a multiple of 16 B above it, of 16 bits");
    CHECK(program::pointer_mistake(PointerFormat::ShortSpan, {0x100000}) ==
          "got address 0x100000, expected one of 20 bits");
    CHECK(program::pointer_mistake(PointerFormat::Delta, {0x80000, 4096, 0x80000, 4}) ==
          "got a length of 4096 elements, expected 0..4095");
    CHECK_THROWS_WITH(program::pack_pointer(PointerFormat::Scaled16, {0x10000}, "table of taps"),
                      "table of taps: got address 0x10000 from base 0x0, expected a multiple of 1 "
                      "B above it, of 16 bits");
    CHECK_THROWS_AS(program::pack_pointer(PointerFormat::Scaled16, {-1}, "list"), ProgramError);
}
