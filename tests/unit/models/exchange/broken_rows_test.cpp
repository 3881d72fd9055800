// SPDX-License-Identifier: MIT
// Rows that are right but for one thing: the fabric finds each.
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

TEST_CASE("unchanged rows pass", "[exchange][broken]") {
    CHECK_NOTHROW(run(one_message(), 100, [](auto&) {}));
    CHECK_NOTHROW(run(wide_message(), 2, [](auto&) {}));
}

TEST_CASE("a mux one event early or late is found", "[exchange][broken]") {
    CHECK_THROWS_WITH(run(one_message(), 100, move_events(0, 1, 1)),
                      "exchange x: tile 100 event 49: the mux stands on tile 736 from event 49 to "
                      "89, but no word of tile 736 passes at event 49");
    CHECK_THROWS_WITH(run(one_message(), 100, move_events(1, 0, 1)),
                      "exchange x: tile 100 event 111: received 156 bytes from tile 736 0x50004 at "
                      "0x60000, planned 160 bytes from tile 736 0x50000 at 0x60000");
}

TEST_CASE("a neutral one event early or late is found", "[exchange][broken]") {
    CHECK_THROWS_WITH(run(one_message(), 100, move_events(1, 2, 1)),
                      Contains("received 156 bytes from tile 736 0x50000"));
    CHECK_THROWS_WITH(run(one_message(), 100, move_events(2, 1, 1)),
                      Contains("no word of tile 736 passes at event 90"));
}

TEST_CASE("a send one event early or late is found", "[exchange][broken]") {
    CHECK_THROWS_WITH(
        run(one_message(), 736,
            [](auto& row) { row.insert(row.begin(), {.op = ExchangeOp::Delay, .count = 1}); }),
        Contains("no word of tile 736 passes at event 50"));
    CHECK_THROWS_WITH(run(one_message(), 736, [](auto& row) { row[0].count -= 1; }),
                      Contains("no word of tile 736 passes at event 89"));
}

TEST_CASE("words of two messages that meet at one mux are missed", "[exchange][broken]") {
    // Both are planned alone, so that they pass the receiver's mux in the same events.
    auto exchange = one_message();
    const auto second = exchange_plan::plan_exchange(
        kMachine, "x", {transfer(737, 0x50000, 160, {{100, 0x61000}})});
    exchange.transfers.push_back(second.transfers.front());
    exchange.rows.push_back(second.rows.back());
    REQUIRE(exchange.rows.back().tile == 737);
    CHECK_THROWS_WITH(
        run_with(kMachine, exchange),
        Contains("received nothing more, planned 160 bytes from tile 737 0x50000 at 0x61000"));
}

TEST_CASE("a missing neutral is found", "[exchange][broken]") {
    CHECK_THROWS_WITH(
        run(one_message(), 100, [](auto& row) { row[1] = {.op = ExchangeOp::Delay, .count = 40}; }),
        Contains("the mux is left on source 0x20 at the end of the row"));
}

TEST_CASE("a wrong or late or missing pointer is found", "[exchange][broken]") {
    CHECK_THROWS_WITH(run(one_message(), 100, [](auto& row) { row[2].pointer->value += 1; }),
                      Contains("at 0x60004, planned"));
    CHECK_THROWS_WITH(run(one_message(), 100, move_events(3, 2, 1)),
                      Contains("event 110: words from tile 736 arrive before the pointer is set"));
    CHECK_THROWS_WITH(run(one_message(), 100, [](auto& row) { row[2].pointer->value = 0x3fff0; }),
                      Contains("received at 0xfffc0, outside tile memory"));
    CHECK_NOTHROW(run(one_message(), 100, move_events(2, 3, 1)));
}

TEST_CASE("a pointer that moves within a run is found", "[exchange][broken]") {
    CHECK_THROWS_WITH(run(one_message(), 100,
                          [](auto& row) {
                              row[3].count -= 10;
                              row.insert(row.begin() + 3,
                                         {.op = ExchangeOp::DelayPic,
                                          .count = 10,
                                          .pointer = isa::PointerControl{false, 0x18400}});
                          }),
                      Contains("received 40 bytes from tile 736 0x50000 at 0x60000"));
}

TEST_CASE("a row that ends too soon is found", "[exchange][broken]") {
    CHECK_THROWS_WITH(run(one_message(), 100, [](auto& row) { row[3].count -= 1; }),
                      Contains("expected at least 155 events"));
    auto longer = kMachine;
    longer.exchange.row_tail_cycles += 1;
    CHECK_THROWS_WITH(run_with(longer, one_message()), Contains("expected at least 156 events"));
}

TEST_CASE("bad mux sources are found", "[exchange][broken]") {
    const auto source = [](std::uint32_t id) {
        return [id](auto& row) { row[0].mux->source = id; };
    };
    CHECK_THROWS_WITH(run(one_message(), 100, source(0)), Contains("tile 0, which has no row"));
    CHECK_THROWS_WITH(run(one_message(), 100, source(0x5ff)),
                      Contains("mux source 0x5ff is no tile"));
    CHECK_THROWS_AS(run(one_message(), 100, source(0x600)), NotModelled);
    CHECK_THROWS_AS(run(one_message(), 100, source(260)), NotModelled);
}

TEST_CASE("a message in the wrong direction is found", "[exchange][broken]") {
    CHECK_THROWS_WITH(run(one_message(), 736, [](auto& row) { row[0].ctl = 1; }),
                      Contains("whose message at event 1 goes in direction 1 only, expected 2"));
    CHECK_NOTHROW(run(one_message(), 736, [](auto& row) { row[0].ctl = 3; }));
    CHECK_THROWS_WITH(run(one_message(), 736, [](auto& row) { row[0].ctl = 0; }),
                      Contains("no word of tile 736"));
}

TEST_CASE("instructions out of place are found", "[exchange][broken]") {
    const auto front = [](ExchangeInstruction in) {
        return [in](auto& row) { row.insert(row.begin(), in); };
    };
    CHECK_THROWS_WITH(
        run(one_message(), 736, front({.op = ExchangeOp::SendOff, .ctl = 2})),
        "exchange x: tile 736 event 1: sendoff 1, 0, 2: continues a message, but none "
        "is running");
    CHECK_THROWS_WITH(
        run(one_message(), 736, front({.op = ExchangeOp::SendPic, .mux = isa::MuxControl{}})),
        Contains("none is running"));
    CHECK_THROWS_WITH(
        run(one_message(), 736,
            [](auto& row) { row.insert(row.begin() + 1, {.op = ExchangeOp::SendOff, .ctl = 1}); }),
        Contains("continues a message of ctl 2"));
    CHECK_THROWS_AS(run(one_message(), 736,
                        [](auto& row) {
                            row.insert(row.begin() + 1,
                                       {.op = ExchangeOp::SendOff, .delta = 1, .ctl = 2});
                        }),
                    NotModelled);
    CHECK_THROWS_WITH(run(one_message(), 736, [](auto& row) { row[0].ctl = 4; }),
                      Contains("64-bit items without a direction"));
    CHECK_THROWS_WITH(run(one_message(), 736, [](auto& row) { row[0].address = 0x10000; }),
                      Contains("sends from 0x40000, outside tile memory"));
}

TEST_CASE("a double instruction off its boundary is found", "[exchange][broken]") {
    const ExchangeInstruction both{.op = ExchangeOp::SendPicp,
                                   .mux = isa::MuxControl{false, 0x640},
                                   .pointer = isa::PointerControl{false, 0x18000}};
    CHECK_THROWS_WITH(run(one_message(), 100,
                          [&](auto& row) {
                              row[3].count -= 1;
                              row.insert(row.begin() + 3, both);
                          }),
                      Contains("sendpicp is not on an 8-byte boundary"));
    CHECK_THROWS_WITH(run(one_message(), 100,
                          [&](auto& row) {
                              auto wide = both;
                              wide.mux->paired = true;
                              row[0].count -= 1;
                              row.insert(row.begin(), wide);
                          }),
                      Contains("two controls of a 64-bit receive in one event"));
}

TEST_CASE("counts above the machine's limits are found", "[exchange][broken]") {
    auto exchange = exchange_plan::plan_exchange(kMachine, "x",
                                                 {transfer(736, 0x80000, 4000, {{100, 0x90000}})});
    auto shorter = kMachine;
    shorter.exchange.max_words_per_sendoff = 64;
    CHECK_THROWS_WITH(run_with(shorter, exchange),
                      Contains("got a count of 936, expected at most 64"));
    auto first = kMachine;
    first.exchange.max_words_per_send = 32;
    CHECK_THROWS_WITH(run_with(first, exchange),
                      Contains("got a count of 64, expected at most 32"));
}

TEST_CASE("rows that are no rows are found", "[exchange][broken]") {
    CHECK_THROWS_WITH(run(one_message(), 736, [](auto& row) { row.pop_back(); }),
                      Contains("row ends without br $m10"));
    CHECK_THROWS_WITH(run(one_message(), 736, [](auto& row) { row.push_back(row[0]); }),
                      Contains("words follow the branch"));
    auto exchange = one_message();
    row_of(exchange, 736).words[0] = 0x19000000;
    CHECK_THROWS_WITH(run_with(kMachine, exchange),
                      Contains("event 1: exchange row: word 0x19000000 is no exchange"));
    exchange = one_message();
    std::swap(exchange.rows[0], exchange.rows[1]);
    CHECK_THROWS_WITH(run_with(kMachine, exchange), Contains("expected ascending tiles"));
    exchange = one_message();
    exchange.rows.insert(exchange.rows.begin(), exchange.rows.front()); // a tile twice
    CHECK_THROWS_WITH(run_with(kMachine, exchange), Contains("expected ascending tiles"));
    for (const Address address : {0x4c004U, 0x80000U, 0x7fff8U}) {
        exchange = one_message();
        row_of(exchange, 100).address = address;
        CHECK_THROWS_WITH(run_with(kMachine, exchange), Contains("row is not in region 0"));
    }
}

TEST_CASE("what arrives is compared with what was planned", "[exchange][broken]") {
    auto exchange = one_message();
    exchange.transfers.clear();
    CHECK_THROWS_WITH(run_with(kMachine, exchange), Contains("planned nothing more"));
    exchange = one_message();
    exchange.transfers.push_back(transfer(736, 0x50000, 4, {{100, 0x70000}}));
    CHECK_THROWS_WITH(run_with(kMachine, exchange), Contains("received nothing more, planned 4"));
    exchange = one_message();
    exchange.transfers[0].destinations.push_back({7, 0x70000});
    CHECK_THROWS_WITH(run_with(kMachine, exchange),
                      Contains("planned 160 bytes from tile 736 0x50000 at 0x70000, but the tile "
                               "has no row"));
    exchange = one_message();
    exchange.transfers[0].destinations[0].tile = 5000;
    CHECK_THROWS_WITH(run_with(kMachine, exchange), Contains("transfer to tile 5000"));
}

TEST_CASE("what arrives elsewhere than planned is told with the event of its first word",
          "[exchange][broken]") {
    const timing::ExchangeTiming timing{kMachine};
    constexpr Cycles kWords = 40;
    const Cycles first = 1 + timing.latency(736, 100);
    for (const std::size_t moved : {0U, 1U}) {
        auto exchange =
            exchange_plan::plan_exchange(kMachine, "x",
                                         {transfer(736, 0x50000, 4 * kWords, {{100, 0x60000}}),
                                          transfer(736, 0x50100, 4 * kWords, {{100, 0x62000}})});
        exchange.transfers[moved].destinations[0].address += 0x4000;
        const auto event = std::to_string(first + static_cast<Cycles>(moved) * kWords);
        CHECK_THROWS_WITH(run_with(kMachine, exchange), Contains("event " + event + ": received"));
    }
}
