// SPDX-License-Identifier: MIT
// Starts of messages and of their pieces beside a model that looks at every event and word.
#include "kernels/exchange/exchange_orders.h"
#include "kernels/exchange/exchange_schedule.h"
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

/// Events in which lanes, muxes and elements are taken.
class Model {
public:
    Model(const spec::MachineSpec& machine, const timing::ExchangeTiming& timing,
          const plan::JobList& list)
        : memory_(machine.memory), tail_(machine.exchange.row_tail_cycles), timing_(timing),
          list_(list) {}

    struct Piece {
        std::uint32_t first;
        std::uint32_t items;
        Cycles start;
    };

    std::vector<Piece> place(const plan::Job& job, std::uint32_t least) {
        Cycles start = 0;
        for (const auto& to : list_.of(job))
            start = std::max<Cycles>(start, -to.mux_offset);
        std::vector<Piece> pieces;
        for (std::uint32_t first = 0; first < job.words;) {
            const auto left = job.words - first;
            const auto shortest = least == 0 ? left : std::min(left, least * lane());
            while (!are_free(job, start, shortest) || meets(job, first, shortest, start))
                ++start;
            auto items = shortest;
            while (least > 0 && items < left && are_free(job, start, items + 1))
                ++items;
            if (items > shortest && meets(job, first, items, start))
                items = shortest;
            take(job, first, items, start);
            pieces.push_back({first, items, start});
            first += items;
            start += list_.lane.events(items);
        }
        return pieces;
    }

    std::map<TileId, Cycles> row_events;
    int met = 0; ///< events that were free but for an element

private:
    [[nodiscard]] std::uint32_t lane() const {
        return static_cast<std::uint32_t>(list_.lane.items());
    }
    [[nodiscard]] std::int64_t element_of(Address address) const {
        if (address < memory_.region1_begin())
            return (address - memory_.region0_begin()) / memory_.element_bytes;
        return 1000 + (address - memory_.region1_begin()) / (2 * memory_.element_bytes);
    }
    [[nodiscard]] bool are_free(const plan::Job& job, Cycles start, std::uint32_t items) {
        const auto events = list_.lane.events(items);
        for (Cycles event = start + 1; event <= start + events; ++event) {
            if (sent_[job.source].count(event) > 0)
                return false;
            for (const auto& to : list_.of(job))
                if (received_[to.tile].count(event + to.mux_offset) > 0)
                    return false;
        }
        return true;
    }
    /// Calls `visit(tile, writes, element, event)` for each event in which a word is on its way
    /// from or to an element.
    template <typename Visit>
    void for_words(const plan::Job& job, std::uint32_t first, std::uint32_t items, Cycles start,
                   const Visit& visit) const {
        for (std::uint32_t i = 0; i < items; ++i)
            for (Cycles late = 0; late <= 7; ++late) {
                const Cycles event = start + 1 + i / lane() + late;
                visit(job.source, false, element_of(job.address + 4 * (first + i)), event);
                for (const auto& to : list_.of(job))
                    visit(to.tile, true, element_of(to.address + 4 * (first + i)),
                          event + timing_.latency(job.source, to.tile));
            }
    }
    [[nodiscard]] bool meets(const plan::Job& job, std::uint32_t first, std::uint32_t items,
                             Cycles start) {
        bool found = false;
        for_words(job, first, items, start,
                  [&](TileId tile, bool writes, std::int64_t element, Cycles event) {
                      found = found || in_element_.count({tile, !writes, element, event}) > 0;
                  });
        met += found ? 1 : 0;
        return found;
    }
    void take(const plan::Job& job, std::uint32_t first, std::uint32_t items, Cycles start) {
        const auto events = list_.lane.events(items);
        row_events[job.source] = std::max(row_events[job.source], start + events);
        for (const auto& to : list_.of(job)) {
            auto& row = row_events[to.tile];
            const auto arrival = start + 1 + timing_.latency(job.source, to.tile);
            row = std::max({row, start + 1 + to.mux_offset + events, arrival + events - 1 + tail_});
        }
        for (Cycles event = start + 1; event <= start + events; ++event) {
            sent_[job.source].insert(event);
            for (const auto& to : list_.of(job))
                received_[to.tile].insert(event + to.mux_offset);
        }
        for_words(job, first, items, start,
                  [&](TileId tile, bool writes, std::int64_t element, Cycles event) {
                      in_element_.insert({tile, writes, element, event});
                  });
    }

    spec::MemorySpec memory_;
    Cycles tail_;
    const timing::ExchangeTiming& timing_;
    const plan::JobList& list_;
    std::map<TileId, std::set<Cycles>> sent_;
    std::map<TileId, std::set<Cycles>> received_; ///< at the mux
    std::set<std::tuple<TileId, bool, std::int64_t, Cycles>> in_element_;
};

} // namespace

TEST_CASE("messages and pieces leave at the first event that no rule forbids",
          "[exchange][schedule]") {
    std::size_t divided = 0;
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
        const auto list = plan::make_jobs(timing, transfers, runs);
        const std::uint32_t least = round % 3;
        CAPTURE(round, least, machine.exchange.lane_bytes);
        plan::ExchangeSchedule schedule{machine, timing, list};
        schedule.place_all(plan::given_order(list), {.wide = true, .least_piece = least});

        Model model(machine, timing, list);
        std::vector<plan::Placement> first_pieces;
        std::vector<plan::Placement> others;
        for (std::uint32_t job = 0; job < list.jobs.size(); ++job)
            for (const auto& piece : model.place(list.jobs[job], least))
                (piece.first == 0 ? first_pieces : others)
                    .push_back({job, piece.first, piece.items, false, piece.start});
        divided += others.size();
        first_pieces.insert(first_pieces.end(), others.begin(), others.end());
        const auto& placed = schedule.placements();
        REQUIRE(placed.size() == first_pieces.size());
        for (std::size_t i = 0; i < placed.size(); ++i) {
            CAPTURE(i);
            REQUIRE(placed[i].job == first_pieces[i].job);
            REQUIRE(placed[i].first == first_pieces[i].first);
            REQUIRE(placed[i].items == first_pieces[i].items);
            REQUIRE(placed[i].start == first_pieces[i].start);
            REQUIRE_FALSE(placed[i].wide);
        }
        Cycles longest = 0;
        for (TileId tile = 0; tile < kTiles; ++tile) {
            REQUIRE(schedule.row_events(tile) == model.row_events[tile]);
            REQUIRE(schedule.borrowed_until(tile) == 0);
            longest = std::max(longest, model.row_events[tile]);
        }
        REQUIRE(schedule.longest_row_events() == longest);
        met += model.met;
    }
    CHECK(divided > 30);
    CHECK(met > 100);
}
