// SPDX-License-Identifier: MIT
// An all-to-all of a whole chip, two million messages, reaches its bound.
#include "kernels/exchange_plan/exchange_planner.h"
#include "tests/support/exchange_patterns.h"
#include "tests/unit/models/exchange/support.h"

#include <catch2/catch.hpp>

using namespace tessera;
using namespace tessera::exchange_patterns;

TEST_CASE("an all-to-all of all tiles reaches its bound", "[exchange][bound]") {
    for (const std::int64_t tiles : {1470, 1472})
        for (const Bytes n : {4, 64}) {
            spec::MachineSpec machine;
            machine.chip.tiles = tiles;
            Layout layout{machine};
            all_to_all(layout, n, static_cast<TileId>(tiles));
            auto plan = exchange_plan::plan_exchange_with_stats(machine, "x", *layout.take());
            const auto outcome = exchange_test::execute(machine, plan.exchange);
            const auto bound = (tiles - 1) * n / 4;
            const auto cycles =
                *std::max_element(outcome.row_cycles.begin(), outcome.row_cycles.end());
            CAPTURE(tiles, n, cycles, bound);
            CHECK(plan.stats.bound.cycles() == bound);
            CHECK(cycles >= bound);
            CHECK(cycles <= std::max(bound + bound / 10, bound + 200));
        }
}
