// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "traces/clock.h"

#include <catch2/catch.hpp>

using namespace tessera;
using namespace tessera::traces;

namespace {

constexpr double kHz = 1.85e9;

} // namespace

TEST_CASE("the machine's time of a cycle is the nearest tick", "[unit][traces]") {
    CHECK(machine_time(0, kHz, Tick::Nanosecond) == 0);
    CHECK(machine_time(1, kHz, Tick::Nanosecond) == 1); // 0.54 ns
    CHECK(machine_time(2, kHz, Tick::Nanosecond) == 1); // 1.08 ns
    CHECK(machine_time(1, kHz, Tick::Picosecond) == 541);
    CHECK(machine_time(37, kHz, Tick::Picosecond) == 20'000);
    CHECK(machine_time(1, 2e9, Tick::Nanosecond) == 1); // a half goes up
}

TEST_CASE("a whole second is exact, however many there are", "[unit][traces]") {
    const Cycles cycles_a_second = 1'850'000'000;
    for (const std::int64_t seconds : {1, 60, 1'000'000}) {
        CHECK(machine_time(seconds * cycles_a_second, kHz, Tick::Picosecond) ==
              seconds * 1'000'000'000'000);
        CHECK(machine_time(seconds * cycles_a_second + 37, kHz, Tick::Nanosecond) ==
              seconds * 1'000'000'000 + 20);
    }
}

TEST_CASE("the machine's time never falls, and picoseconds tell cycles apart", "[unit][traces]") {
    for (const double hz : {1e6, kHz, 1e11}) {
        for (const Cycles from : {Cycles{0}, Cycles{1} << 40}) {
            for (Cycles cycle = from; cycle < from + 5000; ++cycle) {
                REQUIRE(machine_time(cycle, hz, Tick::Nanosecond) <=
                        machine_time(cycle + 1, hz, Tick::Nanosecond));
                REQUIRE(machine_time(cycle, hz, Tick::Picosecond) <
                        machine_time(cycle + 1, hz, Tick::Picosecond));
            }
        }
    }
}

TEST_CASE("a clock is one of two words, cycles if not given", "[unit][traces]") {
    CHECK(parse_clock("") == Clock::Cycles);
    CHECK(parse_clock("cycles") == Clock::Cycles);
    CHECK(parse_clock("machine") == Clock::Machine);
    CHECK_THROWS_AS(parse_clock("host"), ConfigError);
}
