// SPDX-License-Identifier: MIT
// Lanes of more than a word a cycle: what a row counts, how long it lasts, and what stays a cycle.
#include "base/error.h"
#include "kernels/exchange_plan/exchange_planner.h"
#include "models/exchange/core/demand.h"
#include "models/timing/exchange_latency.h"
#include "tests/support/exchange_patterns.h"
#include "tests/unit/models/exchange/support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

using namespace tessera;
using namespace tessera::exchange_test;
using Catch::Contains;
using isa::ExchangeInstruction;
using isa::ExchangeOp;
using Lines = std::vector<std::string>;

namespace {

spec::MachineSpec with_lanes(Bytes lane_bytes) {
    spec::MachineSpec machine;
    machine.exchange.lane_bytes = lane_bytes;
    return machine;
}

/// `words` words from tile 736 to tile 100.
program::Exchange message(const spec::MachineSpec& machine, Bytes words) {
    return exchange_plan::plan_exchange(machine, "x",
                                        {transfer(736, 0x80000, 4 * words, {{100, 0xb0000}})});
}

Cycles row_cycles_of(const exchange::FabricOutcome& outcome, TileId tile) {
    const auto at = std::find(outcome.tiles.begin(), outcome.tiles.end(), tile);
    REQUIRE(at != outcome.tiles.end());
    return outcome.row_cycles[static_cast<std::size_t>(at - outcome.tiles.begin())];
}

} // namespace

TEST_CASE("a lane moves its width of words an event and an odd tail takes one",
          "[exchange][lanes]") {
    for (const Bytes lane_bytes : {4, 8, 16}) {
        const auto machine = with_lanes(lane_bytes);
        const auto& exchange = machine.exchange;
        const timing::ExchangeTiming timing{machine};
        for (const Bytes words : {1, 2, 3, 4, 5, 39, 40, 41, 62, 63, 64, 65, 66, 4163}) {
            CAPTURE(lane_bytes, words);
            auto planned = message(machine, words);
            const auto outcome = execute(machine, planned);
            const Cycles events = (4 * words + lane_bytes - 1) / lane_bytes;
            CHECK(row_cycles_of(outcome, 736) == events + exchange.row_return_cycles);
            CHECK(row_cycles_of(outcome, 100) == timing.latency(736, 100) + events +
                                                     exchange.row_tail_cycles +
                                                     exchange.row_return_cycles);
            CHECK(outcome.words_sent == words);
            CHECK(outcome.words_received == words);
            CHECK(timing::exchange_bound(machine, planned.transfers).cycles() == events);
            CHECK(exchange::demand_of(machine, planned).bound() == events);
        }
    }
}

TEST_CASE("rows count words and last events", "[exchange][lanes]") {
    // docs/models/exchange.md#lanes
    auto planned = message(with_lanes(8), 41);
    CHECK(listing(row_of(planned, 736)) == Lines{"send 41, 0x20000, 2", "br $m10"});
    CHECK(listing(row_of(planned, 100)) ==
          Lines{"delayxpic 50, mux 0x20", "delayxpic 21, mux 0x640", "delaypic 39, pointer 0x2c000",
                "delay 26", "br $m10"});
    planned = message(with_lanes(16), 5000);
    CHECK(listing(row_of(planned, 736)) ==
          Lines{"send 64, 0x20000, 2", "sendoff 4096, 0, 2", "sendoff 840, 0, 2", "br $m10"});
}

TEST_CASE("counts stay within the machine's limits in whole events", "[exchange][lanes]") {
    auto machine = with_lanes(16);
    machine.exchange.max_words_per_send = 10;
    machine.exchange.max_words_per_sendoff = 7;
    auto planned = message(machine, 23);
    CHECK(listing(row_of(planned, 736)) == Lines{"send 8, 0x20000, 2", "sendoff 4, 0, 2",
                                                 "sendoff 4, 0, 2", "sendoff 4, 0, 2",
                                                 "sendoff 3, 0, 2", "br $m10"});
    CHECK(execute(machine, planned).words_received == 23);
}

TEST_CASE("a pair takes twice a lane an event", "[exchange][lanes]") {
    for (const Bytes lane_bytes : {4, 8, 16}) {
        const auto machine = with_lanes(lane_bytes);
        const timing::ExchangeTiming timing{machine};
        for (const Bytes items : {64, 66, 128, 251}) {
            CAPTURE(lane_bytes, items);
            auto plan = exchange_plan::plan_exchange_with_stats(
                machine, "x",
                {transfer(0, 0x50000, 8 * items, {{2, 0x60000}, {3, 0x60000}}, true)});
            REQUIRE(plan.stats.wide_messages == 1);
            const auto outcome = execute(machine, plan.exchange);
            const Cycles events = (4 * items + lane_bytes - 1) / lane_bytes;
            CHECK(plan.stats.bound.cycles() == events);
            CHECK(exchange::demand_of(machine, plan.exchange).bound() == events);
            const Cycles start = -timing.mux_offset(0, 2);
            CHECK(row_cycles_of(outcome, 0) == start + events + machine.exchange.row_return_cycles);
            // Both take the item when the late member's half is there.
            CHECK(row_cycles_of(outcome, 3) == start + timing.latency(0, 3) + events +
                                                   machine.exchange.row_tail_cycles +
                                                   machine.exchange.row_return_cycles);
            CHECK(outcome.words_received == 4 * items);
        }
    }
}

TEST_CASE("what moves nothing counts events on a wide lane too", "[exchange][lanes]") {
    const auto machine = with_lanes(16);
    for (const ExchangeOp op : {ExchangeOp::Delay, ExchangeOp::Send}) {
        auto planned = message(machine, 40);
        auto& row = row_of(planned, 736);
        auto instructions = instructions_of(row);
        instructions.insert(instructions.begin(), {.op = op, .count = 4});
        rewrite(row, instructions);
        CHECK_THROWS_WITH(execute(machine, planned), Contains("no word of tile 736 passes at "
                                                              "event 50"));
        auto& receiver = row_of(planned, 100);
        instructions = instructions_of(receiver);
        instructions.front().count += 4; // the receiver's mux turns four events later as well
        rewrite(receiver, instructions);
        CHECK(row_cycles_of(execute(machine, planned), 736) ==
              4 + 40 / 4 + machine.exchange.row_return_cycles);
    }
}

TEST_CASE("a message cut inside an event loses the rest of that event", "[exchange][lanes]") {
    const auto machine = with_lanes(8);
    const auto cut = [&](std::int64_t first) {
        auto planned = message(machine, 40);
        auto& row = row_of(planned, 736);
        auto instructions = instructions_of(row);
        instructions.front().count = first;
        instructions.insert(instructions.begin() + 1,
                            {.op = ExchangeOp::SendOff, .count = 40 - first, .ctl = 2});
        rewrite(row, instructions);
        return row_cycles_of(execute(machine, planned), 736);
    };
    CHECK(cut(10) == 20 + machine.exchange.row_return_cycles);
    // 11 words take 6 events and 29 take 15: the 21st comes when the mux has turned away.
    CHECK_THROWS_WITH(cut(11), Contains("received 156 bytes from tile 736"));
}

TEST_CASE("a word more or less on a wide lane is found", "[exchange][lanes]") {
    for (const Bytes lane_bytes : {8, 16}) {
        const auto machine = with_lanes(lane_bytes);
        for (const Bytes words : {5, 40})
            for (const int step : {-1, 1}) {
                auto planned = message(machine, words);
                auto& row = row_of(planned, 736);
                auto instructions = instructions_of(row);
                instructions.front().count += step;
                rewrite(row, instructions);
                CAPTURE(lane_bytes, words, step);
                if (words % machine.exchange.lane_items() == 0 && step > 0)
                    CHECK_NOTHROW(execute(machine, planned)); // in an event that nobody takes
                else
                    CHECK_THROWS_AS(execute(machine, planned), ProgramError);
            }
    }
}

TEST_CASE("elements that two runs touch in one event are found at any width", "[exchange][lanes]") {
    // Tile 100 sends from `from` while it receives at 0x90000, both in region 1, whose elements
    // alternate every 8 bytes: of the offsets of a send only those are free at which no event's
    // bytes share an element with the other's.
    const auto meets = [](Bytes lane_bytes, Address from) {
        const auto machine = with_lanes(lane_bytes);
        const Cycles events = 400; // long enough that both go on at once
        const Bytes bytes = events * lane_bytes;
        auto planned =
            exchange_plan::plan_exchange(machine, "x",
                                         {transfer(736, 0x50000, bytes, {{100, 0x60000}}),
                                          transfer(100, 0xa0000, bytes, {{740, 0x60000}})});
        planned.transfers[0].destinations[0].address = 0x90000;
        planned.transfers[1].source_address = from;
        auto& row = row_of(planned, 100);
        auto instructions = instructions_of(row);
        Cycles event = 0;
        Cycles sent_at = 0;
        Cycles taken_at = 0;
        for (auto& in : instructions) {
            if (in.pointer) {
                in.pointer->value = 0x90000 / 4;
                taken_at = event + (in.op == ExchangeOp::DelayPic ? in.count : 1);
            }
            if (in.op == ExchangeOp::Send) {
                in.address = from / 4;
                sent_at = event + 1;
            }
            REQUIRE(in.op != ExchangeOp::SendPicp);
            const bool sends = in.op == ExchangeOp::Send || in.op == ExchangeOp::SendOff ||
                               in.op == ExchangeOp::SendPic;
            event += sends ? timing::LaneTiming{machine.exchange}.events(in.count) : in.count;
        }
        rewrite(row, instructions);
        // Word by word: the members that each side touches in every event of both.
        bool expected = false;
        for (Cycles e = std::max(sent_at, taken_at); e < std::min(sent_at, taken_at) + events; ++e)
            for (Bytes s = 0; s < lane_bytes; s += 4)
                for (Bytes r = 0; r < lane_bytes; r += 4) {
                    const auto read = from + (e - sent_at) * lane_bytes + s;
                    const auto written = 0x90000 + (e - taken_at) * lane_bytes + r;
                    expected = expected || (read >> 3 & 1) == (written >> 3 & 1);
                }
        CAPTURE(lane_bytes, from, sent_at, taken_at);
        if (expected)
            CHECK_THROWS_WITH(execute(machine, planned), Contains("one memory element"));
        else
            CHECK_NOTHROW(execute(machine, planned));
        return expected;
    };
    for (const Bytes lane_bytes : {4, 8, 16}) {
        int free_offsets = 0;
        for (Address offset = 0; offset < 32; offset += 4)
            free_offsets += meets(lane_bytes, 0x92000 + offset) ? 0 : 1;
        CHECK(free_offsets == (lane_bytes == 16 ? 0 : 2));
    }
}

TEST_CASE("an event that is not full uses the elements of its own words only",
          "[exchange][lanes]") {
    // Tile 100 takes `taken` words at 0x90000 + `to`; its send is one event, that of the last of
    // them.
    int free_ones = 0;
    for (const Bytes lane_bytes : {4, 8, 16}) {
        const auto machine = with_lanes(lane_bytes);
        const auto lane = lane_bytes / 4;
        for (Bytes taken = 1; taken <= 2 * lane; ++taken)
            for (Bytes sent = 1; sent <= lane; ++sent)
                for (Address to = 0; to < 16; to += 4)
                    for (Address from = 0; from < 16; from += 4) {
                        auto planned = exchange_plan::plan_exchange(
                            machine, "x",
                            {transfer(736, 0x50000, 4 * taken, {{100, 0x90000 + to}})});
                        const Cycles events = (taken + lane - 1) / lane;
                        const Cycles last = 109 + events;
                        auto& row = row_of(planned, 100);
                        // Up to the send the row's own controls, of which the pointer's is the
                        // last.
                        auto instructions = instructions_of(row);
                        instructions.resize(instructions.size() - 2); // delay, br
                        Cycles event = 0;
                        for (const auto& in : instructions)
                            event += in.count;
                        if (event >= last)
                            continue; // the pointer is set in the last event itself
                        if (event + 1 < last)
                            instructions.push_back(
                                {.op = ExchangeOp::Delay, .count = last - 1 - event});
                        instructions.push_back({.op = ExchangeOp::Send,
                                                .count = sent,
                                                .address = (0x92000 + from) / 4,
                                                .ctl = 1});
                        instructions.push_back({.op = ExchangeOp::Delay, .count = 6});
                        instructions.push_back({.op = ExchangeOp::Branch, .count = 0});
                        rewrite(row, instructions);
                        bool meet = false;
                        for (auto w = (events - 1) * lane; w < taken; ++w)
                            for (Bytes r = 0; r < sent; ++r)
                                meet = meet || ((to + 4 * w) >> 3 & 1) == ((from + 4 * r) >> 3 & 1);
                        CAPTURE(lane_bytes, taken, sent, to, from);
                        if (meet)
                            CHECK_THROWS_WITH(execute(machine, planned),
                                              Contains("one memory element"));
                        else
                            CHECK_NOTHROW(execute(machine, planned));
                        free_ones += meet ? 0 : 1;
                    }
    }
    CHECK(free_ones > 20);
}

TEST_CASE("lanes of twice the width carry twice the bytes in the same events",
          "[exchange][lanes]") {
    // The schedule of an exchange depends on events alone.
    using namespace exchange_patterns;
    const auto events_of = [](Bytes lane_bytes, std::int64_t tiles, bool far_first, auto make) {
        auto machine = with_lanes(lane_bytes);
        machine.chip.tiles = tiles;
        machine.exchange.far_first = far_first;
        machine.exchange.pair_double = !far_first;
        machine.exchange.pair_min_items *= lane_bytes / 4;
        Layout layout{machine};
        make(layout, lane_bytes / 4);
        auto transfers = layout.take();
        REQUIRE(transfers);
        const auto stats =
            exchange_plan::plan_exchange_with_stats(machine, "x", std::move(*transfers)).stats;
        return std::pair{stats.longest_row_events, stats.bound.cycles()};
    };
    const auto check = [&](std::int64_t tiles, bool far_first, auto make) {
        const auto narrow = events_of(4, tiles, far_first, make);
        CHECK(events_of(8, tiles, far_first, make) == narrow);
        CHECK(events_of(16, tiles, far_first, make) == narrow);
    };
    for (const Bytes n : {4, 20, 512}) {
        check(1472, true, [=](auto& to, Bytes w) { broadcast(to, w * n, 1, false); });
        check(100, false, [=](auto& to, Bytes w) { broadcast(to, w * n, 3, true); });
        check(100, false, [=](auto& to, Bytes w) { all_to_all(to, w * n, 20); });
        check(200, false, [=](auto& to, Bytes w) { all_gather(to, w * n, 8, true); });
        check(100, false, [=](auto& to, Bytes w) { halo(to, w * n, w * 4); });
        check(300, false, [=](auto& to, Bytes w) { halves(to, w * n); });
    }
}

TEST_CASE("other fabrics' lanes are a word wide", "[exchange][lanes]") {
    for (const auto fabric : {spec::Fabric::Mesh, spec::Fabric::Ring}) {
        auto machine = with_lanes(16);
        machine.exchange.fabric = fabric;
        CHECK(machine.exchange.lane_items() == 1);
        const std::vector<program::Transfer> wide{
            transfer(0, 0x50000, 800, {{2, 0x60000}, {3, 0x60000}}, true)};
        CHECK(timing::exchange_bound(machine, wide).cycles() == 200);
        CHECK_FALSE(timing::pairable(machine, wide[0], 800));
        program::Exchange exchange;
        exchange.transfers = wide;
        CHECK(exchange::demand_of(machine, exchange).bound() == 200);
    }
}
