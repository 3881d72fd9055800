// SPDX-License-Identifier: MIT
// Random programs: each ends in an outcome or in a fault of the machine, and all engines, and
// matrix-unit loops by rows or by bundles, leave the same memory, registers and cycles.
#include "tests/support/random_code.h"

#include <catch2/catch.hpp>

#include <random>

using namespace tessera;

namespace {

void check_equal(const test::RandomOutcome& one, const test::RandomOutcome& other) {
    CHECK(one.fault == other.fault);
    CHECK(one.cycles == other.cycles);
    CHECK((one.counts == other.counts));
    CHECK(one.registers == other.registers);
    CHECK((one.memory == other.memory)); // not printed
}

} // namespace

TEST_CASE("random programs end and every engine does the same", "[unit][tile]") {
    constexpr unsigned kPrograms = 4000;
    unsigned ended = 0;
    Cycles cycles = 0;
    for (unsigned seed = 0; seed < kPrograms; ++seed) {
        CAPTURE(seed);
        std::mt19937 random(seed);
        const test::RandomProgram program(
            [&random] { return static_cast<std::uint32_t>(random()); });
        const test::RandomOutcome first = program.run(isa::engines().front());
        check_equal(first, program.run(isa::engines().back()));
        if (seed % 8 == 0) {
            check_equal(first, program.run(isa::engines().back(), false));
        }
        ended += first.fault.empty() ? 1 : 0;
        cycles += first.cycles;
    }
    // or the property would hold of nothing
    CHECK(ended > kPrograms / 10);
    CHECK(cycles > kPrograms * 100);
}
