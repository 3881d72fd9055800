// SPDX-License-Identifier: MIT
// Timing mode counts repeats whose rounds have no barrier, and whose copies stop all tiles or none.
#include "models/ipu/core/counted_repeats.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <utility>
#include <vector>

using namespace tessera;
using program::Step;
using Kind = Step::Kind;

namespace {

Step leaf(Kind kind, std::uint32_t index = 0) {
    Step made;
    made.kind = kind;
    made.index = index;
    return made;
}
Step work(std::uint32_t set) {
    return leaf(Kind::ComputeSet, set);
}
Step copy(std::uint32_t number) {
    return leaf(Kind::StreamCopy, number);
}
Step around(Kind kind, std::vector<Step> steps) {
    Step made = leaf(kind);
    made.count = 3;
    made.children = std::move(steps);
    return made;
}
Step repeat(std::vector<Step> steps) {
    return around(Kind::Repeat, std::move(steps));
}

enum class Found { Nothing, Lone, ByCopy, Uneven };

struct Outcome {
    Found found = Found::Nothing;
    std::uint32_t copy = 0;
    bool operator==(const Outcome&) const = default;
};

/// Copy 0 is for tiles 0 to 2, copy 1 for 1 and 2, copy 2 for 1. Compute set 0 is on tile 1, set 1 on tiles
/// 1 and 2, set 2 on tile 3. Function 0 is copy 1, function 1 an exchange.
program::Program program_of(std::vector<Step> steps) {
    program::Program program;
    for (const std::vector<TileId>& busy : {std::vector<TileId>{1}, {1, 2}, {3}}) {
        auto& tiles = program.compute_sets.emplace_back().tiles;
        tiles.resize(4);
        for (const TileId tile : busy) {
            tiles[tile].stub = 0x50000;
        }
    }
    program.functions.push_back({"copy", copy(1)});
    program.functions.push_back({"exchange", leaf(Kind::Exchange)});
    program.control = around(Kind::Sequence, std::move(steps));
    return program;
}
const std::vector<std::vector<TileId>> kTilesOfCopy{{0, 1, 2}, {1, 2}, {1}};

/// Returns the repeats that are found in the first step of the program.
Outcome outcome(std::vector<Step> steps) {
    const program::Program program = program_of(std::move(steps));
    const auto found = ipu::find_counted_repeats(program, kTilesOfCopy);
    const Step* const first = &program.control.children.front();
    const auto by_copy = found.by_copy.find(first);
    CHECK(found.lone.count(first) + (by_copy != found.by_copy.end() ? 1 : 0) <= 1);
    if (found.uneven.contains(first)) {
        CHECK_FALSE(found.lone.contains(first));
        CHECK(by_copy == found.by_copy.end());
        return {Found::Uneven};
    }
    return found.lone.contains(first)       ? Outcome{Found::Lone}
           : by_copy != found.by_copy.end() ? Outcome{Found::ByCopy, by_copy->second}
                                            : Outcome{};
}
Outcome of_round(std::vector<Step> steps) {
    return outcome({repeat(std::move(steps))});
}
Outcome by(std::uint32_t number) {
    return {Found::ByCopy, number};
}
const Outcome kNothing{};
const Outcome kLone{Found::Lone};

} // namespace

TEST_CASE("nothing stops a tile in rounds of compute sets", "[unit][ipu]") {
    CHECK(of_round({work(0)}) == kLone);
    CHECK(of_round({work(0), work(2)}) == kLone);
    CHECK(of_round({repeat({work(1)}), around(Kind::Sequence, {work(0)})}) == kLone);
    CHECK(of_round({}) == kLone);
    CHECK(outcome({work(0)}) == kNothing); // no repeat
    for (const Kind kind : {Kind::Exchange, Kind::Sync, Kind::LinkExchange, Kind::While, Kind::If,
                            Kind::StreamStart, Kind::StreamWait}) {
        CAPTURE(static_cast<int>(kind));
        CHECK(of_round({work(0), leaf(kind)}) == kNothing);
        CHECK(of_round({work(0), repeat({leaf(kind)})}) == kNothing);
        CHECK(of_round({work(0), around(Kind::Sequence, {leaf(kind)})}) == kNothing);
    }
    CHECK(of_round({work(0), leaf(Kind::Call, 1)}) == kNothing);
}

TEST_CASE("all tiles of a round wait for the first copy that has them all and comes once",
          "[unit][ipu]") {
    CHECK(of_round({copy(2), work(0)}) == by(2));
    CHECK(of_round({work(1), copy(1)}) == by(1));
    CHECK(of_round({work(1), copy(2)}) == kNothing); // tile 2 waits for nothing
    CHECK(of_round({work(2), copy(0)}) == kNothing); // nor does tile 3
    CHECK(of_round({copy(2), copy(1), copy(0)}) == by(0));
    CHECK(of_round({copy(2), copy(1)}) == by(1));
    CHECK(of_round({copy(1), copy(0)}) == by(0)); // tile 0 is in the other copy alone
    CHECK(of_round({copy(0), copy(1)}) == by(0));
    // a copy that comes twice says not which of its ends is meant
    CHECK(of_round({copy(1), work(1), copy(1)}) == kNothing);
    CHECK(of_round({copy(0), copy(1), copy(0)}) == kNothing);
    CHECK(of_round({copy(1), copy(0), copy(1)}) == by(0));
}

TEST_CASE("copies of a round are its own, and of known rows", "[unit][ipu]") {
    CHECK(of_round({around(Kind::Sequence, {copy(1)}), work(1)}) == by(1));
    CHECK(of_round({leaf(Kind::Call, 0), work(1)}) == by(1));
    CHECK(of_round({repeat({copy(1)}), work(1)}) == kNothing);
    CHECK(of_round({repeat({work(1)}), copy(1)}) == by(1));
    CHECK(of_round({copy(0), repeat({copy(1)})}) == kNothing);
    CHECK(of_round({repeat({leaf(Kind::Call, 0)}), work(1)}) == kNothing);
    Step named = copy(1);
    named.value.emplace(); // a word says the row
    CHECK(of_round({named, work(1)}) == kNothing);
    CHECK(of_round({copy(0), named}) == kNothing);
    CHECK(of_round({copy(1), leaf(Kind::Exchange)}) == kNothing);
    // the repeat inside is found by itself
    const program::Program program = program_of({repeat({leaf(Kind::Sync), repeat({copy(1)})})});
    const auto found = ipu::find_counted_repeats(program, kTilesOfCopy);
    const Step& outer = program.control.children.front();
    CHECK(found.by_copy.count(&outer) == 0);
    CHECK(found.by_copy.at(&outer.children.back()) == 1);
}

TEST_CASE("rounds with steps for some of them are not counted", "[unit][ipu]") {
    Step some = work(0);
    some.only.emplace();
    CHECK(of_round({some}) == Outcome{Found::Uneven});
    CHECK(of_round({work(0), around(Kind::Sequence, {some})}) == Outcome{Found::Uneven});
    CHECK(of_round({copy(1), repeat({some})}) == Outcome{Found::Uneven});
    CHECK(outcome({repeat({work(0)}), repeat({some})}) == kLone); // the other repeat's
}

TEST_CASE("repeats of functions are found as well", "[unit][ipu]") {
    program::Program program = program_of({work(0)});
    program.functions.push_back({"rounds", repeat({copy(0), work(1)})});
    const auto found = ipu::find_counted_repeats(program, kTilesOfCopy);
    CHECK(found.by_copy.at(&program.functions.back().body) == 0);
}
