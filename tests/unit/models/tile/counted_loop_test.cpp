// SPDX-License-Identifier: MIT
// Loops that a branch counts down: where all passes but some are skipped, a phase has the outcome that it
// has pass by pass.
#include "models/isa/decoded_program.h"
#include "tests/unit/models/tile/known_tile.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <string>
#include <vector>

using namespace tessera;
using test::KnownTile;

namespace {

/// Workers that add up groups of columns of a row; `body` is behind the loads of a group.
std::string groups(const std::string& body) {
    return fmt::format(R"(
    .supervisor
    .globl start
    start:
        setzi $m0, 0x80000
        setzi $m1, worker
        runall $m1, $m0, 0
        sync 2
        br $lr

    .worker
    .align 8
    worker:
        ld32 $m0, $mvertex_base, $mzero, 0
        ld32 $m1, $mvertex_base, $mzero, 1
        ld32 $m2, $mvertex_base, $mzero, 2
        ld32 $m3, $mvertex_base, $mzero, 3
        add $m4, $mvertex_base, 64
        .align 8
    group:
        mov $m5, $m4
        ldz16step $m6, $mzero, $m5+=, 1
        {{ rpt $m1, 1 ; fnop }}
        {{ ld64 $a0:1, $m2, $m6, 1 ; fnop }}
        {{ ldd16a64 $a2:3, $m5++, $m2, $m6@ ; fnop }}
        {}
        add $m2, $m2, 16
        st64step $a0:1, $mzero, $m3+=, 1
        st64step $a2:3, $mzero, $m3+=, 1
        brnzdec $m0, group
        st32 $m2, $mvertex_base, $mzero, 8
        st32 $m5, $mvertex_base, $mzero, 9
        st32 $m3, $mvertex_base, $mzero, 10
        exitz $mzero
)",
                       body);
}

std::size_t counted_loops(const std::string& text) {
    const spec::MachineSpec spec;
    const program::Codelet codelet =
        isa::assemble("test", {{"test.S", text}}, spec.memory.region0_begin(),
                      isa::options_for(isa::target_of(spec)));
    return isa::decode_program(codelet.words, codelet.address, isa::target_of(spec))
        .counted_loops.size();
}

/// Groups less one, elements of a row, where the first group of data is and where sums go to; behind them
/// the list of distances.
std::vector<std::uint32_t> words_of(std::uint32_t groups_less1, std::uint32_t elements,
                                    Address sums) {
    std::vector<std::uint32_t> words{groups_less1, elements, 0x90000, sums};
    words.resize(16);
    for (std::uint32_t two = 0; two < 16; ++two) {
        words.push_back((two * 48) << 16U | two * 32);
    }
    return words;
}

} // namespace

TEST_CASE("passes of a counted loop that are skipped have their cycles, stores and registers",
          "[unit][tile]") {
    const std::string text = groups("nop");
    REQUIRE(counted_loops(text) == 1);
    for (std::uint32_t groups_less1 = 0; groups_less1 < 12; ++groups_less1) {
        // Sums go behind what is known, over words of the state that nobody reads, and over the list.
        for (const Address sums : {0x80200U, 0x80030U, 0x80070U}) {
            for (const std::uint32_t elements : {0U, 1U, 7U}) {
                CAPTURE(groups_less1, sums, elements);
                KnownTile tile(text, nullptr);
                const auto words = words_of(groups_less1, elements, sums);
                const auto outcome = [&](bool audited) {
                    try {
                        return std::pair(tile.run(words, audited), std::string());
                    } catch (const tile::TileFault& fault) {
                        return std::pair(KnownTile::Left{},
                                         std::string(fault.what()).substr(0, 60));
                    }
                };
                CHECK((outcome(false) == outcome(true)));
            }
        }
    }
}

TEST_CASE("loops whose passes may differ are not counted", "[unit][tile]") {
    for (const char* const body : {
             "nop",
             "add $m7, $m2, 8",            // moves as the data do
             "setzi $m7, 5",               //
             "ld32 $m7, $m4, $mzero, 0",   // the same in every pass
             "ld64 $a4:5, $m2, $mzero, 0", //
             "add $m7, $m2, -8",           //
             "add $m7, $m2, $m1",          // and another register that stays
             "or $m7, $m2, $mzero",        // a copy
             "or $m7, $mzero, $m2",        //
             "or $m7, $m1, 1",             // any function of what stays
             "mul $m7, $m1, 3",            //
             "{ rpt 2, 0 ; fnop }\n{ nop ; fnop }",
             "{ rpt $m1, 0 ; fnop }\n{ ld64 $a4:5, $m2, $mzero, 0 ; fnop }",
         }) {
        CAPTURE(body);
        CHECK(counted_loops(groups(body)) == 1);
    }
    for (
        const char* const body : {
            "mul $m2, $m2, 3",                       // a step that is none
            "add $m2, $m2, $m3",                     // two that move
            "ld32 $m7, $m2, $mzero, 0",              // another word in each pass
            "ld32 $m1, $m3, $mzero, 0",              // another count
            "st32 $m5, $m4, $mzero, 4",              // a main register is stored
            "brz $m1, group",                        // another branch
            "call $m7, group",                       //
            "add $m4, $m4, 2",                       // the list goes on
            "mov $m1, $m2",                          // the count moves
            "add $m0, $m0, $m0",                     // what counts down
            "mov $m7, $a0",                          // tensor data
            "get $m7, $WSR",                         // not of the loop
            "or $m7, $m2, 1",                        // no copy
            "or $m7, $m2, $m1",                      //
            "sub $m7, $m1, $m2",                     // moves the other way
            "add $m7, $m2, $m2",                     // moves twice as far
            "add $m7, $m2, $m3",                     // the sum of two that move
            "{ rpt $m2, 0 ; fnop }\n{ nop ; fnop }", // another count
            "{ rpt 2, 0 ; fnop }\n{ st64step $a0:1, $mzero, $m3+=, 1 ; fnop }", // stores in a repeat
            "{ rpt 2, 0 ; fnop }\n{ ld32 $m7, $m2, $mzero, 0 ; fnop }", // another word in each pass
            "ld64step $a4:5, $mzero, $m2+=, $m3",
        }) {
        CAPTURE(body);
        CHECK(counted_loops(groups(body)) == 0);
    }
}

TEST_CASE("a counted loop leaves what all its passes leave", "[unit][tile]") {
    const std::string text = groups("nop");
    KnownTile tile(text, nullptr);
    auto words = words_of(11, 2, 0x80200);
    const auto left = tile.run(words);
    CHECK((tile.run(words, true) == left));
    CHECK_FALSE(left.known[(0x80200 - KnownTile::kBegin) / 4]);
    CHECK(left.words[8] == 0x90000 + 12 * 16);
    CHECK(left.words[10] == 0x80200 + 12 * 16);
}
