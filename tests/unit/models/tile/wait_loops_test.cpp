// SPDX-License-Identifier: MIT
// Which loops of a context wait for another one.
#include "models/isa/wait_loops.h"
#include "tests/support/assembled_tile.h"

#include <catch2/catch.hpp>

#include <string>
#include <vector>

using namespace tessera;

namespace {

/// The wait loops of worker code, with the words of instructions counted from its start.
std::vector<isa::WaitLoop> loops_of(const std::string& text) {
    const auto codelet = isa::assemble("test", {{"test.S", ".worker\n" + text}}, 0x4c000,
                                       isa::options_for(isa::target_of(spec::MachineSpec{})));
    return isa::wait_loops(codelet.words, codelet.address);
}

bool waits(const std::string& text) {
    return !loops_of(text).empty();
}

} // namespace

TEST_CASE("a loop that goes round until memory changes waits", "[unit][tile]") {
    using isa::WaitLoop;
    CHECK(loops_of("nop\n1: ld32 $m2, $m0, $mzero, 0\nbrz $m2, 1b\nexitz $mzero") ==
          std::vector<WaitLoop>{{1, {1}}});
    // the value is compared, and the way out is inside
    CHECK(loops_of("1: ld32 $m2, $m0, $mzero, 0\ncmpeq $m3, $m2, $m1\nbrnz $m3, 2f\nbri 1b\n"
                   "2: exitz $mzero") == std::vector<WaitLoop>{{0, {0}}});
    // bundles are two words
    CHECK(loops_of("{ld32 $m2, $m0, $mzero, 0; fnop}\n1: {ldz16 $m2, $m0, $mzero, 0; fnop}\n"
                   "{brz $m2, 1b; fnop}\nexitz $mzero") == std::vector<WaitLoop>{{2, {2}}});
    // two words
    CHECK(loops_of("1: ld32 $m2, $m0, $mzero, 0\nld32 $m3, $m0, $mzero, 1\nand $m2, $m2, $m3\n"
                   "brz $m2, 1b\nexitz $mzero") == std::vector<WaitLoop>{{0, {0, 1}}});
    // a pause between two looks; the address is made anew in each round
    CHECK(loops_of("1: setzi $m4, 100\nadd $m5, $m0, 4\nld32 $m2, $m5, $mzero, 0\nsetzi $m3, 10\n"
                   "2: brnzdec $m3, 2b\nbrz $m2, 1b\nexitz $mzero") ==
          std::vector<WaitLoop>{{0, {2}}});
    // a look at what the round before has read
    CHECK(waits("1: brnz $m2, 2f\nld32 $m2, $m0, $mzero, 0\nbri 1b\n2: exitz $mzero"));
    // a number in floating point; a counter that decides nothing; a store beside the word
    CHECK(waits("1: ld32 $a0, $m0, $mzero, 0\nf32cmpeq $a0, $a0, $a1\natom $m2, $a0\nbrz $m2, 1b\n"
                "exitz $mzero"));
    CHECK(waits("1: ld32 $m2, $m0, $mzero, 0\nadd $m3, $m3, 1\nbrz $m2, 1b\nexitz $mzero"));
    CHECK(waits("1: ld32 $m2, $m0, $mzero, 0\nst32 $m3, $m0, $mzero, 1\nbrz $m2, 1b\n"
                "exitz $mzero"));
    // what may be jumped over does not decide
    CHECK(waits("1: ld32 $m2, $m0, $mzero, 0\nbrnz $m6, 2f\nsetzi $m5, 1\n2: brz $m2, 1b\n"
                "exitz $mzero"));
}

TEST_CASE("a loop that ends by itself does not wait", "[unit][tile]") {
    // counted; through a list; until the list ends; with a limit of rounds
    CHECK_FALSE(waits("1: brnzdec $m3, 1b\nexitz $mzero"));
    CHECK_FALSE(waits("1: ld32 $m2, $m0, $mzero, 0\nbrnzdec $m3, 1b\nexitz $mzero"));
    CHECK_FALSE(waits("1: ld32step $m2, $mzero, $m0+=, 1\nbrz $m2, 1b\nexitz $mzero"));
    CHECK_FALSE(waits("1: ld32 $m0, $m0, $mzero, 0\nbrnz $m0, 1b\nexitz $mzero"));
    CHECK_FALSE(waits("1: ld32 $m2, $m0, $m3, 0\nadd $m3, $m3, 4\nbrz $m2, 1b\nexitz $mzero"));
    CHECK_FALSE(waits("1: ld32 $m2, $m0, $mzero, 0\nbrnz $m2, 2f\nbrnzdec $m3, 1b\n"
                      "2: exitz $mzero"));
    CHECK_FALSE(waits("1: ld32 $m2, $m0, $mzero, 0\nmov $m4, $m5\nadd $m5, $m4, 1\n"
                      "cmpult $m3, $m5, $m2\nbrnz $m3, 1b\nexitz $mzero"));
    // until a clock says so
    CHECK_FALSE(waits("1: ld32 $m2, $m0, $mzero, 0\nget $m3, $COUNT_L\ncmpult $m3, $m3, $m2\n"
                      "brnz $m3, 1b\nexitz $mzero"));
    // its own counter stands in memory
    CHECK_FALSE(waits("1: ld32 $m2, $m0, $mzero, 0\nsub $m2, $m2, 1\nst32 $m2, $m0, $mzero, 0\n"
                      "brnz $m2, 1b\nexitz $mzero"));
    // what it counts may be jumped over
    CHECK_FALSE(waits("1: ld32 $m2, $m0, $mzero, 0\nbrz $m6, 2f\nadd $m5, $m5, 1\n"
                      "2: brneg $m5, 1b\nexitz $mzero"));
    // nothing of memory decides: it loops for ever by itself
    CHECK_FALSE(waits("1: bri 1b"));
    CHECK_FALSE(waits("1: ld32 $m2, $m0, $mzero, 0\nbrz $m3, 1b\nexitz $mzero"));
    // where control goes is not clear
    CHECK_FALSE(waits("1: call $m4, 2f\nbrz $m2, 1b\nexitz $mzero\n2: br $m4"));
}

TEST_CASE("a wait loop may have so many instructions and no more", "[unit][tile]") {
    const auto loop = [](std::size_t nops) {
        std::string text = "1: ld32 $m2, $m0, $mzero, 0\n";
        for (std::size_t i = 0; i < nops; ++i) {
            text += "nop\n";
        }
        return text + "brz $m2, 1b\nexitz $mzero";
    };
    CHECK(waits(loop(isa::kLongestWaitLoop - 2)));
    CHECK_FALSE(waits(loop(isa::kLongestWaitLoop - 1)));
}
