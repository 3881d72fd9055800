// SPDX-License-Identifier: MIT
// Rows and data that meet in memory elements: the fabric finds each.
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
    const auto planned = exchange_plan::plan_exchange(machine, "x", transfers);
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
    auto exchange = exchange_plan::plan_exchange(kMachine, "x",
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
    auto exchange =
        exchange_plan::plan_exchange(kMachine, "x",
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

namespace {

/// Tile 100 sends one long stretch from 0x90000 and meanwhile receives two short ones, here.
program::Exchange one_long_send(Address first, Address second) {
    constexpr Bytes kShort = 160;
    constexpr Address kHarmless[] = {0x60000, 0x68000};
    auto exchange =
        exchange_plan::plan_exchange(kMachine, "x",
                                     {transfer(736, 0x50000, kShort, {{100, kHarmless[0]}}),
                                      transfer(736, 0x54000, kShort, {{100, kHarmless[1]}}),
                                      transfer(100, 0x90000, 16 * kShort, {{740, 0x60000}})});
    exchange.transfers[0].destinations[0].address = first;
    exchange.transfers[1].destinations[0].address = second;
    edit(exchange, 100, [&](auto& row) {
        for (auto& in : row) {
            if (in.pointer && !in.pointer->format) {
                in.pointer->value = (4 * in.pointer->value >= kHarmless[1] ? second : first) / 4;
            }
        }
    });
    return exchange;
}

} // namespace

TEST_CASE("each of several receives under one long send is looked at", "[exchange][broken]") {
    constexpr Address kFar = 0x60000;
    constexpr Address kNear[] = {0x92000, 0x94000}; // in the pair of elements that is sent from
    const auto passes = [](Address first, Address second) {
        try {
            run_with(kMachine, one_long_send(first, second));
        } catch (const ProgramError& error) {
            CHECK_THAT(error.what(), Contains("one memory element"));
            return false;
        }
        return true;
    };
    REQUIRE(passes(kFar, kFar + 0x8000));
    std::vector<Address> free[2];
    for (Address step = 0; step < 16; step += 4) {
        if (passes(kNear[0] + step, kFar)) {
            free[0].push_back(step);
        }
        if (passes(kFar, kNear[1] + step)) {
            free[1].push_back(step);
        }
    }
    REQUIRE(free[0].size() == 1); // eight bytes out of step
    REQUIRE(free[1].size() == 1);
    for (Address first = 0; first < 16; first += 4) {
        for (Address second = 0; second < 16; second += 4) {
            CAPTURE(first, second);
            CHECK(passes(kNear[0] + first, kNear[1] + second) ==
                  (first == free[0][0] && second == free[1][0]));
        }
    }
}

TEST_CASE("receiving into what is sent or executed is found", "[exchange][broken]") {
    CHECK_THROWS_WITH(run_with(kMachine, duplex(0x60000, 0x60000)), Contains("tile 100"));
    // In time apart: 100 receives into the words that it sent before.
    auto exchange = exchange_plan::plan_exchange(kMachine, "x",
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
