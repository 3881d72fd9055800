// SPDX-License-Identifier: MIT
// Rules of rows at their boundaries: legal at one event, an error at the next.
#include "base/error.h"
#include "kernels/exchange_plan/exchange_planner.h"
#include "kernels/exchange_plan/exchange_rows.h"
#include "models/timing/exchange_latency.h"
#include "tests/unit/models/exchange/support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

using namespace tessera;
using namespace tessera::exchange_test;
using isa::ExchangeInstruction;
using isa::ExchangeOp;

namespace {

const spec::MachineSpec kMachine;

/// What is wrong with the exchange; empty if nothing is.
std::string mistake(const spec::MachineSpec& machine, program::Exchange exchange) {
    try {
        (void)execute(machine, exchange);
    } catch (const ProgramError& error) {
        return error.what();
    }
    return "";
}

bool says(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// A row that only receives, as controls at their events, which can be moved and added to.
struct Controls {
    std::vector<exchange_plan::RowControl> all;
    Cycles end = 0;

    Controls(const program::ExchangeRow& row, Cycles later) {
        Cycles event = later;
        for (const auto& in : instructions_of(row)) {
            event += in.count;
            if (in.mux || in.pointer)
                all.push_back({event, in.mux, in.pointer});
        }
        end = event;
    }
    void add(const Controls& other) {
        all.insert(all.end(), other.all.begin(), other.all.end());
        end = std::max(end, other.end);
    }
    [[nodiscard]] std::vector<std::uint32_t> words() {
        std::stable_sort(all.begin(), all.end(),
                         [](const auto& a, const auto& b) { return a.event < b.event; });
        return exchange_plan::row_words(exchange_plan::row_instructions(kMachine, {}, all, end));
    }
};

void delay(program::ExchangeRow& row, Cycles events) {
    auto instructions = instructions_of(row);
    instructions.insert(instructions.begin(), {.op = ExchangeOp::Delay, .count = events});
    rewrite(row, instructions);
}

/// 64 items from `source` to the pair {2, 3}, `later` events later than it could be.
program::Exchange wide_message(TileId source, Address to, Cycles later) {
    auto exchange = exchange_plan::plan_exchange(
        kMachine, "x", {transfer(source, 0x50000, 512, {{2, to}, {3, to}}, true)});
    for (auto& row : exchange.rows)
        if (later > 0)
            delay(row, later);
    return exchange;
}

/// Events [first, last] of the paired mux of `tile`.
std::pair<Cycles, Cycles> paired_stretch(const program::ExchangeRow& row) {
    std::vector<Cycles> events;
    for (const auto& control : Controls(row, 0).all)
        if (control.mux && control.mux->paired)
            events.push_back(control.event);
    REQUIRE(events.size() == 2);
    return {events[0], events[1]};
}

} // namespace

TEST_CASE("the plain muxes of a pair rest from its paired one's first event to its neutral's",
          "[exchange][broken]") {
    const auto wide = wide_message(0, 0x60000, 20);
    auto changed = wide;
    const auto [begin, end] = paired_stretch(row_of(changed, 2));
    for (const TileId member : {2U, 3U})
        for (Cycles event = begin - 3; event <= end + 3; ++event) {
            if (member == 2 && (event == begin || event == end))
                continue; // where its own mux control is
            changed = wide;
            Controls controls(row_of(changed, member), 0);
            const bool taken =
                std::any_of(controls.all.begin(), controls.all.end(),
                            [event = event](const auto& c) { return c.event == event; });
            if (taken)
                continue;
            controls.all.push_back({event, isa::MuxControl{false, 0x640}, std::nullopt});
            row_of(changed, member).words = controls.words();
            CAPTURE(member, event);
            CHECK(says(mistake(kMachine, changed), "the mux is written while the pair") ==
                  (event >= begin && event <= end));
            CHECK(mistake(kMachine, changed).empty() == (event < begin || event > end));
        }
}

TEST_CASE("wide receives whose early members differ keep an event between them",
          "[exchange][broken]") {
    const timing::ExchangeTiming timing{kMachine};
    TileId other = 4; // tile 3 is the early member for it
    while (timing.mux_offset(other, 3) > timing.mux_offset(other, 2))
        other += 2;
    for (Cycles gap = -2; gap <= 4; ++gap) {
        auto first = wide_message(0, 0x60000, 100);
        auto second = wide_message(other, 0x64000, 1000);
        const auto end = paired_stretch(row_of(first, 2)).second;
        const auto begin = paired_stretch(row_of(second, 3)).first;
        second = wide_message(other, 0x64000, 1000 - begin + end + gap);
        for (const TileId member : {2U, 3U}) {
            Controls controls(row_of(first, member), 0);
            controls.add(Controls(row_of(second, member), 0));
            auto& all = controls.all;
            // Of two formats of one event the later message's holds.
            for (std::size_t i = 0; i < all.size(); ++i)
                for (std::size_t k = i + 1; k < all.size(); ++k)
                    if (all[i].event == all[k].event && all[i].pointer && all[k].pointer)
                        all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
            row_of(first, member).words = controls.words();
        }
        for (const TileId tile : {other, other + 1})
            first.rows.push_back(row_of(second, tile));
        first.transfers.push_back(second.transfers.front());
        CAPTURE(gap, mistake(kMachine, first));
        CHECK(mistake(kMachine, first).empty() == (gap >= 1));
        if (gap == 0)
            CHECK(says(mistake(kMachine, first), "64-bit receive begins before that of tile 2"));
    }
}

TEST_CASE("a lane is borrowed to the last event of a wide message and free behind it",
          "[exchange][broken]") {
    for (const Bytes lane_bytes : {4, 8}) {
        auto machine = kMachine;
        machine.exchange.lane_bytes = lane_bytes;
        const auto wide = exchange_plan::plan_exchange(
            machine, "x", {transfer(0, 0x50000, 520, {{2, 0x60000}, {3, 0x60000}}, true)});
        const Cycles last = 31 + timing::LaneTiming{machine.exchange}.events(65);
        for (Cycles event = last - 2; event <= last + 2; ++event) {
            auto changed = wide;
            rewrite(row_of(changed, 1), {{.op = ExchangeOp::Delay, .count = event - 1},
                                         {.op = ExchangeOp::Send, .address = 0x14000, .ctl = 1},
                                         {.op = ExchangeOp::Branch, .count = 0}});
            CAPTURE(lane_bytes, event);
            CHECK(says(mistake(machine, changed), "sends while its lane is borrowed") ==
                  (event <= last));
            CHECK(mistake(machine, changed).empty() == (event > last));
        }
    }
}

TEST_CASE("a row's fetch holds the elements of its window and of no event more",
          "[exchange][broken]") {
    // Rows of 1-event instructions of which one sends a word nobody takes: it clashes where the
    // window at its instruction, 64 bytes ahead, touches the element that it reads.
    const auto element_bytes = static_cast<Address>(kMachine.memory.element_bytes);
    const Address boundary = kMachine.memory.region0_begin() + 4 * element_bytes;
    constexpr Address kFetchAhead = 64;
    constexpr std::size_t kInstructions = 24;
    int clashes = 0;
    for (Address row_at = boundary - 88; row_at <= boundary + 8; row_at += 8)
        for (std::size_t sends = 0; sends < kInstructions; ++sends)
            for (const Address read : {boundary - 8, boundary + element_bytes - 8}) {
                std::vector<ExchangeInstruction> row(kInstructions, {.op = ExchangeOp::Delay});
                row[sends] = {.op = ExchangeOp::Send, .address = read / 4, .ctl = 1};
                row.push_back({.op = ExchangeOp::Branch, .count = 0});
                program::Exchange exchange{"x", {}, {{0, row_at, {}}}};
                rewrite(exchange.rows[0], row);
                const Address from = row_at + 4 * static_cast<Address>(sends);
                const auto element = [&](Address at) {
                    return (at - kMachine.memory.region0_begin()) / element_bytes;
                };
                const bool clash =
                    element(from) <= element(read) && element(read) <= element(from + kFetchAhead);
                CAPTURE(row_at, sends, read);
                CHECK(says(mistake(kMachine, exchange), "meets the fetch of the row") == clash);
                clashes += clash ? 1 : 0;
            }
    CHECK(clashes > 100);
}

TEST_CASE("no fetch is in region 1", "[exchange][broken]") {
    // A row at the end of region 0, whose window would reach into region 1.
    const Address end = kMachine.memory.region1_begin();
    program::Exchange exchange{"x", {}, {{0, end - 16, {}}}};
    rewrite(exchange.rows[0], {{.op = ExchangeOp::Send, .address = end / 4, .ctl = 1},
                               {.op = ExchangeOp::Branch, .count = 0}});
    CHECK(mistake(kMachine, exchange).empty());
}

TEST_CASE("a pointer acts on the words of its event and a format two events later",
          "[exchange][broken]") {
    // In the worked example the first item is at the pointer at event 56 and the last at 119.
    for (Cycles event = 50; event <= 60; ++event) {
        auto wide = wide_message(0, 0x60000, 0);
        Controls controls(row_of(wide, 3), 0);
        for (auto& control : controls.all)
            if (control.pointer && !control.pointer->format)
                control.event = event;
            else if (control.event == event)
                control.event = event - 1; // make room
        row_of(wide, 3).words = controls.words();
        CAPTURE(event);
        CHECK(mistake(kMachine, wide).empty() == (event <= 56));
    }
    for (Cycles off = 115; off <= 121; ++off) {
        auto wide = wide_message(0, 0x60000, 0);
        Controls controls(row_of(wide, 3), 0);
        for (auto& control : controls.all)
            if (control.pointer == isa::PointerControl{true, 0})
                control.event = off;
        row_of(wide, 3).words = controls.words();
        CAPTURE(off);
        CHECK(mistake(kMachine, wide).empty() == (off >= 118));
    }
}

TEST_CASE("a row may end with the last word's tail and no event before", "[exchange][broken]") {
    for (const Bytes words : {1, 40}) {
        const auto planned = exchange_plan::plan_exchange(
            kMachine, "x", {transfer(736, 0x50000, 4 * words, {{100, 0x60000}})});
        const Cycles end = 109 + words + kMachine.exchange.row_tail_cycles;
        for (Cycles events = end - 2; events <= end + 2; ++events) {
            auto changed = planned;
            Controls controls(row_of(changed, 100), 0);
            CHECK(controls.end == end);
            controls.end = events;
            row_of(changed, 100).words = controls.words();
            CHECK(mistake(kMachine, changed).empty() == (events >= end));
        }
    }
}

TEST_CASE("words that adjoin are not words twice", "[exchange][broken]") {
    // Tile 100 takes 40 words at `to` and sends 10 from 0x60000.
    for (int step = -45; step <= 15; ++step) {
        const auto to = static_cast<Address>(0x60000 + 4 * step);
        auto exchange = exchange_plan::plan_exchange(
            kMachine, "x", {transfer(736, 0x50000, 160, {{100, 0x90000}})});
        exchange.transfers[0].destinations[0].address = to;
        Controls controls(row_of(exchange, 100), 0);
        for (auto& control : controls.all)
            if (control.pointer)
                control.pointer->value = to / 4;
        // The send comes when all has been received, so only the addresses meet.
        const exchange_plan::RowSend send{400, 10, 0x60000 / 4, 1};
        row_of(exchange, 100).words = exchange_plan::row_words(
            exchange_plan::row_instructions(kMachine, {&send, 1}, controls.all, 410));
        const bool overlap = to < 0x60000 + 40 && 0x60000 < to + 160;
        CAPTURE(step);
        CHECK(says(mistake(kMachine, exchange), "is received into and also sent") == overlap);
    }
}
