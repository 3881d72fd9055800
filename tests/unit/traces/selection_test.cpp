// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "traces/coverage.h"
#include "traces/selection.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::traces;

namespace {

constexpr TileId kTiles = 1472;

std::vector<TileId> tiles_of(const std::string& text, TileId machine_tiles = kTiles) {
    return parse_selection(text, "tile", machine_tiles).traced_tiles();
}

std::string error_of(const std::string& tiles, const std::string& level = "tile") {
    try {
        static_cast<void>(parse_selection(tiles, level, kTiles));
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "no error";
}

} // namespace

TEST_CASE("tiles are given as numbers and ranges and all", "[unit][traces]") {
    CHECK(tiles_of("0-3,700") == std::vector<TileId>{0, 1, 2, 3, 700});
    CHECK(tiles_of("700,2-3,3,2") == std::vector<TileId>{2, 3, 700});
    CHECK(tiles_of("1471") == std::vector<TileId>{kTiles - 1});
    CHECK(tiles_of("5-5") == std::vector<TileId>{5});
    CHECK(tiles_of("all").size() == kTiles);
}

TEST_CASE("without tiles a trace shows some that are spread over the machine", "[unit][traces]") {
    const auto tiles = tiles_of("");
    CHECK(tiles.size() == kDefaultTracedTiles);
    CHECK(tiles.front() == 0);
    CHECK(tiles.back() == kTiles - 1);
    CHECK(tiles_of("", 1) == std::vector<TileId>{0});
    CHECK(tiles_of("", 2) == std::vector<TileId>{0, 1});
    CHECK(tiles_of("", kDefaultTracedTiles).size() == kDefaultTracedTiles);
    for (std::size_t i = 1; i < tiles.size(); ++i) { // evenly
        const auto even = static_cast<double>(kTiles - 1) / (kDefaultTracedTiles - 1);
        CHECK(std::abs(static_cast<double>(tiles[i] - tiles[i - 1]) - even) < 1);
    }
}

TEST_CASE("a level is given by its word and is worker by default", "[unit][traces]") {
    CHECK(parse_selection("", "machine", kTiles).level == Level::Machine);
    CHECK(parse_selection("", "worker", kTiles).level == Level::Worker);
    CHECK(parse_selection("", "", kTiles).level == Level::Worker);
    CHECK(parse_selection("all", "machine", kTiles).traced_tiles().empty());
}

TEST_CASE("a sink wants the levels and tiles that are selected", "[unit][traces]") {
    const CoverageSink tile_level{parse_selection("3", "tile", kTiles)};
    CHECK(tile_level.wants(machine_track()));
    CHECK(tile_level.wants(tile_track(3)));
    CHECK_FALSE(tile_level.wants(tile_track(4)));
    CHECK_FALSE(tile_level.wants(tile_track(kTiles)));
    CHECK_FALSE(tile_level.wants(worker_track(3, 0)));
    const CoverageSink worker_level{parse_selection("3", "worker", kTiles)};
    CHECK(worker_level.wants(worker_track(3, 0)));
    CHECK_FALSE(worker_level.wants(supervisor_track(4)));
    const CoverageSink machine_level{parse_selection("3", "machine", kTiles)};
    CHECK_FALSE(machine_level.wants(tile_track(3)));
}

TEST_CASE("a tile outside the machine is named with the range", "[unit][traces]") {
    CHECK(error_of("1472") == "--trace-tiles: got tile 1472 in '1472', expected 0..1471 tiles");
    CHECK(error_of("0-5000") == "--trace-tiles: got tile 5000 in '0-5000', expected 0..1471 tiles");
    CHECK(error_of("1471-1472") ==
          "--trace-tiles: got tile 1472 in '1471-1472', expected 0..1471 tiles");
    CHECK(error_of("1472-1473") ==
          "--trace-tiles: got tile 1472 in '1472-1473', expected 0..1471 tiles");
    CHECK(error_of("2000-5000") ==
          "--trace-tiles: got tile 2000 in '2000-5000', expected 0..1471 tiles");
}

TEST_CASE("text that is no tile is named with an example", "[unit][traces]") {
    const std::string hint = "; give tiles as in '0-15,700', or 'all'";
    for (const std::string text :
         {"x", "1-", "-1", "1-2-3", "0x10", " 1", "99999999999999999999", "1.5"}) {
        CHECK(error_of(text) ==
              "--trace-tiles: got '" + text + "', expected a tile number or a range" + hint);
    }
    CHECK(error_of("1,") == "--trace-tiles: got '', expected a tile number or a range" + hint);
}

TEST_CASE("a range from high to low is turned round in the hint", "[unit][traces]") {
    CHECK(error_of("15-0") == "--trace-tiles: got '15-0', expected a range from the lower tile to "
                              "the higher; did you mean '0-15'?");
}

TEST_CASE("all mistakes of a selection are reported at once", "[unit][traces]") {
    const auto text = error_of("x,1472,5-4", "thread");
    CHECK(text.find("--trace-level: got 'thread', expected machine, tile or worker") == 0);
    CHECK(text.find("got 'x'") != std::string::npos);
    CHECK(text.find("got tile 1472") != std::string::npos);
    CHECK(text.find("did you mean '4-5'?") != std::string::npos);
}

TEST_CASE("the estimate of slices counts phases and tiles and vertices", "[unit][traces]") {
    const RunShape shape{.phases = 30, .vertices_per_tile = 60};
    const auto slices = [&](const char* tiles, const char* level) {
        return estimated_slices(parse_selection(tiles, level, kTiles), shape);
    };
    CHECK(slices("0-9", "machine") == 30);
    CHECK(slices("0-9", "tile") == 30 + 10 * 2 * 30);
    CHECK(slices("0-9", "worker") == 30 + 10 * (2 * 30 + 2 * 60));
}

TEST_CASE("the tiles of a trace are evenly spread", "[unit][traces]") {
    constexpr TileId kSteps = kDefaultTracedTiles - 1;
    for (const TileId stride : {1U, 2U, 7U, 98U}) {
        std::vector<TileId> expected;
        for (TileId i = 0; i <= kSteps; ++i) {
            expected.push_back(i * stride);
        }
        CHECK(tiles_of("", kSteps * stride + 1) == expected);
    }
    CHECK(tiles_of("", kDefaultTracedTiles - 1).size() == kDefaultTracedTiles - 1);
}

TEST_CASE("the last tile of a machine is the last that can be selected", "[unit][traces]") {
    CHECK(tiles_of("3-3", 4) == std::vector<TileId>{3});
    CHECK(tiles_of("0-3", 4).size() == 4);
    CHECK_THROWS_AS(tiles_of("4", 4), ConfigError);
    CHECK_THROWS_AS(tiles_of("0-4", 4), ConfigError);
}
