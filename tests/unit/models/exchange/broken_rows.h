// SPDX-License-Identifier: MIT
// Rows that are right but for one thing, which a test changes.
#pragma once

#include "kernels/exchange_plan/exchange_planner.h"
#include "models/timing/exchange_latency.h"
#include "tests/unit/models/exchange/support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

namespace tessera::exchange_test {

using isa::ExchangeInstruction;
using isa::ExchangeOp;

inline const spec::MachineSpec kMachine;

/// 40 words from tile 736 to tile 100. Rows: {send, br} and {xpic 50, neutral 40, pointer 20, delay
/// 45, br}.
inline program::Exchange one_message() {
    return exchange_plan::plan_exchange(kMachine, "x",
                                        {transfer(736, 0x50000, 160, {{100, 0x60000}})});
}

/// 64 items from tile 0 to the pair {2, 3}; tile 1 lends its lane.
inline program::Exchange wide_message() {
    return exchange_plan::plan_exchange(
        kMachine, "x", {transfer(0, 0x50000, 512, {{2, 0x60000}, {3, 0x60000}}, true)});
}

using Edit = std::function<void(std::vector<ExchangeInstruction>&)>;

inline void edit(program::Exchange& exchange, TileId tile, const Edit& change) {
    auto& row = row_of(exchange, tile);
    auto instructions = instructions_of(row);
    change(instructions);
    rewrite(row, instructions);
}

/// Executes `exchange` with one row changed.
inline void run(program::Exchange exchange, TileId tile, const Edit& change) {
    edit(exchange, tile, change);
    (void)execute(kMachine, exchange);
}

inline void run_with(const spec::MachineSpec& machine, program::Exchange exchange) {
    (void)execute(machine, exchange);
}

/// Moves `events` events from instruction `from` to instruction `to` of a row.
inline Edit move_events(std::size_t from, std::size_t to, std::int64_t events) {
    return [=](auto& row) {
        row[from].count -= events;
        row[to].count += events;
    };
}

} // namespace tessera::exchange_test
