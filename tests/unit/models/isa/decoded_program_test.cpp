// SPDX-License-Identifier: MIT
// Where the decoder puts steps that are no instructions.
#include "models/isa/decoded_program.h"
#include "tests/unit/models/isa/assemble_support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>

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

TEST_CASE("as many loops are told apart as a byte can number, and the others are none", "[isa]") {
    constexpr std::size_t kMost = 255;
    const auto decoded = [](std::size_t times, const std::string& loop) {
        std::string text = ".worker\n.align 8\n";
        for (std::size_t i = 0; i < times; ++i) {
            text += loop;
        }
        return decode_program(words_of(text + "exitz $mzero"), kBase, kDefaultTarget);
    };
    // the number of the last loop that the operations of one kind refer to
    const auto last_of = [](const DecodedProgram& program, std::uint16_t code, auto number_of) {
        std::size_t last = 0;
        for (const MicroOperation& op : program.operations) {
            if (op.code == code) {
                last = std::max<std::size_t>(last, number_of(op));
            }
        }
        return last;
    };
    for (const std::size_t times : {std::size_t{1}, kMost, kMost + 1}) {
        CAPTURE(times);
        const std::size_t told = std::min(times, kMost);
        const auto counted = decoded(times, "1: nop\nbrnzdec $m0, 1b\n");
        CHECK(counted.counted_loops.size() == told);
        CHECK(last_of(counted, static_cast<std::uint16_t>(Opcode::brnzdec),
                      [](const MicroOperation& op) { return op.c; }) == told);
        const auto sparse = decoded(times, "{ rpt 3, 2 ; fnop }\n"
                                           "{ ld64 $a4:5, $m2, $m5, 1 ; f16v8acc $a0:3 }\n"
                                           "{ ldd16a64 $a4:5, $m3++, $m2, $m5@ ; "
                                           "f16v4mul $a2:3, $a6:BL, $a4:5 }\n"
                                           "{ ldb16step $a6, $mzero, $m4+=, 1 ; "
                                           "f16v4mul $a0:1, $a6:BL, $a4:5 }\n");
        CHECK(sparse.sparse_loops.size() == told);
        CHECK(last_of(sparse, static_cast<std::uint16_t>(Internal::BodyEnd),
                      [](const MicroOperation& op) { return op.d; }) == told);
    }
}

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
