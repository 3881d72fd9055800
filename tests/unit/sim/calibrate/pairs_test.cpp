// SPDX-License-Identifier: MIT
// Which tiles stand for the pairs that rows speak of.
#include "models/spec/load.h"
#include "models/timing/exchange_latency.h"
#include "tests/unit/base/config/scratch.h"
#include "tests/unit/sim/calibrate/support.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::calibrate;
using namespace tessera::test;
using nlohmann::json;

namespace {

/// A machine of a row with so many tiles.
struct Reduced {
    explicit Reduced(int count)
        : text("GC2 (" + std::to_string(count) + " tiles)"),
          timing(spec::load_machine("gc2", test::source_paths(),
                                    {"chip.tiles=" + std::to_string(count)})
                     .spec),
          tiles(static_cast<TileId>(count)) {}

    /// The first pair whose `cost` is least.
    template <class Cost> [[nodiscard]] std::pair<TileId, TileId> least(const Cost& cost) const {
        std::pair<TileId, TileId> pair{0, 1};
        std::optional<double> best;
        for (TileId from = 0; from < tiles; ++from) {
            for (TileId to = 0; to < tiles; ++to) {
                const std::optional<double> here =
                    from == to ? std::nullopt : std::optional<double>(cost(from, to));
                if (here && !std::isinf(*here) && (!best || *here < *best)) {
                    best = here;
                    pair = {from, to};
                }
            }
        }
        return pair;
    }
    [[nodiscard]] Measurement row(const std::string& workload) const {
        return measured(exchange_row(workload, "1", "4", "latency", "1", "cycles", text));
    }

    std::string text;
    timing::ExchangeTiming timing;
    TileId tiles;
};

std::pair<TileId, TileId> pair_of(const Run& run) {
    return {run.workload.at("source").get<TileId>(), run.workload.at("destination").get<TileId>()};
}

} // namespace

TEST_CASE("a word between two tiles is that of the first pair with the extreme time") {
    using Position = timing::TilePosition;
    const auto same_column = [](const Position& from, const Position& to) {
        return from.column == to.column;
    };
    const auto any = [](const Position&, const Position&) { return true; };
    // columns run out and back: the eighth is beside the ninth, the first beside the last
    const auto right_to_left = [](const Position& from, const Position& to) {
        return (from.column == 7 || from.column == 8) && (to.column == 0 || to.column == 15);
    };
    struct Case {
        const char* row;
        std::function<bool(const Position&, const Position&)> allowed;
        double sign; ///< -1: the most
    };
    const std::vector<Case> cases{{"within a column, minimum", same_column, 1},
                                  {"within a column, maximum", same_column, -1},
                                  {"across columns, maximum", any, -1},
                                  {"right-most columns to left-most", right_to_left, 1}};
    for (const int tiles : {72, 256}) {
        const Reduced machine(tiles);
        const auto& timing = machine.timing;
        for (const Case& one : cases) {
            CAPTURE(tiles, one.row);
            const auto expected = machine.least([&](TileId from, TileId to) {
                const auto word = std::max(timing.latency(from, to), timing.mux_to_pointer(to));
                return one.allowed(timing.grid().position(from), timing.grid().position(to))
                           ? one.sign * static_cast<double>(word)
                           : std::numeric_limits<double>::infinity();
            });
            const auto row = machine.row(
                std::string("tile-to-tile one word, device-timed, excludes sync: ") + one.row);
            CHECK(pair_of(row.runs.at(0)) == expected);
        }
    }
}

TEST_CASE("an ordinary pair's latency is next to the mean of all pairs") {
    for (const int tiles : {2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 72, 256}) {
        CAPTURE(tiles);
        const Reduced machine(tiles);
        double sum = 0;
        for (TileId from = 0; from < machine.tiles; ++from) {
            for (TileId to = 0; to < machine.tiles; ++to) {
                sum += from == to ? 0 : static_cast<double>(machine.timing.latency(from, to));
            }
        }
        const double mean = sum / (tiles * (tiles - 1));
        const auto expected = machine.least([&](TileId from, TileId to) {
            return std::abs(static_cast<double>(machine.timing.latency(from, to)) - mean);
        });
        CHECK(pair_of(machine.row("point-to-point, one word").runs.at(0)) == expected);
    }
}

TEST_CASE("a row of the grid adds the difference of the farthest and the nearest over the rows") {
    const std::string workload = "tile-to-tile one word, device-timed, excludes sync: per island";
    for (const int tiles : {64, 128, 192, 256, 1216}) {
        CAPTURE(tiles);
        const Reduced machine(tiles);
        const auto& grid = machine.timing.grid();
        const auto row = exchange_row(workload, "1", "4", "latency", "1", "cycles", machine.text);
        if (grid.rows() < 3) {
            CHECK(reason(row) == "the chip has fewer than three rows");
            continue;
        }
        const auto measurement = measured(row);
        REQUIRE(measurement.runs.size() == 2);
        CHECK(measurement.timed == "exchange without prologue");
        const auto home = grid.position(0);
        const std::vector<std::int64_t> rows{1, grid.rows() - 1};
        for (std::size_t i = 0; i < rows.size(); ++i) {
            const auto [from, to] = pair_of(measurement.runs[i]);
            CHECK(from == 0);
            CHECK(grid.position(to).row == rows[i]);
            CHECK(grid.position(to).column == home.column);
            CHECK(grid.position(to).sub == home.sub);
        }
        const auto steps = static_cast<double>(grid.rows() - 2);
        const double near = 100;
        for (const double more : {0.0, 1.0, 34.0, -34.0}) {
            CHECK(measurement.read({result_of(near, 1e9), result_of(near + more, 1e9)}) ==
                  Approx(std::abs(more) / steps));
        }
    }
}
