// SPDX-License-Identifier: MIT
// A round stands between two copies, and says whose its cycles were.
#include "models/listeners/rounds.h"

#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using listeners::Rounds;

namespace {

constexpr std::uint32_t kCopy = 2;

/// Two compute sets of "a" and "b", and one of nobody.
program::Program of_two_kernels() {
    program::Program program;
    for (const char* owner : {"a", "b", ""}) {
        program.compute_sets.emplace_back().owner = owner;
    }
    return program;
}

events::Flight begun(std::uint32_t copy, Cycles cycle) {
    events::Flight flight{};
    flight.copy = copy;
    flight.begin = cycle;
    return flight;
}

/// Tells a release behind compute sets that follow one another: set and end of each.
void release(Rounds& rounds, Cycles begin,
             const std::vector<std::pair<std::uint32_t, Cycles>>& sets, bool ends_program = false) {
    std::vector<events::PathSpan> path;
    for (const auto& [set, end] : sets) {
        events::PathSpan& part = path.emplace_back();
        part.span.doing = events::Doing::ComputeSet;
        part.span.index = set;
        part.span.begin = begin;
        part.span.end = end;
        begin = end;
    }
    events::Release told{};
    told.path = path;
    told.cycle = begin;
    told.ends_program = ends_program;
    rounds.released(told);
}

using Kernels = std::vector<std::pair<std::string, Cycles>>;

} // namespace

TEST_CASE("a round has the cycles between its copy and the next, by whose they were") {
    const program::Program program = of_two_kernels();
    Rounds rounds(program, kCopy);
    rounds.copy_begun(begun(kCopy + 1, 5)); // another copy begins no round
    rounds.copy_begun(begun(kCopy, 10));
    release(rounds, 10, {{0, 14}, {1, 21}, {2, 24}, {0, 25}});
    rounds.copy_begun(begun(kCopy, 30));
    release(rounds, 30, {{1, 33}}, true);
    REQUIRE(rounds.rounds().size() == 2);
    CHECK(rounds.rounds()[0].begin == 10);
    CHECK(rounds.rounds()[0].cycles == 20);
    CHECK(rounds.rounds()[0].kernels == Kernels{{"a", 4 + 1}, {"b", 7}});
    CHECK(rounds.rounds()[1].cycles == 3);
    CHECK(rounds.rounds()[1].kernels == Kernels{{"b", 3}});
}

TEST_CASE("what was done before a copy began and is told behind it is of the round before") {
    const program::Program program = of_two_kernels();
    Rounds rounds(program, kCopy);
    release(rounds, 0, {{0, 8}}); // of no round
    rounds.copy_begun(begun(kCopy, 10));
    rounds.copy_begun(begun(kCopy, 20));
    release(rounds, 14, {{0, 20}, {1, 26}});
    release(rounds, 12, {{1, 23}});
    REQUIRE(rounds.rounds().size() == 2);
    CHECK(rounds.rounds()[0].kernels == Kernels{{"a", 6}, {"b", 8}});
    CHECK(rounds.rounds()[1].kernels == Kernels{{"b", 6 + 3}});
}
