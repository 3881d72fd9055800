// SPDX-License-Identifier: MIT
// docs/four_tiles.md: every number of that run follows from the rules and the machine's parameters.
#include "tests/system/four_tiles_paper.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

using namespace tessera;
using test::output_of;
using test::Overrides;
using test::Paper;
using test::TileSheet;

namespace {

void check_step(const nlohmann::json& step, const Paper& paper, Cycles TileSheet::*part) {
    const Cycles longest = paper.slowest(part);
    CHECK(step["cycles"] == paper.tiles.at(paper.critical()).*part);
    CHECK(step["slowest_cycles"] == longest);
    CHECK(step["active_tiles"] == 4);
    CHECK(step["executions"] == 1);
    CHECK(step["tile_cycles"]["max"] == longest);
    CHECK(step["tile_cycles"]["mean"].get<double>() == Approx(0.25 * double(paper.sum(part))));
    Cycles shortest = longest;
    for (const auto& tile : paper.tiles) {
        shortest = std::min(shortest, tile.*part);
    }
    CHECK(step["tile_cycles"]["min"] == shortest);
    CHECK(paper.tiles.at(step["slowest_tile"].get<std::size_t>()).*part == longest);
}

void check_exchange(const nlohmann::json& step, const Paper& paper) {
    check_step(step, paper, &TileSheet::exchange);
    CHECK(step["bound_cycles"] == paper.words());
    CHECK(step["sent_bytes"] == paper.transfer().bytes);
    const auto receivers = static_cast<std::int64_t>(paper.transfer().destinations.size());
    CHECK(step["bytes"] == receivers * paper.transfer().bytes);
    CHECK(step["words"] == receivers * paper.words());
}

void check_compute_set(const nlohmann::json& step, const Paper& paper) {
    check_step(step, paper, &TileSheet::compute);
    std::int64_t worker_issues = 0;
    std::int64_t supervisor_issues = 0;
    std::int64_t bound = 0;
    for (TileId tile = 0; tile < 4; ++tile) {
        worker_issues += paper.worker_issues(tile);
        supervisor_issues += paper.supervisor_issues(tile);
        bound = std::max(bound, paper.worker_issues(tile) + paper.supervisor_issues(tile));
        // and the worker with most of them takes a round for each but the last
        const spec::TileSpec& of = paper.machine.tile;
        const std::int64_t most = (paper.worker_issues(tile) + of.workers - 1) / of.workers;
        bound = std::max(bound, (most - 1) * std::max(of.workers, of.pipeline_cycles) + 1);
    }
    CHECK(step["worker_issues"] == worker_issues);
    CHECK(step["supervisor_instructions"] == supervisor_issues);
    CHECK(step["bound_cycles"] == bound);
}

void check_tiles(const nlohmann::json& result, const Paper& paper) {
    std::vector<Cycles> idle;
    for (TileId tile = 0; tile < 4; ++tile) {
        idle.push_back(paper.idle(tile));
    }
    const auto& said = result["tiles"]["idle_cycles"];
    CHECK(said["min"] == *std::min_element(idle.begin(), idle.end()));
    CHECK(said["max"] == *std::max_element(idle.begin(), idle.end()));
    const double idle_mean = 0.25 * double(std::accumulate(idle.begin(), idle.end(), Cycles{0}));
    CHECK(said["mean"].get<double>() == Approx(idle_mean));
    const auto& parts = result["explanation"];
    const TileSheet& last = paper.tiles.at(paper.critical());
    const double work =
        std::min(double(last.compute), 0.25 * double(paper.sum(&TileSheet::compute)));
    CHECK(parts["compute"]["cycles"].get<double>() == Approx(work));
    // every tile takes part in the compute set, so none is unused; an exchange's work is its bound
    const Cycles exchange = last.exchange;
    CHECK(parts["exchange"]["cycles"].get<double>() == Approx(double(paper.words())));
    CHECK(parts["exchange_overhead"]["cycles"].get<double>() ==
          Approx(double(exchange - paper.words())));
    CHECK(parts["unused_tiles"]["cycles"].get<double>() == Approx(0));
    CHECK(parts["uneven_splits"]["cycles"].get<double>() +
              parts["unequal_workers"]["cycles"].get<double>() ==
          Approx(double(last.compute) - work));
}

} // namespace

TEST_CASE("every cycle of the four-tile example follows from the parameters", "[cli][four_tiles]") {
    const std::vector<Overrides> variants{
        {},
        {"tile.pipeline_cycles=9"},
        {"tile.workers=3"},
        {"tile.workers=8"},
        {"exchange.mux_to_pointer_cycles=60", "exchange.row_tail_cycles=11"},
        {"exchange.row_return_cycles=9", "exchange.prologue_cycles=41"},
        {"sync.internal_cycles=200", "control.step_cycles=20"},
    };
    for (const auto& overrides : variants) {
        CAPTURE(overrides);
        const Paper paper(overrides);
        const auto result = nlohmann::json::parse(output_of(" --json - 2>/dev/null", overrides));
        REQUIRE(result["exchanges"].size() == 1);
        REQUIRE(result["compute_sets"].size() == 1);
        CHECK(result["check"]["passed"] == true);
        check_exchange(result["exchanges"][0], paper);
        check_compute_set(result["compute_sets"][0], paper);
        check_tiles(result, paper);
        const TileSheet& last = paper.tiles.at(paper.critical());
        CHECK(result["phases"]["exchange"] == last.exchange);
        CHECK(result["phases"]["compute"] == last.compute);
        CHECK(result["phases"]["sync"] == paper.machine.sync.internal_cycles);
        CHECK(result["phases"]["stream"] == 0);
        CHECK(result["cycles"] == paper.cycles());
    }
}
