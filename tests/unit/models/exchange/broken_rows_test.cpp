// SPDX-License-Identifier: MIT
// Rows that are right but for one thing: the fabric finds each.
#include "base/error.h"
#include "kernels/exchange/exchange_planner.h"
#include "kernels/exchange/exchange_rows.h"
#include "models/timing/exchange_latency.h"
#include "tests/unit/models/exchange/support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::exchange_test;
using Catch::Contains;
using isa::ExchangeInstruction;
using isa::ExchangeOp;

namespace {

const spec::MachineSpec kMachine;

/// 40 words from tile 736 to tile 100. Rows: {send, br} and {xpic 50, neutral 40, pointer 20, delay
/// 45, br}.
program::Exchange one_message() {
    return plan::plan_exchange(kMachine, "x", {transfer(736, 0x50000, 160, {{100, 0x60000}})});
}

/// 64 items from tile 0 to the pair {2, 3}; tile 1 lends its lane.
program::Exchange wide_message() {
    return plan::plan_exchange(kMachine, "x",
                               {transfer(0, 0x50000, 512, {{2, 0x60000}, {3, 0x60000}}, true)});
}

using Edit = std::function<void(std::vector<ExchangeInstruction>&)>;

void edit(program::Exchange& exchange, TileId tile, const Edit& change) {
    auto& row = row_of(exchange, tile);
    auto instructions = instructions_of(row);
    change(instructions);
    rewrite(row, instructions);
}

/// Executes `exchange` with one row changed.
void run(program::Exchange exchange, TileId tile, const Edit& change) {
    edit(exchange, tile, change);
    (void)execute(kMachine, exchange);
}

void run_with(const spec::MachineSpec& machine, program::Exchange exchange) {
    (void)execute(machine, exchange);
}

/// Moves `events` events from instruction `from` to instruction `to` of a row.
Edit move_events(std::size_t from, std::size_t to, std::int64_t events) {
    return [=](auto& row) {
        row[from].count -= events;
        row[to].count += events;
    };
}

} // namespace

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
    const auto second =
        plan::plan_exchange(kMachine, "x", {transfer(737, 0x50000, 160, {{100, 0x61000}})});
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
    auto exchange =
        plan::plan_exchange(kMachine, "x", {transfer(736, 0x80000, 4000, {{100, 0x90000}})});
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
        auto exchange = plan::plan_exchange(kMachine, "x",
                                            {transfer(736, 0x50000, 4 * kWords, {{100, 0x60000}}),
                                             transfer(736, 0x50100, 4 * kWords, {{100, 0x62000}})});
        exchange.transfers[moved].destinations[0].address += 0x4000;
        const auto event = std::to_string(first + static_cast<Cycles>(moved) * kWords);
        CHECK_THROWS_WITH(run_with(kMachine, exchange), Contains("event " + event + ": received"));
    }
}

TEST_CASE("a row in the element that it receives into is a fetch clash", "[exchange][broken]") {
    auto exchange = one_message();
    row_of(exchange, 100).address = 0x61000;
    CHECK_THROWS_WITH(run_with(kMachine, exchange),
                      Contains("the receive at 0x60000 meets the fetch of the row"));
    exchange = one_message();
    row_of(exchange, 736).address = 0x51000;
    CHECK_THROWS_WITH(run_with(kMachine, exchange),
                      Contains("the send from 0x50000 meets the fetch of the row"));
    // The window reaches 64 bytes ahead: a row just below the element touches it too.
    exchange = one_message();
    row_of(exchange, 100).address = 0x60000 - 0x28;
    CHECK_THROWS_WITH(run_with(kMachine, exchange), Contains("meets the fetch of the row"));
    exchange = one_message();
    row_of(exchange, 100).address = 0x60000 - 0x60;
    CHECK_NOTHROW(run_with(kMachine, exchange));
}

TEST_CASE("a row clashes with data as far behind it as its fetch window reaches",
          "[exchange][broken]") {
    const auto clear_distance = [](Bytes window) {
        spec::MachineSpec machine = kMachine;
        machine.tile.fetch_window_bytes = window;
        for (Address distance = 8; distance <= 1024; distance += 8) {
            auto exchange = one_message();
            row_of(exchange, 100).address = 0x60000 - distance;
            try {
                run_with(machine, exchange);
                return static_cast<Bytes>(distance);
            } catch (const ProgramError& error) {
                CHECK_THAT(error.what(), Contains("meets the fetch of the row"));
            }
        }
        return Bytes{0};
    };
    const Bytes standard = clear_distance(64);
    CHECK(standard > 64);
    for (const Bytes window : {8, 16, 128, 256}) {
        CHECK(clear_distance(window) - standard == window - 64);
    }
}

TEST_CASE("what lands in any word of the row that is being executed is found",
          "[exchange][broken]") {
    // Elements so small that the fetch is far ahead when the last word lands in what was executed.
    spec::MachineSpec machine = kMachine;
    machine.memory.element_bytes = 128;
    std::vector<program::Transfer> transfers;
    for (TileId i = 0; i < 60; ++i)
        transfers.push_back(transfer(200 + 2 * i, 0x50000, 4, {{100, 0x90000 + 64 * i}}));
    const auto planned = plan::plan_exchange(machine, "x", transfers);
    constexpr Address kRow = 0x58000;
    const auto landing_at = [&](Address address) {
        auto exchange = planned;
        row_of(exchange, 100).address = kRow;
        edit(exchange, 100, [&](auto& row) {
            const auto last = std::find_if(row.rbegin(), row.rend(), [](const auto& in) {
                return in.pointer && !in.pointer->format;
            });
            for (auto& each : exchange.transfers)
                if (each.destinations[0].address == 4 * last->pointer->value)
                    each.destinations[0].address = address;
            last->pointer->value = address / 4;
        });
        return exchange;
    };
    CHECK_NOTHROW(run_with(machine, landing_at(kRow - 4)));
    auto at_row = landing_at(kRow);
    const auto words = static_cast<Address>(row_of(at_row, 100).words.size());
    REQUIRE(words > 100);
    for (Address word = 0; word < words / 4; ++word) {
        CAPTURE(word, words);
        CHECK_THROWS_WITH(run_with(machine, landing_at(kRow + 4 * word)),
                          Contains("is received into and also sent, executed"));
    }
}

namespace {

/// Tile 100 receives at `to` and sends 80 words from `from` at the same time; the rows are planned
/// for harmless addresses and then changed.
program::Exchange duplex(Address from, Address to) {
    auto exchange = plan::plan_exchange(kMachine, "x",
                                        {transfer(736, 0x50000, 160, {{100, 0x60000}}),
                                         transfer(100, 0x90000, 1600, {{740, 0x60000}})});
    exchange.transfers[0].destinations[0].address = to;
    exchange.transfers[1].source_address = from;
    edit(exchange, 100, [&](auto& row) {
        for (auto& in : row) {
            if (in.pointer)
                in.pointer->value = to / 4;
            if (in.op == ExchangeOp::Send)
                in.address = from / 4;
            REQUIRE(in.op != ExchangeOp::SendPicp);
        }
    });
    return exchange;
}

} // namespace

TEST_CASE("a send and a receive in one element are found", "[exchange][broken]") {
    CHECK_NOTHROW(run_with(kMachine, duplex(0x90000, 0x60000)));
    CHECK_THROWS_WITH(run_with(kMachine, duplex(0x60800, 0x60000)),
                      Contains("a send reads and a receive writes one memory element"));
    CHECK_NOTHROW(run_with(kMachine, duplex(0x64000, 0x60000)));
    // Elements of region 1 alternate every 8 bytes: words that keep 8 bytes out of step never meet.
    int free_steps = 0;
    for (Address step = 0; step < 16; step += 4) {
        try {
            run_with(kMachine, duplex(0x90800 + step, 0x90000));
            ++free_steps;
        } catch (const ProgramError& error) {
            CHECK_THAT(error.what(), Contains("one memory element"));
        }
    }
    CHECK(free_steps == 1);
    CHECK_NOTHROW(run_with(kMachine, duplex(0x98000, 0x90000)));
}

namespace {

/// Tile 100 sends and receives two stretches each, one behind the other, at these addresses.
struct Stretches {
    Address sent[2];
    Address received[2];
};

program::Exchange duplex(const Stretches& at) {
    constexpr Bytes kBytes = 1600;
    constexpr Address kHarmless[] = {0x60000, 0x68000};
    auto exchange = plan::plan_exchange(kMachine, "x",
                                        {transfer(736, 0x50000, kBytes, {{100, kHarmless[0]}}),
                                         transfer(100, 0x90000, kBytes, {{740, 0x60000}}),
                                         transfer(736, 0x54000, kBytes, {{100, kHarmless[1]}}),
                                         transfer(100, 0x98000, kBytes, {{740, 0x68000}})});
    for (const std::size_t i : {0U, 1U}) {
        exchange.transfers[2 * i].destinations[0].address = at.received[i];
        exchange.transfers[2 * i + 1].source_address = at.sent[i];
    }
    edit(exchange, 100, [&](auto& row) {
        for (auto& in : row) {
            if (in.pointer)
                in.pointer->value = at.received[4 * in.pointer->value >= kHarmless[1] ? 1 : 0] / 4;
            if (in.op == ExchangeOp::Send || in.op == ExchangeOp::SendPicp) {
                const std::size_t second = 4 * in.address >= 0x98000 ? 1 : 0;
                in.address =
                    (4 * in.address - (second == 1 ? 0x98000 : 0x90000) + at.sent[second]) / 4;
            }
        }
    });
    return exchange;
}

} // namespace

TEST_CASE("of many sends and receives the ones that meet in an element are found",
          "[exchange][broken]") {
    // Four elements of region 0; stretches in one of them have no word in common.
    constexpr std::size_t kStretches = 4;
    const auto meets = [&](const std::array<Address, kStretches>& elements) {
        constexpr Address kFirst = 0x60000;
        const auto address = [&](std::size_t stretch) {
            return static_cast<Address>(kFirst + elements[stretch] * 0x4000 + stretch * 0x1000);
        };
        try {
            run_with(kMachine, duplex({{address(0), address(1)}, {address(2), address(3)}}));
        } catch (const ProgramError& error) {
            CHECK_THAT(error.what(),
                       Contains("a send reads and a receive writes one memory element"));
            return true;
        }
        return false;
    };
    CHECK_FALSE(meets({0, 1, 2, 3}));
    // Which are under way at once: those that meet where the others are out of the way.
    const std::array<std::array<bool, 2>, 2> at_once{
        {{meets({0, 1, 0, 2}), meets({0, 1, 2, 0})}, {meets({1, 0, 0, 2}), meets({1, 0, 2, 0})}}};
    CHECK((at_once[0][0] || at_once[0][1]));
    CHECK((at_once[1][0] || at_once[1][1]));
    for (Address places = 0; places < 256; ++places) {
        const std::array<Address, kStretches> elements{places & 3U, places >> 2U & 3U,
                                                       places >> 4U & 3U, places >> 6U & 3U};
        bool expected = false;
        for (const std::size_t sent : {0U, 1U}) {
            for (const std::size_t received : {0U, 1U}) {
                expected = expected || (at_once.at(sent).at(received) &&
                                        elements.at(sent) == elements.at(2 + received));
            }
        }
        CAPTURE(elements);
        CHECK(meets(elements) == expected);
    }
}

TEST_CASE("receiving into what is sent or executed is found", "[exchange][broken]") {
    CHECK_THROWS_WITH(run_with(kMachine, duplex(0x60000, 0x60000)), Contains("tile 100"));
    // In time apart: 100 receives into the words that it sent before.
    auto exchange = plan::plan_exchange(kMachine, "x",
                                        {transfer(100, 0x90000, 160, {{740, 0x60000}}),
                                         transfer(736, 0x50000, 160, {{100, 0x98000}})});
    exchange.transfers[1].destinations[0].address = 0x90000;
    edit(exchange, 100, [&](auto& row) {
        for (auto& in : row)
            if (in.pointer)
                in.pointer->value = 0x90000 / 4;
    });
    CHECK_THROWS_WITH(run_with(kMachine, exchange),
                      Contains("address 0x90000 is received into and also sent"));
}

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
    auto words = plan::plan_exchange(kMachine, "x", {transfer(736, 0x80000, 2400, {{3, 0x60000}})});
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
    auto opposite = plan::plan_exchange(
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
        auto alone = plan::plan_exchange(kMachine, "x", {to_member});
        std::vector<plan::RowControl> controls;
        Cycles event = 0;
        for (const auto& in : instructions_of(row_of(alone, member))) {
            event += in.count;
            if (in.mux || in.pointer)
                controls.push_back({event, in.mux, in.pointer});
        }
        std::vector<plan::RowSend> sends;
        if (member == 0)
            sends.push_back({31, 512, 0x50000 / 8, 5});
        auto exchange = plan::plan_exchange(kMachine, "x", {wide});
        row_of(exchange, member).words =
            plan::row_words(plan::row_instructions(kMachine, sends, controls, 31 + 512));
        exchange.rows.push_back(row_of(alone, 736));
        exchange.transfers.push_back(to_member);
        CHECK_NOTHROW(run_with(kMachine, exchange));
    }
}
