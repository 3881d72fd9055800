// SPDX-License-Identifier: MIT
#include "models/program/held_spans.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

using namespace tessera;
using program::Step;
using Kind = Step::Kind;

namespace {

constexpr std::int64_t kTiles = 10;
constexpr double kWork = 3; ///< tiles that take part in the compute set

Step leaf(Kind kind) {
    Step made;
    made.kind = kind;
    return made;
}
Step around(Kind kind, std::vector<Step> children, std::uint32_t count = 1) {
    Step made = leaf(kind);
    made.count = count;
    made.children = std::move(children);
    return made;
}

double held(Step control, double most_rounds = std::numeric_limits<double>::infinity()) {
    program::Program program;
    program::ComputeSet set;
    set.tiles.resize(kTiles);
    for (const std::size_t tile : {0U, 4U, 9U}) {
        set.tiles[tile].stub = 0x4c000;
    }
    program.compute_sets = {set};
    program.functions = {
        {"twice", around(Kind::Sequence, {leaf(Kind::ComputeSet), leaf(Kind::ComputeSet)})}};
    program.control = std::move(control);
    return program::most_held_spans(program, kTiles, most_rounds);
}

const Step kCompute = leaf(Kind::ComputeSet);
const Step kBarrier = leaf(Kind::Exchange);

} // namespace

TEST_CASE("what happens between two barriers is held at once", "[unit][program]") {
    CHECK(held(around(Kind::Sequence, {})) == 0);
    CHECK(held(around(Kind::Sequence, {kCompute, kCompute})) == 2 * kWork);
    CHECK(held(around(Kind::Sequence, {kCompute, kBarrier, kCompute, kCompute})) == 2 * kWork);
    CHECK(held(around(Kind::Sequence, {kCompute, kCompute, kBarrier, kCompute})) == 2 * kWork);
    CHECK(held(around(Kind::Sequence, {kCompute, kBarrier, kCompute, kCompute, kBarrier})) ==
          2 * kWork);
    CHECK(held(leaf(Kind::Call)) == 2 * kWork);
    for (const Kind barrier : {Kind::Exchange, Kind::Sync, Kind::StreamCopy, Kind::StreamStart,
                               Kind::StreamWait, Kind::If, Kind::While}) {
        CHECK(held(around(Kind::Sequence, {kCompute, leaf(barrier), kCompute})) == kWork);
    }
}

TEST_CASE("a loop without barriers holds all of its rounds", "[unit][program]") {
    const Step plain = around(Kind::Repeat, {kCompute}, 1'000);
    CHECK(held(plain) == 1'000 * (kTiles + kWork));
    CHECK(held(around(Kind::Repeat, {plain, kCompute}, 1'000'000)) ==
          1e6 * (kTiles + kWork + 1e3 * (kTiles + kWork)));
    // one with a barrier no more than from one round to the next
    CHECK(held(around(Kind::Repeat, {kCompute, kBarrier, kCompute, kCompute}, 1'000'000)) ==
          kTiles + 3 * kWork);
    CHECK(held(around(Kind::Repeat, {kCompute, kBarrier, kCompute, kCompute}, 1)) ==
          std::max(kTiles + kWork, 2 * kWork));
}

TEST_CASE("a loop of no rounds holds nothing and is no barrier", "[unit][program]") {
    const Step none = around(Kind::Repeat, {kCompute, kBarrier}, 0);
    CHECK(held(none) == 0);
    CHECK(held(around(Kind::Sequence, {kCompute, none, kCompute})) == 2 * kWork);
}

TEST_CASE("of a loop without barriers no more rounds are held than are not counted",
          "[unit][program]") {
    constexpr double kMost = 4;
    for (const std::uint32_t rounds : {1U, 3U, 4U, 5U, 1'000U}) {
        const double held_rounds = std::min<double>(rounds, kMost);
        const Step plain = around(Kind::Repeat, {kCompute}, rounds);
        CHECK(held(plain, kMost) == held_rounds * (kTiles + kWork));
        CHECK(held(around(Kind::Repeat, {plain}, rounds), kMost) ==
              held_rounds * (kTiles + held_rounds * (kTiles + kWork)));
        // with a barrier from one round to the next
        CHECK(held(around(Kind::Repeat, {plain, kBarrier}, rounds), kMost) ==
              kTiles + held_rounds * (kTiles + kWork));
    }
}
