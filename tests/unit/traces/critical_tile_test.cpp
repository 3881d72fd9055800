// SPDX-License-Identifier: MIT
// The tile that is critical longest is in a trace that selects others.
#include "tests/support/recording_sink.h"
#include "traces/critical_tile.h"

#include <catch2/catch.hpp>

#include <string_view>
#include <vector>

using namespace tessera;
using namespace tessera::traces;

namespace {

constexpr TileId kTiles = 4;

Selection only_tile_0(std::string_view level = "worker") {
    return parse_selection("0", level, kTiles);
}

/// Of each tile a span and one of a worker; `critical` is so for `cycles` of them.
void phase(CriticalTile& trace, Cycles begin, Cycles cycles, TileId critical) {
    for (TileId tile = 0; tile < kTiles; ++tile) {
        const Cycles end = begin + cycles;
        trace.span({.track = tile_track(tile), .begin = begin, .end = end, .args = {}});
        trace.span(
            {.track = worker_track(tile, 3), .name = 7, .begin = begin, .end = end, .args = {}});
    }
    trace.span({.track = machine_track(), .begin = begin, .end = begin + cycles, .args = {}});
    trace.span({.track = slowest_track(),
                .begin = begin,
                .end = begin + cycles,
                .args = {{{ArgKey::Step, 1}, {ArgKey::Tile, critical}}}});
}

} // namespace

TEST_CASE("the tile that is critical longest follows the selected ones", "[unit][traces]") {
    test::RecordingSink all(std::vector<bool>(kTiles, true));
    CriticalTile trace(all, only_tile_0());
    phase(trace, 0, 10, 3);
    phase(trace, 10, 30, 2);
    phase(trace, 40, 19, 3); // 29 cycles in all, tile 2 has 30
    CHECK(all.of(tile_track(0), Kind::Compute).size() == 3);
    CHECK(all.of(tile_track(2), Kind::Compute).empty());
    CHECK(trace.finish() == std::nullopt);
    const test::Events expected{{0, 10}, {10, 40}, {40, 59}};
    CHECK(all.of(tile_track(2), Kind::Compute) == expected);
    CHECK(all.of(worker_track(2, 3), Kind::Compute) == expected);
    CHECK(all.spans.back().name == 7);
    CHECK(all.of(tile_track(1), Kind::Compute).empty());
    CHECK(all.of(tile_track(3), Kind::Compute).empty());
    CHECK(all.of(machine_track(), Kind::Compute) == expected);
}

TEST_CASE("a critical tile that is selected is shown once, and the lowest of equals",
          "[unit][traces]") {
    test::RecordingSink all(std::vector<bool>(kTiles, true));
    CriticalTile trace(all, only_tile_0());
    phase(trace, 0, 10, 1);
    phase(trace, 10, 10, 0);
    CHECK(trace.finish() == std::nullopt);
    CHECK(all.of(tile_track(0), Kind::Compute).size() == 2);
    CHECK(all.of(tile_track(1), Kind::Compute).empty());
}

TEST_CASE("each chip has a critical tile of its own", "[unit][traces]") {
    test::RecordingSink all(std::vector<bool>(kTiles, true));
    CriticalTile trace(all, only_tile_0(), kMostKeptSpans, 3);
    const auto critical = [&](std::uint32_t chip, TileId which) {
        for (TileId tile = 0; tile < kTiles; ++tile) {
            trace.span({.track = tile_track(tile).of_chip(chip), .end = 10, .args = {}});
        }
        trace.span(
            {.track = slowest_track().of_chip(chip), .end = 10, .args = {{{ArgKey::Tile, which}}}});
    };
    critical(0, 3);
    critical(1, 0); // shown as it is
    critical(2, 1);
    CHECK(trace.finish() == std::nullopt);
    for (std::uint32_t chip = 0; chip < 3; ++chip) {
        for (TileId tile = 0; tile < kTiles; ++tile) {
            CAPTURE(chip, tile);
            const bool shown = tile == 0 || (chip == 0 && tile == 3) || (chip == 2 && tile == 1);
            CHECK(all.of(tile_track(tile).of_chip(chip), Kind::Compute).size() == (shown ? 1 : 0));
        }
    }
}

TEST_CASE("a run in which no tile is critical adds none", "[unit][traces]") {
    test::RecordingSink all(std::vector<bool>(kTiles, true));
    CriticalTile trace(all, only_tile_0());
    CHECK(trace.finish() == std::nullopt);
    CHECK(all.spans.empty());
}

TEST_CASE("of too many spans those of the least critical tiles are dropped", "[unit][traces]") {
    for (const std::size_t most : {6U, 11U, 12U}) {
        test::RecordingSink all(std::vector<bool>(kTiles, true));
        CriticalTile trace(all, only_tile_0(), most);
        phase(trace, 0, 10, 2); // 6 spans are kept
        phase(trace, 10, 20, 3);
        CAPTURE(most);
        // with 6 and 11, only one of tiles 1 to 3 was kept when more came: the one critical until then
        CHECK(trace.finish() == (most == 12 ? std::nullopt : std::optional<TileId>{3}));
        CHECK(all.of(tile_track(3), Kind::Compute).size() == (most == 12 ? 2 : 0));
    }
    for (const TileId second : {1U, 3U}) { // of three tiles one is kept, whichever is second
        test::RecordingSink all(std::vector<bool>(kTiles, true));
        CriticalTile trace(all, only_tile_0(), 6);
        phase(trace, 0, 10, 2);
        phase(trace, 10, 20, second);
        CHECK(trace.finish() == second);
    }
    test::RecordingSink all(std::vector<bool>(kTiles, true));
    CriticalTile trace(all, only_tile_0(), 6);
    phase(trace, 0, 10, 2);
    phase(trace, 10, 20, 2);
    CHECK(trace.finish() == std::nullopt);
    CHECK(all.of(tile_track(2), Kind::Compute).size() == 2);
}

TEST_CASE("nothing is added to a trace that was cut, or shows no tiles", "[unit][traces]") {
    test::RecordingSink cut(std::vector<bool>(kTiles, false)); // wants no tile any more
    CriticalTile trace(cut, only_tile_0());
    phase(trace, 0, 10, 2);
    CHECK(trace.finish() == std::nullopt);
    CHECK(cut.of(tile_track(2), Kind::Compute).empty());
    CHECK_FALSE(trace.wants(tile_track(0)));
    CHECK(trace.wants(machine_track()));
}

TEST_CASE("only where tiles are not named, the critical one is added", "[unit][traces]") {
    CHECK(parse_selection("", "worker", kTiles).with_critical);
    CHECK(parse_selection("", "tile", kTiles).with_critical);
    CHECK_FALSE(parse_selection("", "machine", kTiles).with_critical);
    CHECK_FALSE(parse_selection("0", "worker", kTiles).with_critical);
    CHECK_FALSE(parse_selection("all", "worker", kTiles).with_critical);
}
