// SPDX-License-Identifier: MIT
// Where the decoder puts steps that are no instructions.
#include "models/isa/decoded_program.h"
#include "tests/unit/models/isa/assemble_support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace tessera;
using namespace tessera::isa;
using namespace tessera::isa::test;

namespace {

/// Words behind the start of the code at which a body of an rpt ends.
std::vector<std::size_t> body_ends(const std::vector<std::uint32_t>& words, Address base) {
    const DecodedProgram program = decode_program(words, base, kDefaultTarget);
    std::vector<std::size_t> ends;
    for (std::size_t i = 0; i < program.operations.size(); ++i) {
        if (program.operations[i].code == static_cast<std::uint16_t>(Internal::BodyEnd)) {
            ends.push_back((program.address_of[i] - base) / 4);
        }
    }
    return ends;
}

} // namespace

TEST_CASE("a body ends where its rpt says, and nothing but an rpt has one", "[isa]") {
    using Ends = std::vector<std::size_t>;
    constexpr std::size_t kFirst = 2; // word of the body
    for (std::size_t bundles = 1; bundles <= 6; ++bundles) {
        CAPTURE(bundles);
        std::string text = fmt::format("nop\nrpt 3, {}\n", bundles - 1);
        for (std::size_t i = 0; i < bundles + 2; ++i) {
            text += "{ nop ; fnop }\n";
        }
        auto words = words_of(text + "exitz $mzero");
        const std::size_t end = kFirst + 2 * bundles;
        CHECK(body_ends(words, kBase) == Ends{end});
        CHECK(body_ends(words, kBase + 4).empty()); // its bundles at no multiple of 8
        words.resize(end);
        CHECK(body_ends(words, kBase) == Ends{end});
        words.pop_back(); // half a bundle too few
        CHECK(body_ends(words, kBase).empty());
    }
}
