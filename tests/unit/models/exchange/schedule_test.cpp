// SPDX-License-Identifier: MIT
// What a schedule keeps: the earliest legal starts, margins in elements, controls of double width
// that stand alone; and the lanes that it is made of, beside a plain model of them.
#include "kernels/exchange_plan/event_lanes.h"
#include "kernels/exchange_plan/event_marks.h"
#include "kernels/exchange_plan/exchange_orders.h"
#include "kernels/exchange_plan/exchange_planner.h"
#include "kernels/exchange_plan/exchange_schedule.h"
#include "tests/unit/models/exchange/support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <optional>
#include <random>
#include <set>

using namespace tessera;
using namespace tessera::exchange_test;

namespace {

const spec::MachineSpec kMachine;

/// Starts of messages that are placed in the order given.
struct Placed {
    timing::ExchangeTiming timing;
    std::vector<Cycles> starts;
    std::vector<bool> wide;

    Placed(const spec::MachineSpec& machine, const std::vector<program::Transfer>& transfers)
        : timing(machine) {
        const auto runs = timing::transfer_runs(machine, transfers);
        REQUIRE(runs.size() == transfers.size());
        const auto list = exchange_plan::make_jobs(timing, transfers, runs);
        exchange_plan::MessagePlacer placer{machine, timing, list};
        REQUIRE(placer.place_all(exchange_plan::given_order(list), {}));
        for (const auto& placement : placer.schedule().placements) {
            starts.push_back(placement.start);
            wide.push_back(placement.wide);
        }
    }
};

} // namespace

TEST_CASE("lanes find what a plain model of them finds", "[exchange][lanes]") {
    constexpr Cycles kEnd = 400;
    std::mt19937 random{3};
    const auto below = [&](std::uint32_t limit) { return static_cast<Cycles>(random() % limit); };
    for (int round = 0; round < 300; ++round) {
        constexpr std::uint32_t kLanes = 3;
        exchange_plan::EventLanes lanes;
        REQUIRE(lanes.add(kLanes) == 0);
        REQUIRE(lanes.add(1) == kLanes);
        std::vector<std::vector<bool>> taken(kLanes, std::vector<bool>(2 * kEnd));
        for (int step = 0; step < 30; ++step) {
            const auto lane = static_cast<std::uint32_t>(below(kLanes));
            const Cycles first = below(kEnd / 4) - 5;
            const Cycles count = below(12);
            lanes.take(lane, first, count);
            for (Cycles e = std::max<Cycles>(first, 0); e < first + count; ++e)
                taken[lane][static_cast<std::size_t>(e)] = true;

            const auto asked = static_cast<std::uint32_t>(below(kLanes));
            const Cycles from = below(kEnd / 4);
            const Cycles length = 1 + below(20);
            Cycles last = -1;
            for (Cycles e = from; e < from + length; ++e)
                last = taken[asked][static_cast<std::size_t>(e)] ? e : last;
            REQUIRE(lanes.last_taken(asked, from, length) == last);
            REQUIRE(lanes.any_taken(asked, from, length) == (last >= 0));
            REQUIRE(lanes.taken(asked, from) == taken[asked][static_cast<std::size_t>(from)]);

            std::vector<exchange_plan::LaneUse> uses;
            for (std::uint32_t l = 0; l < kLanes; ++l)
                uses.push_back({l, static_cast<std::int32_t>(below(15))});
            const auto is_free = [&](Cycles start) {
                return std::all_of(
                    uses.begin(), uses.end(), [&](const exchange_plan::LaneUse& use) {
                        for (Cycles e = start + use.offset; e < start + use.offset + length; ++e)
                            if (taken[use.lane][static_cast<std::size_t>(e)])
                                return false;
                        return true;
                    });
            };
            Cycles start = from;
            while (!is_free(start))
                ++start;
            REQUIRE(lanes.first_free(uses, from, length) == start);
            const auto all_free_at = [&](Cycles e) {
                return std::none_of(
                    uses.begin(), uses.end(), [&](const exchange_plan::LaneUse& use) {
                        return taken[use.lane][static_cast<std::size_t>(e + use.offset)];
                    });
            };
            for (const Cycles begin : {start, from}) { // the second may be taken
                std::int64_t free = 0;
                while (free < 50 && all_free_at(begin + free))
                    ++free;
                REQUIRE(lanes.free_from(uses, begin, 50) == free);
                REQUIRE(lanes.free_from(uses, begin, 2) == std::min<std::int64_t>(free, 2));
            }
        }
    }
}

TEST_CASE("marks are of single events, and none stands below 0", "[exchange][lanes]") {
    exchange_plan::EventMarks marks;
    CHECK_FALSE(marks.any_marked(-2, 3));
    for (const Cycles event : {-1, 0, 63, 64, 300})
        marks.mark(event);
    const std::set<Cycles> marked{0, 63, 64, 300};
    for (Cycles event = -3; event < 1000; ++event) {
        CAPTURE(event);
        REQUIRE(marks.marked(event) == marked.contains(event));
        REQUIRE(
            marks.any_marked(event, 3) ==
            (marked.contains(event) || marked.contains(event + 1) || marked.contains(event + 2)));
    }
}

TEST_CASE("a message leaves as early as muxes and lanes let it", "[exchange][schedule]") {
    for (const Bytes lane_bytes : {4, 8, 16}) {
        auto machine = kMachine;
        machine.exchange.lane_bytes = lane_bytes;
        const Cycles words = 37;
        const Cycles events = (4 * words + lane_bytes - 1) / lane_bytes;
        // Of one sender: one after another. Into one receiver: by its mux.
        const Placed placed{machine,
                            {transfer(736, 0x80000, 4 * words, {{100, 0xa0000}}),
                             transfer(736, 0x88000, 4 * words, {{102, 0xa0000}}),
                             transfer(8, 0x80000, 4 * words, {{100, 0xb0000}})}};
        const auto& timing = placed.timing;
        const Cycles first = std::max<Cycles>(0, -timing.mux_offset(736, 100));
        CHECK(placed.starts[0] == first);
        CHECK(placed.starts[1] == std::max(first + events, -timing.mux_offset(736, 102)));
        // The third where its words are at the mux before those of the first, or behind them.
        const Cycles taken = first + timing.mux_offset(736, 100);
        Cycles start = std::max<Cycles>(0, -timing.mux_offset(8, 100));
        while (start + timing.mux_offset(8, 100) < taken + events &&
               taken < start + timing.mux_offset(8, 100) + events)
            ++start;
        CHECK(placed.starts[2] == start);
    }
}

TEST_CASE("reads and writes of one element keep seven events from each other",
          "[exchange][schedule]") {
    // docs/models/exchange.md#how-the-planner-finds-its-starts: a write may be 7 events late.
    constexpr Cycles kMargin = 7;
    const Cycles words = 50;
    for (const Address element : {0x60000U, 0x90000U}) {
        const auto taken = transfer(736, 0x70000, 4 * words, {{100, element}});
        const Cycles sent_words = 200; // too many to go before what is received
        const auto sent = transfer(100, element + 0x1000, 4 * sent_words, {{740, 0x60000}});
        {
            const Placed placed{kMachine, {taken, sent}};
            const Cycles last = placed.starts[0] + words + placed.timing.latency(736, 100);
            CHECK(placed.starts[1] + 1 == last + 1 + kMargin);
        }
        {
            const Placed placed{kMachine, {sent, taken}};
            const Cycles last = placed.starts[0] + sent_words;
            const Cycles arrival = placed.starts[1] + 1 + placed.timing.latency(736, 100);
            const Cycles soonest = 1 + placed.timing.latency(736, 100);
            CHECK(arrival == std::max(last + 1 + kMargin, soonest));
        }
        {
            // The send fits before what is received if it ends with the margin before it.
            const Cycles first = 1 + Placed(kMachine, {taken}).timing.latency(736, 100);
            const Cycles start = Placed(kMachine, {sent}).starts[0];
            for (const Cycles room : {0, 1}) {
                auto shorter = sent;
                shorter.bytes = 4 * (first - 1 - start - kMargin + room);
                const Placed placed{kMachine, {taken, shorter}};
                CHECK((placed.starts[1] == start) == (room == 0));
            }
        }
        // In other elements nobody waits.
        const Placed apart{kMachine,
                           {transfer(736, 0x70000, 4 * words, {{100, element}}),
                            transfer(100, element + 0x8000, 4 * words, {{740, 0x60000}})}};
        CHECK(apart.starts[1] == std::max<Cycles>(0, -apart.timing.mux_offset(100, 740)));
    }
}

TEST_CASE("a wide message may end where its partner's first send begins", "[exchange][schedule]") {
    // The partner's send waits for a receiver that another tile keeps, so that it has a start to
    // end at.
    const auto kept = transfer(8, 0x80000, 1200, {{102, 0xa0000}});
    const auto partners = transfer(737, 0x80000, 400, {{102, 0xa8000}});
    const auto borrower = [](Cycles items) {
        return transfer(736, 0x80000, 8 * items, {{100, 0xa0000}, {101, 0xa0000}}, true);
    };
    const Cycles begin = Placed(kMachine, {kept, partners}).starts[1];
    const Placed alone{kMachine, {borrower(kMachine.exchange.pair_min_items)}};
    REQUIRE(alone.wide[0]);
    const Cycles items = begin - alone.starts[0];
    REQUIRE(items > kMachine.exchange.pair_min_items);
    for (const Cycles more : {-1, 0, 1}) {
        CAPTURE(more);
        const Placed placed{kMachine, {kept, partners, borrower(items + more)}};
        CHECK(placed.wide[2] == (more <= 0));
        if (more <= 0)
            CHECK(placed.starts[2] == alone.starts[0]);
    }
}

TEST_CASE("wide messages from the two directions keep two events from each other at a pair",
          "[exchange][schedule]") {
    const timing::ExchangeTiming timing{kMachine};
    const Cycles items = 400; // too many for the second to go before the first
    constexpr TileId kPair = 700;
    const auto mux_first = [&](TileId source, Cycles start) {
        return start + 1 +
               std::min(timing.mux_offset(source, kPair), timing.mux_offset(source, kPair + 1));
    };
    Cycles nearest = 1000;
    int pairs = 0;
    for (TileId one = 0; one < 1472; one += 94) {
        for (TileId two = 2; two < 1472; two += 94) {
            if (one / 2 == kPair / 2 || two / 2 == kPair / 2 ||
                timing.direction(one, kPair) == timing.direction(two, kPair))
                continue;
            const auto from = [&](TileId source, Address to) {
                return transfer(source, 0x60000, 8 * items, {{kPair, to}, {kPair + 1, to}}, true);
            };
            const Placed placed{kMachine, {from(one, 0xa0000), from(two, 0xb0000)}};
            REQUIRE(placed.wide == std::vector<bool>{true, true});
            const Cycles end = mux_first(one, placed.starts[0]) + items;
            const Cycles between = mux_first(two, placed.starts[1]) - end;
            CAPTURE(one, two);
            REQUIRE(between >= 2);
            nearest = std::min(nearest, between);
            ++pairs;
        }
    }
    CHECK(pairs > 20);
    CHECK(nearest == 2);
}

TEST_CASE(
    "of messages that can start at once those for who has most to take go first, then as given",
    "[exchange][schedule]") {
    const timing::ExchangeTiming timing{kMachine};
    // The first message is so long that all others wait for it alone.
    std::vector<program::Transfer> transfers{transfer(736, 0x60000, 8000, {{100, 0xa0000}})};
    constexpr TileId kMost = 5;
    for (TileId i = 1; i <= 8; ++i)
        transfers.push_back(
            transfer(736, 0x60000 + 1024 * i, i == kMost ? 240 : 120, {{100 + 4 * i, 0xa0000}}));
    const auto runs = timing::transfer_runs(kMachine, transfers);
    const auto list = exchange_plan::make_jobs(timing, transfers, runs);
    REQUIRE(list.jobs.size() == transfers.size());
    for (std::uint32_t i = 1; i < list.jobs.size(); ++i)
        REQUIRE(timing.mux_offset(736, 100) >= timing.mux_offset(736, 100 + 4 * i));
    const auto order = exchange_plan::earliest_order(list, timing.grid(), 1000);
    REQUIRE(order.has_value());
    CHECK(*order == exchange_plan::JobOrder{0, kMost, 1, 2, 3, 4, 6, 7, 8});
}

namespace {

/// The events of one row's controls and of the first words of its sends. Controls that change
/// nothing are left out: a double instruction may have one.
struct RowEvents {
    std::set<Cycles> wide;   ///< paired muxes and formats
    std::set<Cycles> plain;  ///< plain muxes
    std::set<Cycles> starts; ///< of messages

    explicit RowEvents(const program::ExchangeRow& row) {
        isa::MuxControl mux{false, 0x640};
        std::uint32_t format = 0;
        Cycles event = 0;
        for (const auto& in : instructions_of(row)) {
            const bool is_delay = in.op == isa::ExchangeOp::Delay ||
                                  in.op == isa::ExchangeOp::DelayXpic ||
                                  in.op == isa::ExchangeOp::DelayPic;
            const Cycles at = is_delay ? event + in.count : event + 1;
            if (in.mux && (in.mux->paired || *in.mux != mux))
                (in.mux->paired ? wide : plain).insert(at);
            if (in.mux && !in.mux->paired)
                mux = *in.mux;
            if (in.pointer && in.pointer->format && in.pointer->value != format) {
                wide.insert(at);
                format = in.pointer->value;
            }
            if (in.op == isa::ExchangeOp::Send)
                starts.insert(at);
            event += in.count;
        }
    }
};

} // namespace

TEST_CASE("no control and no start of a send stands beside a control of double width",
          "[exchange][schedule]") {
    spec::MachineSpec machine;
    machine.chip.tiles = 16;
    machine.exchange.pair_min_items = 3;
    std::mt19937 random{5};
    int wide_controls = 0;
    int near_starts = 0;
    for (int round = 0; round < 150; ++round) {
        std::vector<program::Transfer> transfers;
        std::vector<Address> at(16, 0xa0000);
        for (int i = 0; i < 40; ++i) {
            const auto source = static_cast<TileId>(random() % 16);
            const auto to = static_cast<TileId>(random() % 16);
            const Address from = 0x80000 + 8 * static_cast<Address>(random() % 512);
            if (to / 2 == source / 2)
                continue;
            if (i % 2 == 0) {
                const TileId even = to & ~1U;
                const auto bytes = static_cast<Bytes>(8 * (3 + random() % 12));
                const Address into = (std::max(at[even], at[even + 1]) + 15U) & ~7U;
                transfers.push_back(
                    transfer(source, from, bytes, {{even, into}, {even + 1, into}}, true));
                at[even] = at[even + 1] = into + static_cast<Address>(bytes);
            } else {
                const auto bytes = static_cast<Bytes>(4 * (1 + random() % 6));
                transfers.push_back(transfer(source, from, bytes, {{to, at[to] + 4}}));
                at[to] += 4 + static_cast<Address>(bytes);
            }
        }
        auto planned = exchange_plan::plan_exchange(machine, "x", transfers);
        CHECK_NOTHROW(execute(machine, planned));
        for (const auto& row : planned.rows) {
            const RowEvents events(row);
            for (const Cycles wide : events.wide) {
                CAPTURE(round, row.tile, wide);
                for (Cycles beside = wide - 1; beside <= wide + 1; ++beside)
                    REQUIRE(events.plain.count(beside) == 0);
                REQUIRE(events.starts.count(wide) == 0);
                REQUIRE(events.starts.count(wide + 1) == 0);
                ++wide_controls;
                near_starts += events.starts.count(wide - 1) + events.starts.count(wide + 2) > 0;
            }
        }
    }
    CHECK(wide_controls > 1000);
    CHECK(near_starts > 0); // as near as they may be
}

TEST_CASE("of all messages that wait the one that can start first is always next",
          "[exchange][schedule]") {
    const timing::ExchangeTiming timing{kMachine};
    std::mt19937 random{11};
    for (int round = 0; round < 20; ++round) {
        std::vector<program::Transfer> transfers;
        for (Address i = 0; i < 40; ++i) {
            const auto source = static_cast<TileId>(random() % 12);
            const auto to = 100 + static_cast<TileId>(random() % 6);
            transfers.push_back(transfer(source, 0x60000 + 4096 * i,
                                         4 * static_cast<Bytes>(1 + random() % 300),
                                         {{to, 0xa0000 + 4096 * i}}));
        }
        const auto runs = timing::transfer_runs(kMachine, transfers);
        const auto list = exchange_plan::make_jobs(timing, transfers, runs);
        const auto order = exchange_plan::earliest_order(list, timing.grid(), 100'000);
        REQUIRE(order.has_value());
        REQUIRE(std::set<std::uint32_t>(order->begin(), order->end()).size() == list.jobs.size());
        std::vector<Cycles> lane_free(200, 0);
        std::vector<Cycles> input_free(200, 1);
        const auto start_of = [&](std::uint32_t job) {
            const auto& to = list.of(list.jobs[job]).front();
            return std::max(lane_free[list.jobs[job].source],
                            input_free[to.tile] - 1 - to.offset(false));
        };
        for (auto next = order->begin(); next != order->end(); ++next) {
            const Cycles start = start_of(*next);
            for (auto later = next + 1; later != order->end(); ++later) {
                CAPTURE(round, *next, *later);
                REQUIRE(start <= start_of(*later));
            }
            const auto& to = list.of(list.jobs[*next]).front();
            const Cycles end = start + list.events(list.jobs[*next], false);
            lane_free[list.jobs[*next].source] = end;
            input_free[to.tile] = end + 1 + to.offset(false);
        }
    }
}
