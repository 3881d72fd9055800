// SPDX-License-Identifier: MIT
// Each law at its edge: what just holds, and what just breaks it.
#include "base/error.h"
#include "models/listeners/account.h"
#include "models/listeners/laws.h"

#include <catch2/catch.hpp>

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using events::Doing;

namespace {

constexpr std::size_t kTiles = 2;

/// Laws of a run of two tiles that begins at cycle 0.
struct Scene {
    program::Program program = one_set();
    listeners::Account account{program, kTiles};
    listeners::Laws laws{program, account};

    static program::Program one_set() {
        program::Program made;
        made.compute_sets.resize(1);
        return made;
    }
    static events::Span span(Cycles begin, Cycles end) {
        return {.doing = Doing::ComputeSet, .index = 0, .step = 1, .begin = begin, .end = end};
    }
    /// What is wrong with these spans of a tile that comes to `end`.
    std::string segment(TileId tile, Cycles end, const std::vector<events::Span>& spans) {
        return fault([&] {
            laws.segment({.tile = tile, .begin = 0, .end = end, .spans = spans, .contexts = {}});
        });
    }
    struct Part {
        TileId tile;
        Cycles begin;
        Cycles end;
    };
    std::string release(Cycles last_arrival, TileId critical, const std::vector<Part>& parts,
                        Cycles cycle) {
        std::vector<events::PathSpan> path;
        for (const Part& part : parts) {
            path.push_back({part.tile, span(part.begin, part.end)});
        }
        return fault([&] {
            laws.released({.last_arrival = last_arrival,
                           .cycle = cycle,
                           .critical = critical,
                           .ends_program = false,
                           .steps_done = 1,
                           .path = path});
        });
    }
    template <class Does> static std::string fault(const Does& does) {
        try {
            does();
        } catch (const ProgramError& error) {
            return error.what();
        }
        return "";
    }
};

} // namespace

TEST_CASE("spans of a tile follow each other without a gap, and each lasts", "[listeners]") {
    const auto spans = [](std::initializer_list<std::pair<Cycles, Cycles>> all) {
        std::vector<events::Span> made;
        for (const auto& [begin, end] : all) {
            made.push_back(Scene::span(begin, end));
        }
        return made;
    };
    CHECK(Scene().segment(0, 10, spans({{0, 4}, {4, 10}})).empty());
    CHECK(Scene().segment(0, 0, {}).empty());
    CHECK(Scene().segment(1, 1, spans({{0, 1}})).empty());
    using Catch::Matchers::Contains;
    CHECK_THAT(
        Scene().segment(0, 10, spans({{0, 4}, {4, 4}, {4, 10}})),
        Contains("tile_0: got a span of cycles [4, 4), expected it to begin at 4 and to last"));
    CHECK_THAT(Scene().segment(0, 10, spans({{0, 4}, {5, 10}})), Contains("[5, 10)"));
    CHECK_THAT(Scene().segment(0, 10, spans({{0, 4}, {3, 10}})), Contains("[3, 10)"));
    CHECK_THAT(Scene().segment(1, 10, spans({{1, 10}})), Contains("tile_1"));
    CHECK_THAT(Scene().segment(0, 10, spans({{0, 9}})), Contains("got spans up to cycle 9"));
    CHECK_THAT(Scene().segment(0, 10, spans({{0, 11}})), Contains("got spans up to cycle 11"));
    CHECK_THAT(Scene().segment(0, 10, {}), Contains("got spans up to cycle 0, expected 10"));
}

TEST_CASE("the critical path goes from release to release and ends with the slowest tile",
          "[listeners]") {
    using Catch::Matchers::Contains;
    const auto two_tiles = [](Cycles first, Cycles second) {
        auto scene = std::make_unique<Scene>();
        CHECK(scene->segment(0, first, {Scene::span(0, first)}).empty());
        CHECK(scene->segment(1, second, {Scene::span(0, second)}).empty());
        return scene;
    };
    CHECK(two_tiles(10, 20)->release(20, 1, {{1, 0, 20}}, 25).empty());
    CHECK(two_tiles(10, 20)->release(20, 1, {{0, 0, 10}, {1, 10, 20}}, 25).empty());
    CHECK(two_tiles(20, 20)->release(20, 0, {{0, 0, 20}}, 20).empty());
    // of equals the lowest number is critical
    CHECK_THAT(two_tiles(20, 20)->release(20, 1, {{1, 0, 20}}, 20), Contains("critical path"));
    CHECK_THAT(two_tiles(10, 20)->release(20, 0, {{0, 0, 20}}, 20), Contains("critical path"));
    // gaps, overlaps, and ends before and behind the last arrival
    CHECK_THAT(two_tiles(10, 20)->release(20, 1, {{1, 1, 20}}, 20), Contains("from cycle 1"));
    CHECK_THAT(two_tiles(10, 20)->release(20, 1, {{0, 0, 10}, {1, 9, 20}}, 20),
               Contains("from cycle 9"));
    CHECK_THAT(two_tiles(10, 20)->release(20, 1, {{1, 0, 19}}, 20), Contains("up to cycle 19"));
    CHECK_THAT(two_tiles(10, 20)->release(20, 1, {{1, 0, 21}}, 25), Contains("up to cycle 21"));
    // path and last arrival agree, and a tile came later
    CHECK_THAT(two_tiles(10, 20)->release(19, 1, {{1, 0, 19}}, 20),
               Contains("up to cycle 19, expected 19, where tile_1 came last; tile_1 came at 20"));
    // the next path begins at the release
    auto scene = two_tiles(10, 20);
    CHECK(scene->release(20, 1, {{1, 0, 20}}, 25).empty());
    CHECK(scene->segment(0, 30, {Scene::span(25, 30)}).empty());
    CHECK_THAT(scene->release(30, 0, {{0, 20, 30}}, 30), Contains("expected 25"));
}

TEST_CASE("a tile's five kinds sum to the run, and it never idles less than nothing",
          "[listeners]") {
    const auto fault = [](Cycles cycles, const listeners::CyclesByKind& spent) {
        return Scene::fault([&] { listeners::check_cycles(cycles, std::array{spent}); });
    };
    listeners::CyclesByKind spent;
    spent.compute = 1;
    spent.exchange = 2;
    spent.sync = 3;
    spent.stream = 4;
    CHECK(fault(10, spent).empty());
    spent.idle = 5;
    CHECK(fault(15, spent).empty());
    CHECK_FALSE(fault(14, spent).empty());
    CHECK_FALSE(fault(16, spent).empty());
    spent.idle = -1;
    CHECK_FALSE(fault(9, spent).empty());
}

TEST_CASE("a tile without steps idles from one release to the next arrival", "[listeners]") {
    Scene scene;
    const auto step = [&](Cycles begin, Cycles end, Cycles release) {
        const std::vector<events::Span> spans{Scene::span(begin, end)};
        for (events::Listener* listener : {static_cast<events::Listener*>(&scene.account),
                                           static_cast<events::Listener*>(&scene.laws)}) {
            listener->segment(
                {.tile = 0, .begin = begin, .end = end, .spans = spans, .contexts = {}});
            const std::vector<events::PathSpan> path{{0, spans[0]}};
            listener->released({.last_arrival = end,
                                .cycle = release,
                                .critical = 0,
                                .ends_program = false,
                                .steps_done = 1,
                                .path = path});
        }
    };
    step(0, 10, 13);
    CHECK(scene.account.tiles()[1].idle == 10);
    CHECK(scene.account.tiles()[1].sync == 3);
    step(13, 20, 24);
    CHECK(scene.account.tiles()[1].idle == 10 + 7);
    CHECK(scene.account.tiles()[1].sync == 3 + 4);
    CHECK(scene.account.tiles()[0].idle == 0);
    CHECK_NOTHROW(scene.laws.check());
}
