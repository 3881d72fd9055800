// SPDX-License-Identifier: MIT
// Rows of double width that are right but for one thing: the fabric finds each.
#include "base/error.h"
#include "kernels/exchange_plan/exchange_planner.h"
#include "kernels/exchange_plan/exchange_rows.h"
#include "models/timing/exchange_latency.h"
#include "tests/unit/models/exchange/broken_rows.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::exchange_test;
using Catch::Contains;

TEST_CASE("a wide row with a wrong format or pointer is found", "[exchange][broken]") {
    // Row of tile 3: format 54, pointer 56, format off 118, delay, br.
    CHECK_THROWS_WITH(run(wide_message(), 3, move_events(1, 0, 1)),
                      Contains("format is 0 where items of format 1 arrive"));
    CHECK_THROWS_WITH(run(wide_message(), 3, move_events(2, 3, 1)), Contains("format becomes 0"));
    CHECK_THROWS_WITH(run(wide_message(), 3, [](auto& row) { row[0].pointer->value = 2; }),
                      Contains("format is 2 where items of format 1 arrive from tile 0"));
    CHECK_THROWS_WITH(
        run(wide_message(), 3, [](auto& row) { row[2] = {.op = ExchangeOp::Delay, .count = 62}; }),
        Contains("format 1 is left at the end of the row"));
    CHECK_THROWS_WITH(run(wide_message(), 3, [](auto& row) { row[1].pointer->value += 1; }),
                      Contains("receive pointer 0x60004 is misaligned (8 bytes)"));
    CHECK_THROWS_WITH(
        run(wide_message(), 3, [](auto& row) { row[1] = {.op = ExchangeOp::Delay, .count = 2}; }),
        Contains("before the pointer is set"));
}

TEST_CASE("a wide row with a wrong mux is found", "[exchange][broken]") {
    CHECK_THROWS_WITH(run(wide_message(), 2, [](auto& row) { row[0].mux->paired = false; }),
                      Contains("left on source"));
    CHECK_THROWS_WITH(run(wide_message(), 2,
                          [](auto& row) {
                              row[0].mux->paired = false;
                              row[3].mux->paired = false;
                          }),
                      Contains("the mux selects a message of 8-byte items from tile 0"));
    CHECK_THROWS_WITH(run(wide_message(), 2, [](auto& row) { row[0].mux->source = 2; }),
                      Contains("no word of tile 1 passes"));
    CHECK_THROWS_WITH(run(wide_message(), 2, move_events(3, 4, 1)),
                      Contains("64-bit receive of 63 items, expected at least 64"));
    // The late member may not carry the source.
    CHECK_THROWS_WITH(run(wide_message(), 3,
                          [](auto& row) {
                              row[0].count -= 1;
                              row[1].count += 1;
                              row.insert(row.begin(), {.op = ExchangeOp::DelayXpic,
                                                       .mux = isa::MuxControl{true, 2}});
                              row.insert(row.begin() + 1, {.op = ExchangeOp::DelayXpic,
                                                           .count = 10,
                                                           .mux = isa::MuxControl{true, 0x640}});
                              row[2].count -= 10;
                          }),
                      Contains("is set in the late member of the pair, expected in tile 2"));
}

TEST_CASE("a paired mux that selects words is found", "[exchange][broken]") {
    CHECK_THROWS_WITH(run(wide_message(), 0,
                          [](auto& row) {
                              row[1].ctl = 1;
                              row[1].address *= 2;
                          }),
                      Contains("the paired mux selects a message of 4-byte items from tile 0"));
}

TEST_CASE("a borrowed lane that sends is found", "[exchange][broken]") {
    const ExchangeInstruction send{.op = ExchangeOp::Send, .address = 0x14000, .ctl = 1};
    CHECK_THROWS_WITH(run(wide_message(), 1,
                          [&](auto& row) {
                              row[0].count -= 1;
                              row.insert(row.begin(), send);
                          }),
                      Contains("tile 1 event 1: sends while its lane is borrowed by tile 0 up to "
                               "event 95"));
    CHECK_NOTHROW(run(wide_message(), 1, [&](auto& row) { row.insert(row.begin() + 1, send); }));
    auto exchange = wide_message();
    exchange.rows.erase(exchange.rows.begin() + 1);
    CHECK_THROWS_WITH(run_with(kMachine, exchange),
                      Contains("64-bit send by a tile whose partner has no row"));
    exchange = wide_message();
    exchange.rows.pop_back();
    CHECK_THROWS_WITH(run_with(kMachine, exchange),
                      Contains("64-bit receive by a tile whose partner has no row"));
}

TEST_CASE("double width on a machine without it is found", "[exchange][broken]") {
    auto off = kMachine;
    off.exchange.pair_double = false;
    CHECK_THROWS_WITH(run_with(off, wide_message()),
                      Contains("64-bit receive, but exchange.pair_double is off"));
    auto exchange = wide_message();
    exchange.rows.resize(2); // the senders alone
    CHECK_THROWS_WITH(run_with(off, exchange),
                      Contains("64-bit send, but exchange.pair_double is off"));
}

TEST_CASE("a pair that mixes widths without neutral between is found", "[exchange][broken]") {
    const auto plain = [](Cycles event, std::uint32_t source, Cycles rest) {
        return [=](auto& row) {
            row[0].count -= event;
            row.insert(row.begin(), {.op = ExchangeOp::DelayXpic,
                                     .count = event,
                                     .mux = isa::MuxControl{false, source}});
            if (rest > 0) {
                row[1].count -= rest;
                row.insert(row.begin() + 1, {.op = ExchangeOp::DelayXpic,
                                             .count = rest,
                                             .mux = isa::MuxControl{false, 0x640}});
            }
        };
    };
    CHECK_THROWS_WITH(
        run(wide_message(), 3, plain(20, 0x640, 0)),
        Contains("the mux is written while the pair of tile 2 receives 64-bit items"));
}

TEST_CASE("wide receives that meet in one pair are found", "[exchange][broken]") {
    CHECK_THROWS_WITH(run(wide_message(), 2, [](auto& row) { row[0].mux->source = 66; }),
                      Contains("64-bit receive from tile 3 in the same pair"));

    // Tile 3 takes 600 words while tile 2 sets the paired mux for both.
    auto exchange = wide_message();
    for (const TileId tile : {0U, 1U, 2U})
        edit(exchange, tile,
             [](auto& row) { row.insert(row.begin(), {.op = ExchangeOp::Delay, .count = 200}); });
    auto words =
        exchange_plan::plan_exchange(kMachine, "x", {transfer(736, 0x80000, 2400, {{3, 0x60000}})});
    row_of(exchange, 3).words = row_of(words, 3).words;
    exchange.rows.push_back(row_of(words, 736));
    CHECK_THROWS_WITH(run_with(kMachine, exchange),
                      Contains("the pair begins a 64-bit receive while a mux is not neutral"));

    // From the other direction tile 3 is the early member: both would set a paired mux at once.
    const timing::ExchangeTiming timing{kMachine};
    TileId other = 4;
    while (timing.mux_offset(other, 3) > timing.mux_offset(other, 2))
        other += 2;
    exchange = wide_message();
    auto opposite = exchange_plan::plan_exchange(
        kMachine, "x", {transfer(other, 0x50000, 512, {{2, 0x60000}, {3, 0x60000}}, true)});
    row_of(exchange, 3).words = row_of(opposite, 3).words;
    exchange.rows.push_back(row_of(opposite, other));
    exchange.rows.push_back(row_of(opposite, other + 1));
    CHECK_THROWS_WITH(run_with(kMachine, exchange),
                      Contains("64-bit receive begins before that of tile"));
}

TEST_CASE("a wide sender or its partner may receive meanwhile", "[exchange]") {
    // Pins the reading double-width-sender of docs/deviations.md.
    const auto wide = transfer(0, 0x50000, 4096, {{2, 0x60000}, {3, 0x60000}}, true);
    for (const TileId member : {0U, 1U}) {
        // The short message as it is planned alone, put under the wide one.
        const auto to_member = transfer(736, 0x50000, 40, {{member, 0x60000}});
        auto alone = exchange_plan::plan_exchange(kMachine, "x", {to_member});
        std::vector<exchange_plan::RowControl> controls;
        Cycles event = 0;
        for (const auto& in : instructions_of(row_of(alone, member))) {
            event += in.count;
            if (in.mux || in.pointer)
                controls.push_back({event, in.mux, in.pointer});
        }
        std::vector<exchange_plan::RowSend> sends;
        if (member == 0)
            sends.push_back({31, 512, 0x50000 / 8, 5});
        auto exchange = exchange_plan::plan_exchange(kMachine, "x", {wide});
        row_of(exchange, member).words = exchange_plan::row_words(
            exchange_plan::row_instructions(kMachine, sends, controls, 31 + 512));
        exchange.rows.push_back(row_of(alone, 736));
        exchange.transfers.push_back(to_member);
        CHECK_NOTHROW(run_with(kMachine, exchange));
    }
}
