// SPDX-License-Identifier: MIT
#include "models/timing/exchange_latency.h"

#include <cstdlib>

namespace tessera::timing {

Route route(const spec::ExchangeSpec& exchange, const TilePosition& from, const TilePosition& to) {
    // Columns are folded: 0..7 run out, 8..15 run back beside them.
    const int from_fold = from.column < 8 ? from.column : 15 - from.column;
    const int to_fold = to.column < 8 ? to.column : 15 - to.column;
    const int from_half = from.column / 8;
    const int to_half = to.column / 8;
    const int turn = from_half == to_half ? from.column % 8 + 1 : 16 - from.column % 8;
    // The other member of a pair, sub + 2, lies one further in from either side.
    const bool near = to_half == (to.sub & 1);
    const Cycles inner = to.sub >= 2 ? 1 : 0;
    const Cycles entry =
        near ? exchange.route_near_cycles + inner : exchange.route_far_cycles - inner;
    const int columns = to_fold - from_fold - (from_half ^ (from.sub & 1));
    const Cycles displacement = exchange.route_column_cycles * columns + entry;
    const Cycles latency = exchange.route_cycles + std::abs(displacement) +
                           exchange.route_fold_cycles * (from_fold - to_fold) +
                           exchange.route_step_cycles * (turn - to.column) +
                           exchange.route_half_cycles * from_half +
                           exchange.route_row_cycles * from.row;
    return {latency, displacement <= 0 ? 2U : 1U};
}

ExchangeTiming::ExchangeTiming(const spec::MachineSpec& machine)
    : grid_(machine), lane_(machine.exchange),
      mux_to_pointer_(machine.exchange.mux_to_pointer_cycles),
      mux_to_pointer_row_(machine.exchange.mux_to_pointer_row_cycles),
      row_(machine.exchange.route_row_cycles) {
    column_routes_.reserve(kTilesPerRow * kTilesPerRow);
    const auto in_row_0 = [](int id) {
        return TilePosition{static_cast<std::uint32_t>(id), 0, id / 4, id % 4};
    };
    for (int from = 0; from < kTilesPerRow; ++from) {
        for (int to = 0; to < kTilesPerRow; ++to) {
            const Route found = route(machine.exchange, in_row_0(from), in_row_0(to));
            column_routes_.push_back({static_cast<std::int16_t>(found.latency),
                                      static_cast<std::uint8_t>(found.direction)});
        }
    }
}

} // namespace tessera::timing
