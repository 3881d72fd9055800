// SPDX-License-Identifier: MIT
// Rows that were worked out by hand from the event rules; tiles are those of a 1472-tile chip.
#include "kernels/exchange_plan/exchange_planner.h"
#include "models/timing/exchange_latency.h"
#include "tests/unit/models/exchange/support.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

using namespace tessera;
using namespace tessera::exchange_test;

namespace {

using Lines = std::vector<std::string>;

const spec::MachineSpec kMachine;

Lines row_lines(program::Exchange& exchange, TileId tile) {
    return listing(row_of(exchange, tile));
}

} // namespace

TEST_CASE("one message of 40 words has the worked rows", "[exchange][worked]") {
    auto exchange = exchange_plan::plan_exchange(kMachine, "one",
                                                 {transfer(736, 0x50000, 160, {{100, 0x60000}})});
    REQUIRE(exchange.rows.size() == 2);
    CHECK(row_lines(exchange, 736) == Lines{"send 40, 0x14000, 2", "br $m10"});
    CHECK(row_lines(exchange, 100) == Lines{"delayxpic 50, mux 0x20", "delayxpic 40, mux 0x640",
                                            "delaypic 20, pointer 0x18000", "delay 45", "br $m10"});
    const auto outcome = execute(kMachine, exchange);
    const auto back = kMachine.exchange.row_return_cycles;
    CHECK(outcome.row_cycles == std::vector<Cycles>{155 + back, 40 + back});
    CHECK(outcome.copies == std::vector<exchange::CopyRun>{{736, 0x50000, 100, 0x60000, 160}});
    CHECK(outcome.words_sent == 40);
    CHECK(outcome.words_received == 40);
    CHECK(outcome.bytes == 160);
}

TEST_CASE("controls of a full-duplex tile ride on its send", "[exchange][worked]") {
    // A receiver whose mux offset is -60 lets tile 100 send no earlier than from event 60.
    const timing::ExchangeTiming timing{kMachine};
    TileId far = 0;
    while (timing.mux_offset(100, far) != -60)
        ++far;
    auto exchange = exchange_plan::plan_exchange(kMachine, "duplex",
                                                 {transfer(736, 0x50000, 160, {{100, 0x60000}}),
                                                  transfer(100, 0x90000, 320, {{far, 0x60000}})});
    CHECK(row_lines(exchange, 100) ==
          Lines{"delayxpic 50, mux 0x20", "delay 10",
                "send 29, 0x24000, " + std::to_string(timing.direction(100, far)),
                "sendpic 20, mux 0x640", "sendpic 31, pointer 0x18000", "delay 15", "br $m10"});
    CHECK(execute(kMachine, exchange).words_received == 120);
}

TEST_CASE("a second run follows the first without a gap", "[exchange][worked]") {
    const timing::ExchangeTiming timing{kMachine};
    const auto id = timing.grid().position(800).physical_id;
    const auto second = fmt::format("delayxpic 40, mux 0x{:x}", id);
    SECTION("elsewhere, with a pointer") {
        auto exchange =
            exchange_plan::plan_exchange(kMachine, "next",
                                         {transfer(736, 0x50000, 160, {{100, 0x60000}}),
                                          transfer(800, 0x50000, 200, {{100, 0x70000}})});
        CHECK(row_lines(exchange, 100) ==
              Lines{"delayxpic 50, mux 0x20", second, "delaypic 20, pointer 0x18000",
                    "delayxpic 30, mux 0x640", "delaypic 10, pointer 0x1c000", "delay 55",
                    "br $m10"});
        CHECK(execute(kMachine, exchange).words_received == 90);
    }
    SECTION("at the next address, without") {
        auto exchange =
            exchange_plan::plan_exchange(kMachine, "next",
                                         {transfer(736, 0x50000, 160, {{100, 0x60000}}),
                                          transfer(800, 0x50000, 200, {{100, 0x600a0}})});
        CHECK(row_lines(exchange, 100) == Lines{"delayxpic 50, mux 0x20", second,
                                                "delaypic 20, pointer 0x18000",
                                                "delayxpic 30, mux 0x640", "delay 65", "br $m10"});
        CHECK(execute(kMachine, exchange).words_received == 90);
    }
}

TEST_CASE("two controls of one event share a double instruction", "[exchange][worked]") {
    // 60 words end at the mux when the first meets the pointer of a row-4 tile: 52 + 2 * 4.
    auto exchange = exchange_plan::plan_exchange(kMachine, "double",
                                                 {transfer(736, 0x50000, 240, {{100, 0x60000}})});
    CHECK(row_lines(exchange, 100) == Lines{"delayxpic 50, mux 0x20", "delay 59",
                                            "sendpicp 1, 0x0, 0, mux 0x640, pointer 0x18000",
                                            "delay 65", "br $m10"});
    CHECK(execute(kMachine, exchange).words_received == 60);
}

TEST_CASE("a multicast of 3 words has the worked rows", "[exchange][worked]") {
    auto exchange = exchange_plan::plan_exchange(
        kMachine, "multicast", {transfer(0, 0x50000, 12, {{274, 0x60000}, {1286, 0x70000}})});
    CHECK(row_lines(exchange, 0) == Lines{"delay 23", "send 3, 0x14000, 3", "br $m10"});
    CHECK(row_lines(exchange, 274) == Lines{"delayxpic 1, mux 0x0", "delayxpic 3, mux 0x640",
                                            "delaypic 49, pointer 0x18000", "delay 8", "br $m10"});
    CHECK(row_lines(exchange, 1286)[2] == "delaypic 49, pointer 0x1c000");
    const auto outcome = execute(kMachine, exchange);
    CHECK(outcome.words_sent == 3);
    CHECK(outcome.words_received == 6);
}

TEST_CASE("a double-width message of 64 items has the worked rows", "[exchange][worked]") {
    auto exchange = exchange_plan::plan_exchange(
        kMachine, "wide", {transfer(0, 0x50000, 512, {{2, 0x60000}, {3, 0x60000}}, true)});
    REQUIRE(exchange.rows.size() == 4);
    CHECK(row_lines(exchange, 0) == Lines{"delay 31", "send 64, 0xa000, 5", "br $m10"});
    CHECK(row_lines(exchange, 1) == Lines{"delay 95", "br $m10"});
    CHECK(row_lines(exchange, 2) == Lines{"delayxpic 1, muxpair 0x0", "delaypic 53, format 0x1",
                                          "delaypic 2, pointer 0x18000",
                                          "delayxpic 9, muxpair 0x640", "delaypic 53, format 0x0",
                                          "delay 7", "br $m10"});
    CHECK(row_lines(exchange, 3) == Lines{"delaypic 54, format 0x1", "delaypic 2, pointer 0x18000",
                                          "delaypic 62, format 0x0", "delay 7", "br $m10"});
    const auto outcome = execute(kMachine, exchange);
    CHECK(outcome.words_sent == 128);
    CHECK(outcome.words_received == 256);
}

TEST_CASE("a long message is one send and continuations", "[exchange][worked]") {
    auto exchange = exchange_plan::plan_exchange(
        kMachine, "long", {transfer(736, 0x80000, 4 * 5000, {{100, 0x90000}})});
    CHECK(row_lines(exchange, 736) ==
          Lines{"send 64, 0x20000, 2", "sendoff 4096, 0, 2", "sendoff 840, 0, 2", "br $m10"});
    CHECK(row_lines(exchange, 100)[2] == "delay 844");
    CHECK(row_lines(exchange, 100)[3] == "delayxpic 4096, mux 0x640");
    CHECK(execute(kMachine, exchange).words_received == 5000);
}
