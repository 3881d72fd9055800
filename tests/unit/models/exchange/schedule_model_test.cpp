// SPDX-License-Identifier: MIT
// Starts of messages and of their pieces beside a model that looks at every event and word.
#include "kernels/exchange_plan/exchange_orders.h"
#include "kernels/exchange_plan/exchange_schedule.h"
#include "tests/unit/models/exchange/support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

using namespace tessera;
using namespace tessera::exchange_test;

namespace {

constexpr TileId kTiles = 6;

/// Events in which lanes, muxes, controls and elements are taken.
class Model {
public:
    Model(const spec::MachineSpec& machine, const timing::ExchangeTiming& timing,
          const exchange_plan::JobList& list)
        : memory_(machine.memory), tail_(machine.exchange.row_tail_cycles), timing_(timing),
          list_(list) {
        for (const auto& job : list.jobs)
            for (const auto& to : list.of(job))
                if (job.wide)
                    tiles_[to.tile].takes_wide = true;
    }

    struct Piece {
        std::uint32_t first;
        std::uint32_t items;
        Cycles start;
        bool wide;
    };

    /// A wide message goes by words where its partner's lane cannot be borrowed.
    std::vector<Piece> place(const exchange_plan::Job& job, std::uint32_t least) {
        std::vector<Piece> pieces;
        if (job.wide) {
            const auto items = job.words / 2;
            for (Cycles start = least_start(job, true);; ++start) {
                if (!are_free(job, start, items, true))
                    continue;
                if (tiles_[job.source ^ 1U].first_send < start + list_.lane.events(items))
                    break;
                if (meets(job, 0, items, start, true))
                    continue;
                take(job, 0, items, start, true);
                return {{0, items, start, true}};
            }
        }
        Cycles start = least_start(job, false);
        for (std::uint32_t first = 0; first < job.words;) {
            const auto left = job.words - first;
            const auto shortest = least == 0 ? left : std::min(left, least * lane());
            while (!are_free(job, start, shortest, false) ||
                   meets(job, first, shortest, start, false))
                ++start;
            auto items = shortest;
            while (least > 0 && items < left && are_free(job, start, items + 1, false))
                ++items;
            if (items > shortest && meets(job, first, items, start, false))
                items = shortest;
            take(job, first, items, start, false);
            pieces.push_back({first, items, start, false});
            first += items;
            start += list_.lane.events(items);
        }
        return pieces;
    }

    std::map<TileId, Cycles> row_events;
    std::map<TileId, Cycles> borrowed_until;
    int met = 0; ///< events whose lanes were free, but not all the rest

private:
    using Events = std::set<Cycles>;
    struct Tile {
        bool takes_wide = false;
        Cycles first_send = 1'000'000;
        Events sent;
        Events received;                         ///< at the mux
        std::map<std::uint32_t, Events> against; ///< wide messages of a direction
        Events wide_runs;
        Events wide_controls;
        Events plain_controls;
        Events send_starts;
    };

    [[nodiscard]] std::uint32_t lane() const {
        return static_cast<std::uint32_t>(list_.lane.items());
    }
    [[nodiscard]] Cycles least_start(const exchange_plan::Job& job, bool wide) const {
        Cycles start = 0;
        for (const auto& to : list_.of(job))
            start = std::max<Cycles>(start, -to.offset(wide));
        return start;
    }
    [[nodiscard]] std::int64_t element_of(Address address) const {
        if (address < memory_.region1_begin())
            return (address - memory_.region0_begin()) / memory_.element_bytes;
        return 1000 + (address - memory_.region1_begin()) / (2 * memory_.element_bytes);
    }
    [[nodiscard]] Cycles arrival(const exchange_plan::Receiver& to, Cycles start, bool wide) const {
        return start + 1 + to.offset(wide) + (wide ? 1 : 0) + timing_.mux_to_pointer(to.tile);
    }
    [[nodiscard]] bool are_free(const exchange_plan::Job& job, Cycles start, std::uint32_t items,
                                bool wide) {
        const auto events = list_.lane.events(items);
        for (Cycles event = start + 1; event <= start + events; ++event) {
            if (tiles_[job.source].sent.count(event) > 0)
                return false;
            for (const auto& to : list_.of(job)) {
                auto& tile = tiles_[to.tile];
                if ((wide ? tile.against[to.direction] : tile.received)
                        .count(event + to.offset(wide)) > 0)
                    return false;
            }
        }
        return true;
    }
    /// Calls `visit(tile, writes, element, event)` for each event in which an item is on its way
    /// from or to an element.
    template <typename Visit>
    void for_items(const exchange_plan::Job& job, std::uint32_t first, std::uint32_t items,
                   Cycles start, bool wide, const Visit& visit) const {
        const Address bytes = wide ? 8 : 4;
        for (std::uint32_t i = 0; i < items; ++i)
            for (Cycles late = 0; late <= 7; ++late) {
                const Cycles later = i / lane() + late;
                const Address offset = bytes * (first + i);
                visit(job.source, false, element_of(job.address + offset), start + 1 + later);
                for (const auto& to : list_.of(job))
                    visit(to.tile, true, element_of(to.address + offset),
                          arrival(to, start, wide) + later);
            }
    }
    static bool any(const Events& events, Cycles first, Cycles last) {
        const auto next = events.lower_bound(first);
        return next != events.end() && *next <= last;
    }
    /// Elements and controls.
    [[nodiscard]] bool meets(const exchange_plan::Job& job, std::uint32_t first,
                             std::uint32_t items, Cycles start, bool wide) {
        bool found = false;
        for_items(job, first, items, start, wide,
                  [&](TileId tile, bool writes, std::int64_t element, Cycles event) {
                      found = found || in_element_.count({tile, !writes, element, event}) > 0;
                  });
        const auto& sender = tiles_[job.source];
        found = found || (sender.takes_wide && (any(sender.wide_controls, start, start + 1) ||
                                                sender.plain_controls.count(start + 1) > 0));
        const auto events = list_.lane.events(items);
        for (const auto& to : list_.of(job)) {
            const auto& tile = tiles_[to.tile];
            if (!tile.takes_wide)
                continue;
            const Cycles mux = start + 1 + to.offset(wide);
            const Cycles at = arrival(to, start, wide);
            if (!wide) {
                for (const Cycles event : {mux, mux + events, at})
                    found = found || any(tile.wide_controls, event - 1, event + 1) ||
                            tile.send_starts.count(event) > 0;
                continue;
            }
            const bool joins_before = tile.wide_runs.count(mux - 1) > 0;
            const bool joins_after = tile.wide_runs.count(mux + events) > 0;
            std::vector<Cycles> controls{at};
            if (!to.late() && !joins_before)
                controls.push_back(mux);
            if (!to.late() && !joins_after)
                controls.push_back(mux + events);
            if (!joins_before)
                controls.push_back(at - 2);
            if (!joins_after)
                controls.push_back(at - 2 + events);
            for (const Cycles event : controls)
                found = found || event < 1 || tile.wide_controls.count(event) > 0 ||
                        any(tile.plain_controls, event - 1, event + 1) ||
                        any(tile.send_starts, event, event + 1);
        }
        met += found ? 1 : 0;
        return found;
    }
    void take(const exchange_plan::Job& job, std::uint32_t first, std::uint32_t items, Cycles start,
              bool wide) {
        const auto events = list_.lane.events(items);
        auto& sender = tiles_[job.source];
        sender.first_send = std::min(sender.first_send, start);
        sender.send_starts.insert(start + 1);
        const auto until = [&](TileId tile, Cycles event) {
            row_events[tile] = std::max(row_events[tile], event);
        };
        until(job.source, start + events);
        const auto mark = [](Events& taken, Cycles from, Cycles last) {
            for (Cycles event = from; event <= last; ++event)
                taken.insert(event);
        };
        mark(sender.sent, start + 1, start + events);
        if (wide) {
            const TileId partner = job.source ^ 1U;
            mark(tiles_[partner].sent, 0, start + events);
            borrowed_until[partner] = std::max(borrowed_until[partner], start + events);
            until(partner, start + events);
        }
        for (const auto& to : list_.of(job)) {
            auto& tile = tiles_[to.tile];
            const Cycles mux = start + 1 + to.offset(wide);
            const Cycles at = arrival(to, start, wide);
            until(to.tile, std::max(mux + events, at + events - 1 + tail_));
            const Cycles beside = wide ? 1 : 0;
            mark(tile.received, mux - beside, mux + events - 1 + beside);
            for (const std::uint32_t direction : {1U, 2U}) {
                const Cycles margin = !wide ? 1 : direction == to.direction ? 0 : 2;
                mark(tile.against[direction], mux - margin, mux + events - 1 + margin);
            }
            if (!wide) {
                tile.plain_controls.insert({mux, mux + events, at});
                continue;
            }
            mark(tile.wide_runs, mux, mux + events - 1);
            tile.wide_controls.insert({at, at - 2, at - 2 + events});
            if (!to.late())
                tile.wide_controls.insert({mux, mux + events});
        }
        for_items(job, first, items, start, wide,
                  [&](TileId tile, bool writes, std::int64_t element, Cycles event) {
                      in_element_.insert({tile, writes, element, event});
                  });
    }

    spec::MemorySpec memory_;
    Cycles tail_;
    const timing::ExchangeTiming& timing_;
    const exchange_plan::JobList& list_;
    std::map<TileId, Tile> tiles_;
    std::set<std::tuple<TileId, bool, std::int64_t, Cycles>> in_element_;
};

/// Places the list as given, and compares; the messages of double width.
int check_placed(const spec::MachineSpec& machine, const timing::ExchangeTiming& timing,
                 const exchange_plan::JobList& list, const exchange_plan::PlacementRules& rules,
                 Model& model) {
    exchange_plan::MessagePlacer placer{machine, timing, list};
    REQUIRE(placer.place_all(exchange_plan::given_order(list), rules));
    const exchange_plan::Schedule& schedule = placer.schedule();
    std::vector<exchange_plan::Placement> expected;
    std::vector<exchange_plan::Placement> others;
    int wide = 0;
    for (std::uint32_t job = 0; job < list.jobs.size(); ++job)
        for (const auto& piece : model.place(list.jobs[job], rules.least_piece)) {
            (piece.first == 0 ? expected : others)
                .push_back({job, piece.first, piece.items, piece.wide, piece.start});
            wide += piece.wide ? 1 : 0;
        }
    expected.insert(expected.end(), others.begin(), others.end());
    const auto& placed = schedule.placements;
    REQUIRE(placed.size() == expected.size());
    for (std::size_t i = 0; i < placed.size(); ++i) {
        CAPTURE(i);
        REQUIRE(placed[i].job == expected[i].job);
        REQUIRE(placed[i].first == expected[i].first);
        REQUIRE(placed[i].items == expected[i].items);
        REQUIRE(placed[i].wide == expected[i].wide);
        REQUIRE(placed[i].start == expected[i].start);
    }
    Cycles longest = 0;
    for (TileId tile = 0; tile < static_cast<TileId>(machine.chip.tiles); ++tile) {
        REQUIRE(schedule.rows[tile].events == model.row_events[tile]);
        REQUIRE(schedule.rows[tile].borrowed_until == model.borrowed_until[tile]);
        longest = std::max(longest, model.row_events[tile]);
    }
    REQUIRE(schedule.longest_row_events == longest);
    for (const Cycles more : {0, 1}) {
        exchange_plan::MessagePlacer limited{machine, timing, list};
        const bool shorter =
            limited.place_all(exchange_plan::given_order(list), rules, longest + more);
        REQUIRE(shorter == (more > 0));
    }
    return wide;
}

} // namespace

TEST_CASE("messages and pieces leave at the first event that no rule forbids",
          "[exchange][schedule]") {
    int met = 0;
    for (unsigned round = 0; round < 90; ++round) {
        std::mt19937 random{round};
        const auto below = [&](std::uint32_t limit) {
            return static_cast<std::uint32_t>(random() % limit);
        };
        spec::MachineSpec machine;
        machine.chip.tiles = kTiles;
        machine.memory.element_bytes = 64;
        machine.memory.region0_bytes = 5 * 64;
        machine.memory.region1_bytes = 7 * 128;
        machine.exchange.lane_bytes = Bytes{4} << below(3);
        const timing::ExchangeTiming timing{machine};
        const Address begin = machine.memory.region0_begin();
        // words of elements that many share; which of them stands there is of no account here
        std::vector<program::Transfer> transfers;
        for (std::uint32_t i = 0; i < 12; ++i) {
            const std::uint32_t words = 1 + below(40);
            const auto address = [&] {
                return begin + 4 * below(static_cast<std::uint32_t>(machine.memory.bytes() / 4 -
                                                                    words + 1));
            };
            const TileId source = below(kTiles);
            std::vector<program::Destination> to;
            for (std::uint32_t k = 1 + below(2); k > 0; --k)
                to.push_back({(source + k) % kTiles, address()});
            transfers.push_back(transfer(source, address(), 4 * Bytes{words}, to));
        }
        const auto runs = timing::transfer_runs(machine, transfers);
        const auto list = exchange_plan::make_jobs(timing, transfers, runs);
        const std::uint32_t least = round % 3;
        CAPTURE(round, least, machine.exchange.lane_bytes);
        Model model(machine, timing, list);
        CHECK(check_placed(machine, timing, list, {.wide = true, .least_piece = least}, model) ==
              0);
        met += model.met;
    }
    CHECK(met > 100);
}

TEST_CASE("messages of double width leave at the first event that no rule forbids",
          "[exchange][schedule]") {
    int met = 0;
    int wide = 0;
    int lowered = 0;
    for (unsigned round = 0; round < 150; ++round) {
        std::mt19937 random{round};
        const auto below = [&](std::uint32_t limit) {
            return static_cast<std::uint32_t>(random() % limit);
        };
        constexpr TileId kMany = 70; // some of them in another column
        spec::MachineSpec machine;
        machine.chip.tiles = kMany;
        machine.exchange.lane_bytes = Bytes{4} << below(3);
        machine.exchange.pair_min_items = 3;
        machine.exchange.mux_to_pointer_cycles = 3 + below(40);
        const timing::ExchangeTiming timing{machine};
        std::vector<TileId> pairs;
        for (int i = 0; i < 4; ++i)
            pairs.push_back(2 * below(kMany / 2));
        std::vector<program::Transfer> transfers;
        for (Address i = 0; i < 10; ++i) {
            const bool as_wide = below(3) > 0;
            const TileId source = pairs[below(4)] + below(2);
            const auto words = as_wide ? 8 + 2 * below(20) : 1 + below(20);
            const Address from = (below(6) == 0 ? 0xb0000 : 0x60000) + 512 * i;
            std::vector<program::Destination> to;
            for (std::uint32_t k = 1 + below(2); k > 0; --k) {
                const TileId pair = pairs[below(4)];
                const bool known = std::any_of(to.begin(), to.end(), [&](const auto& other) {
                    return other.tile / 2 == pair / 2;
                });
                if (pair == source / 2 * 2 || known)
                    continue;
                for (const TileId member : {0U, 1U})
                    if (as_wide || below(2) == 0)
                        to.push_back({pair + member, 0xb0000 + 512 * (i + 20)});
            }
            if (!to.empty())
                transfers.push_back(transfer(source, from, 4 * Bytes{words}, to, as_wide));
        }
        const auto list =
            exchange_plan::make_jobs(timing, transfers, timing::transfer_runs(machine, transfers));
        const exchange_plan::PlacementRules rules{.wide = true,
                                                  .least_piece = round % 4 == 3 ? 1U : 0U};
        CAPTURE(round, machine.exchange.lane_bytes);
        Model model(machine, timing, list);
        const int placed = check_placed(machine, timing, list, rules, model);
        met += model.met;
        wide += placed;
        for (const auto& job : list.jobs)
            lowered += job.wide ? 1 : 0;
    }
    CHECK(met > 100);
    CHECK(wide > 200);
    CHECK(lowered > wide + 10);
}
