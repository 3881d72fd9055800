// SPDX-License-Identifier: MIT
// Orders of messages, and how multicasts are taken apart, beside their definitions.
#include "kernels/exchange_plan/exchange_groups.h"
#include "kernels/exchange_plan/exchange_late_first.h"
#include "kernels/exchange_plan/exchange_orders.h"
#include "kernels/exchange_plan/exchange_parts.h"
#include "kernels/exchange_plan/exchange_planner.h"
#include "tests/unit/models/exchange/support.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>

using namespace tessera;
using namespace tessera::exchange_test;
using exchange_plan::Job;
using exchange_plan::JobList;
using exchange_plan::JobOrder;

namespace {

constexpr TileId kTiles = 200;

spec::MachineSpec some_machine() {
    spec::MachineSpec machine;
    machine.chip.tiles = kTiles;
    return machine;
}

/// Random messages between some tiles, and what they are made with.
struct Messages {
    spec::MachineSpec machine = some_machine();
    timing::ExchangeTiming timing{machine};
    JobList list{timing.lane()};

    explicit Messages(unsigned seed, std::uint32_t tiles = 12, std::uint32_t most = 40,
                      std::uint32_t most_receivers = 4, Bytes most_words = 60) {
        std::mt19937 random{seed};
        std::vector<TileId> some(tiles);
        for (auto& tile : some)
            tile = static_cast<TileId>(random() % kTiles);
        std::vector<program::Transfer> transfers;
        const auto count = static_cast<Address>(1 + random() % most);
        for (Address i = 0; i < count; ++i) {
            const auto source = some[random() % tiles];
            std::vector<program::Destination> to;
            for (auto left = 1 + random() % most_receivers; left > 0; --left) {
                const auto tile = some[random() % tiles];
                if (tile != source && std::none_of(to.begin(), to.end(), [&](const auto& other) {
                        return other.tile == tile;
                    }))
                    to.push_back({tile, 0x90000 + 512 * i});
            }
            if (!to.empty())
                transfers.push_back(transfer(
                    source, 0x60000 + 512 * i,
                    4 * (1 + static_cast<Bytes>(random() % static_cast<unsigned>(most_words))),
                    to));
        }
        add(transfers);
    }
    explicit Messages(const std::vector<program::Transfer>& transfers) { add(transfers); }

    /// Jobs by ascending `key`, equal ones as given.
    template <typename Key> [[nodiscard]] JobOrder by(Key key) const {
        auto order = exchange_plan::given_order(list);
        std::stable_sort(order.begin(), order.end(),
                         [&](auto a, auto b) { return key(a) < key(b); });
        return order;
    }

private:
    void add(const std::vector<program::Transfer>& transfers) {
        list =
            exchange_plan::make_jobs(timing, transfers, timing::transfer_runs(machine, transfers));
    }
};

/// Least round in which no tile of `used` has one; takes them in it.
std::uint32_t claimed(std::map<TileId, std::set<std::uint32_t>>& rounds,
                      const std::vector<TileId>& used) {
    for (std::uint32_t round = 0;; ++round)
        if (std::none_of(used.begin(), used.end(),
                         [&](TileId one) { return rounds[one].count(round) > 0; })) {
            for (const auto one : used)
                rounds[one].insert(round);
            return round;
        }
}

/// Groups of pairs as they appear, and the group of each job.
std::pair<std::vector<std::vector<TileId>>, std::vector<std::uint32_t>>
groups_of(const JobList& list, bool with_sender) {
    std::vector<std::vector<TileId>> groups;
    std::vector<std::uint32_t> of_job;
    for (const auto& job : list.jobs) {
        std::set<TileId> pairs;
        for (const auto& to : list.of(job))
            pairs.insert(to.tile / 2 * 2);
        if (with_sender)
            pairs.insert(job.source / 2 * 2);
        const std::vector<TileId> group(pairs.begin(), pairs.end());
        const auto known = std::find(groups.begin(), groups.end(), group);
        of_job.push_back(static_cast<std::uint32_t>(known - groups.begin()));
        if (known == groups.end())
            groups.push_back(group);
    }
    return {groups, of_job};
}

std::vector<TileId> in_ring(std::set<TileId> tiles, const timing::TileGrid& grid) {
    std::vector<std::tuple<std::int64_t, std::int64_t, std::int64_t, TileId>> placed;
    for (const auto tile : tiles) {
        const auto& at = grid.position(tile);
        placed.emplace_back(at.column, at.sub, at.row, tile);
    }
    std::sort(placed.begin(), placed.end());
    std::vector<TileId> ring;
    for (const auto& each : placed)
        ring.push_back(std::get<3>(each));
    return ring;
}

} // namespace

TEST_CASE("groups of messages are the pairs that they go to, or go between", "[exchange][orders]") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const Messages some(seed, 5, 60);
        for (const bool with_sender : {false, true}) {
            const auto found = exchange_plan::find_groups(
                some.list, 1,
                with_sender ? exchange_plan::GroupBy::AllTiles : exchange_plan::GroupBy::Receivers);
            const auto [groups, of_job] = groups_of(some.list, with_sender);
            REQUIRE(found.pairs == groups);
            REQUIRE(found.group_of_job == of_job);
        }
    }
}

TEST_CASE("messages are ordered by how far they go round the ring", "[exchange][orders]") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const Messages some(seed);
        const auto& list = some.list;
        std::set<TileId> tiles;
        for (const auto& job : list.jobs) {
            tiles.insert(job.source);
            tiles.insert(list.of(job).front().tile);
        }
        const auto ring = in_ring(tiles, some.timing.grid());
        const auto place = [&](TileId tile) {
            return static_cast<std::size_t>(std::find(ring.begin(), ring.end(), tile) -
                                            ring.begin());
        };
        REQUIRE(exchange_plan::shift_order(list,
                                           some.timing.grid()) == some.by([&](std::uint32_t job) {
            const auto& at = list.jobs[job];
            return (place(list.of(at).front().tile) + ring.size() - place(at.source)) % ring.size();
        }));
    }
}

TEST_CASE("the busiest tile's messages come first", "[exchange][orders]") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const Messages some(seed);
        const auto& list = some.list;
        std::map<TileId, std::int64_t> out;
        std::map<TileId, std::int64_t> in;
        for (const auto& job : list.jobs) {
            out[job.source] += job.words;
            for (const auto& to : list.of(job))
                in[to.tile] += job.words;
        }
        REQUIRE(exchange_plan::busiest_order(list, some.timing.grid()) ==
                some.by([&](std::uint32_t job) {
                    auto load = out[list.jobs[job].source];
                    for (const auto& to : list.of(list.jobs[job]))
                        load = std::max(load, in[to.tile]);
                    return -load;
                }));
    }
}

TEST_CASE("in a round a tile sends and receives one message", "[exchange][orders]") {
    for (unsigned seed = 0; seed < 40; ++seed) {
        // more than 64 and 128 rounds, too
        const Messages some(seed, 3 + seed % 9, seed % 4 == 0 ? 400 : 60, 1 + seed % 3);
        const auto& list = some.list;
        std::map<TileId, std::set<std::uint32_t>> rounds;
        std::vector<std::uint32_t> of_job;
        for (const auto& job : list.jobs) {
            std::vector<TileId> used{kTiles + job.source};
            for (const auto& to : list.of(job))
                used.push_back(to.tile);
            of_job.push_back(claimed(rounds, used));
        }
        REQUIRE(exchange_plan::round_order(list, some.timing.grid()) ==
                some.by([&](std::uint32_t job) { return of_job[job]; }));
    }
}

TEST_CASE("groups that share receivers go one after another", "[exchange][orders]") {
    int closed_ones = 0;
    for (unsigned seed = 0; seed < 120; ++seed) {
        Messages some(seed, 4 + seed % 5, 60, 1 + seed % 4);
        if (seed % 3 == 0) { // to the other pairs of a group of four tiles
            std::vector<program::Transfer> transfers;
            for (TileId source = 0; source < 4 + 4 * (seed % 4); ++source) {
                std::vector<program::Destination> to;
                for (TileId i = 0; i < 4; ++i)
                    if (const auto tile = source / 4 * 4 + i; tile / 2 != source / 2)
                        to.push_back({tile, 0x90000 + 512 * source});
                transfers.push_back(transfer(source, 0x60000, 400, to));
            }
            some = Messages(transfers);
        }
        const auto& list = some.list;
        auto [groups, of_job] = groups_of(list, false);
        if (auto closed = groups_of(list, true); closed.first.size() < groups.size()) {
            std::tie(groups, of_job) = closed;
            ++closed_ones;
        }
        std::map<TileId, std::set<std::uint32_t>> rounds;
        std::vector<std::uint32_t> of_group;
        for (const auto& group : groups)
            of_group.push_back(claimed(rounds, group));
        REQUIRE(exchange_plan::grouped_order(list, some.timing.grid()) ==
                some.by([&, of = of_job](std::uint32_t job) {
                    return std::tuple{of_group[of[job]], of[job], list.jobs[job].source,
                                      !list.jobs[job].wide};
                }));
    }
    CHECK(closed_ones > 10);
}

TEST_CASE("wide messages of a sender go before its others", "[exchange][orders]") {
    const Messages some({transfer(0, 0x60000, 400, {{2, 0x90000}, {3, 0x90000}}),
                         transfer(0, 0x61000, 1024, {{2, 0x91000}, {3, 0x91000}}, true),
                         transfer(0, 0x62000, 400, {{2, 0x92000}, {3, 0x92000}})});
    REQUIRE(some.list.jobs.at(1).wide);
    CHECK(exchange_plan::grouped_order(some.list, some.timing.grid()) == JobOrder{1, 0, 2});
}

TEST_CASE("of a sender's messages that start at once the one with most to take goes first",
          "[exchange][orders]") {
    int ties = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        const Messages some(seed, 2 + seed % 8, 40, 1 + seed % 3, 1 + seed % 3);
        const auto& list = some.list;
        const auto order = exchange_plan::earliest_order(list, some.timing.grid(), 1'000'000);
        REQUIRE(order);
        std::map<TileId, Cycles> lane_free;
        std::map<TileId, Cycles> input_free;
        std::map<TileId, std::int64_t> to_take;
        for (const auto& job : list.jobs)
            for (const auto& to : list.of(job)) {
                to_take[to.tile] += job.words;
                input_free[to.tile] = 1;
            }
        const auto rank = [&](std::uint32_t index) {
            const auto& job = list.jobs[index];
            auto start = lane_free[job.source];
            std::int64_t most = 0;
            for (const auto& to : list.of(job)) {
                start = std::max(start, input_free[to.tile] - 1 - to.offset(job.wide));
                most = std::max(most, to_take[to.tile]);
            }
            return std::tuple{start, -most, index};
        };
        for (auto next = order->begin(); next != order->end(); ++next) {
            const auto& job = list.jobs[*next];
            const auto own = rank(*next);
            for (auto later = next + 1; later != order->end(); ++later) {
                REQUIRE(std::get<0>(own) <= std::get<0>(rank(*later)));
                if (list.jobs[*later].source == job.source) {
                    REQUIRE(own < rank(*later));
                    ties += std::get<0>(own) == std::get<0>(rank(*later)) ? 1 : 0;
                }
            }
            const auto end = std::get<0>(own) + list.events(job, job.wide);
            lane_free[job.source] = end;
            for (const auto& to : list.of(job)) {
                input_free[to.tile] = end + 1 + to.offset(job.wide);
                to_take[to.tile] -= job.words;
            }
        }
    }
    CHECK(ties > 50);
}

TEST_CASE("a search for the earliest gives up where it would look too often",
          "[exchange][orders]") {
    for (std::size_t jobs = 1; jobs <= 6; ++jobs)
        for (TileId receivers = 1; receivers <= 3; ++receivers) {
            std::vector<program::Transfer> transfers;
            for (std::size_t i = 0; i < jobs; ++i) {
                std::vector<program::Destination> to;
                for (TileId tile = 1; tile <= receivers; ++tile)
                    to.push_back({tile, static_cast<Address>(0x90000 + 512 * i)});
                transfers.push_back(transfer(0, static_cast<Address>(0x60000 + 512 * i), 8, to));
            }
            const Messages some(transfers);
            const auto looks = jobs * (jobs + 1) / 2 * receivers;
            CHECK(exchange_plan::earliest_order(some.list, some.timing.grid(), looks).has_value());
            CHECK_FALSE(exchange_plan::earliest_order(some.list, some.timing.grid(), looks - 1)
                            .has_value());
        }
}

TEST_CASE("messages of late tiles pass the others, again and again", "[exchange][orders]") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        const Messages some(seed, 4 + seed % 12, 40, 1 + seed % 4);
        const auto& list = some.list;
        auto order = exchange_plan::shift_order(list, some.timing.grid());
        exchange_plan::LateFirst orders{list, order, kTiles};
        std::vector<std::int64_t> places(order.size());
        for (std::size_t place = 0; place < order.size(); ++place)
            places[order[place]] = static_cast<std::int64_t>(place);
        for (int again = 0; again < 3; ++again) {
            exchange_plan::MessagePlacer placer{some.machine, some.timing, list};
            REQUIRE(placer.place_all(order, {.least_piece = 2}));
            const auto& schedule = placer.schedule();
            std::map<TileId, Cycles> sent;
            std::map<TileId, Cycles> taken;
            Cycles last = 0;
            for (const auto& placed : schedule.placements) {
                const auto& job = list.jobs[placed.job];
                const auto end = placed.end(list.lane);
                sent[job.source] = std::max(sent[job.source], end);
                for (const auto& to : list.of(job)) {
                    taken[to.tile] = std::max(taken[to.tile], end + to.offset(placed.wide));
                    last = std::max(last, taken[to.tile]);
                }
            }
            for (std::size_t index = 0; index < list.jobs.size(); ++index) {
                const auto& job = list.jobs[index];
                auto end = sent[job.source];
                for (const auto& to : list.of(job))
                    end = std::max(end, taken[to.tile]);
                const auto passed =
                    static_cast<Cycles>(list.jobs.size()) * std::max<Cycles>(2 * end - last, 0);
                places[index] -= passed / last;
            }
            order = orders.next(schedule);
            REQUIRE(order == some.by([&](std::uint32_t job) { return places[job]; }));
        }
    }
}

TEST_CASE("receivers are divided as often as every lane has room for", "[exchange][orders]") {
    for (unsigned seed = 0; seed < 80; ++seed) {
        const Messages some(seed, 4 + seed % 12, 30, 8);
        const auto& list = some.list;
        const auto& grid = some.timing.grid();
        for (const Cycles out : {0, 1, 10})
            for (Cycles in = 1; in <= 5; ++in) {
                const timing::ExchangeBound bound{std::max<Cycles>(in * out, in) - (in > 2 ? 0 : 1),
                                                  out};
                const auto most_parts =
                    static_cast<std::size_t>(bound.cycles() / std::max<Cycles>(out, 1));
                const auto parts = exchange_plan::divide_receivers(list, grid, bound);
                CAPTURE(seed, in, out);
                REQUIRE(parts.has_value() == (most_parts >= 2));
                if (!parts)
                    continue;
                const auto [groups, of_job] = groups_of(list, true);
                // as jobs and their parts come, with the round that each goes in
                using Made = std::tuple<std::size_t, TileId, Address, std::vector<TileId>>;
                std::vector<Made> expected;
                for (std::size_t index = 0; index < list.jobs.size(); ++index) {
                    const auto& job = list.jobs[index];
                    const auto group = of_job[index];
                    std::set<TileId> senders;
                    std::size_t most_pairs = 0;
                    for (std::size_t other = 0; other < list.jobs.size(); ++other)
                        if (of_job[other] == group) {
                            senders.insert(list.jobs[other].source);
                            std::set<TileId> pairs;
                            for (const auto& to : list.of(list.jobs[other]))
                                pairs.insert(to.tile / 2 * 2);
                            most_pairs = std::max(most_pairs, pairs.size());
                        }
                    const auto ring = in_ring({groups[group].begin(), groups[group].end()}, grid);
                    const auto all = most_pairs <= most_parts ? ring.size() : most_parts;
                    const auto turn = in_ring(senders, grid);
                    const auto own = static_cast<std::size_t>(
                        std::find(turn.begin(), turn.end(), job.source) - turn.begin());
                    const auto first = own * all / turn.size();
                    std::map<std::size_t, std::vector<TileId>> receivers;
                    for (const auto& to : list.of(job)) {
                        const auto pair = static_cast<std::size_t>(
                            std::find(ring.begin(), ring.end(), to.tile / 2 * 2) - ring.begin());
                        receivers[pair * all / ring.size()].push_back(to.tile);
                    }
                    for (const auto& [part, tiles] : receivers)
                        expected.emplace_back((part + all - first) % all, job.source, job.address,
                                              tiles);
                }
                std::stable_sort(
                    expected.begin(), expected.end(),
                    [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
                REQUIRE(parts->order.size() == expected.size());
                for (std::size_t i = 0; i < expected.size(); ++i) {
                    const auto& job = parts->list.jobs.at(parts->order[i]);
                    std::vector<TileId> tiles;
                    for (const auto& to : parts->list.of(job))
                        tiles.push_back(to.tile);
                    REQUIRE(Made{std::get<0>(expected[i]), job.source, job.address, tiles} ==
                            expected[i]);
                }
            }
    }
}

TEST_CASE("far receivers get first words where the last word then arrives sooner",
          "[exchange][orders]") {
    int divided = 0;
    int in_three = 0;
    for (unsigned seed = 0; seed < 150; ++seed) {
        // of one word, a few and many
        const Messages some(seed, 30, 6, 12, seed % 3 == 0 ? 2 : seed % 3 == 1 ? 20 : 120);
        const auto& list = some.list;
        const auto start = [](const exchange_plan::Receiver& to) {
            return std::max<Cycles>(0, -to.mux_offset);
        };
        const auto latency = [&](const exchange_plan::Receiver& to) {
            return to.mux_offset + some.timing.mux_to_pointer(to.tile);
        };
        using Made =
            std::tuple<TileId, Address, std::uint32_t, std::vector<std::pair<TileId, Address>>>;
        std::vector<Made> expected;
        bool gains = false;
        const auto order = exchange_plan::shift_order(list, some.timing.grid());
        for (const auto index : order) {
            const auto& job = list.jobs[index];
            std::vector<exchange_plan::Receiver> to(list.of(job).begin(), list.of(job).end());
            std::stable_sort(to.begin(), to.end(),
                             [&](const auto& a, const auto& b) { return start(a) < start(b); });
            const auto end_of = [&](std::size_t from, std::size_t until) {
                Cycles latest = 0;
                Cycles farthest = 0;
                for (auto i = from; i < until; ++i) {
                    latest = std::max(latest, start(to[i]));
                    farthest = std::max(farthest, latency(to[i]));
                }
                return latest + farthest;
            };
            auto best = to.size();
            auto least = end_of(0, to.size());
            for (std::size_t cut = 1; cut < to.size(); ++cut)
                if (const auto end = std::max(end_of(0, cut), end_of(cut, to.size()));
                    end < least) {
                    least = end;
                    best = cut;
                }
            const auto add = [&](std::uint32_t first, std::uint32_t words, std::size_t from,
                                 std::size_t until) {
                std::vector<std::pair<TileId, Address>> there;
                for (auto i = from; i < until; ++i)
                    there.emplace_back(to[i].tile, to[i].address + 4 * first);
                expected.emplace_back(job.source, job.address + 4 * first, words, there);
            };
            if (best == to.size()) {
                add(0, job.words, 0, to.size());
                continue;
            }
            gains = true;
            ++divided;
            const auto early = std::min<std::uint32_t>(
                static_cast<std::uint32_t>(start(to.back()) - start(to[best - 1])), job.words);
            add(0, early, 0, best);
            if (early < job.words) {
                add(early, job.words - early, 0, to.size());
                ++in_three;
            }
            add(0, early, best, to.size());
        }
        const auto parts = exchange_plan::far_first(list, order, some.timing);
        CAPTURE(seed);
        REQUIRE(parts.has_value() == gains);
        if (!parts)
            continue;
        REQUIRE(parts->order == exchange_plan::given_order(parts->list));
        REQUIRE(parts->list.jobs.size() == expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
            const auto& job = parts->list.jobs[i];
            std::vector<std::pair<TileId, Address>> there;
            for (const auto& to : parts->list.of(job))
                there.emplace_back(to.tile, to.address);
            REQUIRE(Made{job.source, job.address, job.words, there} == expected[i]);
        }
    }
    CHECK(divided > 30);
    CHECK(in_three > 10);
    const Messages wide({transfer(0, 0x60000, 1024, {{2, 0x90000}, {3, 0x90000}}, true)});
    CHECK_FALSE(exchange_plan::far_first(wide.list, {0}, wide.timing).has_value());
}

TEST_CASE("what was put aside goes to each receiver by itself, behind all others",
          "[exchange][orders]") {
    // sender, first word, words, receivers with their addresses
    using Sent =
        std::tuple<TileId, Address, std::uint32_t, std::vector<std::pair<TileId, Address>>>;
    const auto sent = [](const JobList& list, const exchange_plan::Job& job) {
        Sent all{job.source, job.address, job.words, {}};
        for (const auto& to : list.of(job))
            std::get<3>(all).emplace_back(to.tile, to.address);
        return all;
    };
    int whole = 0;
    int rests = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
        CAPTURE(seed);
        const Messages some(seed, 12, 60, 5, 80);
        const auto& list = some.list;
        const auto order = exchange_plan::busiest_order(list, some.timing.grid());
        for (const std::uint32_t least : {0U, 2U}) {
            exchange_plan::MessagePlacer all(some.machine, some.timing, list);
            REQUIRE(all.place_all(order, {}));
            const Cycles late = all.schedule().longest_row_events * 3 / 4;
            exchange_plan::MessagePlacer placer(some.machine, some.timing, list);
            REQUIRE(placer.place_all(order, {.least_piece = least, .late = late}));
            std::map<std::uint32_t, std::uint32_t> first_aside;
            std::vector<Sent> alone;
            std::vector<Cycles> out(kTiles);
            for (const auto& job : list.jobs)
                out[job.source] += list.events(job, job.wide);
            for (const auto& [number, first] : placer.aside()) {
                const auto& job = list.jobs[number];
                REQUIRE(first_aside.emplace(number, first).second);
                REQUIRE(first < job.words);
                REQUIRE(job.receivers > 1);
                (first == 0 ? whole : rests) += 1;
                out[job.source] += (job.words - first) * (job.receivers - 1);
                CHECK(out[job.source] <= late); // the sender has time for it
                for (const auto& to : list.of(job))
                    alone.push_back({job.source,
                                     job.address + 4 * first,
                                     job.words - first,
                                     {{to.tile, to.address + 4 * first}}});
            }
            const auto parts = exchange_plan::late_alone(list, order, placer.aside());
            REQUIRE(parts.late == alone.size());
            std::vector<Sent> expected;
            for (const auto number : order) {
                auto all_of_it = sent(list, list.jobs[number]);
                const auto found = first_aside.find(number);
                if (found != first_aside.end())
                    std::get<2>(all_of_it) = found->second;
                if (std::get<2>(all_of_it) > 0)
                    expected.push_back(all_of_it);
            }
            expected.insert(expected.end(), alone.begin(), alone.end());
            std::vector<Sent> made;
            for (const auto number : parts.order) {
                made.push_back(sent(parts.list, parts.list.jobs[number]));
                if (number < list.jobs.size())
                    CHECK(parts.of_job[number] == number); // jobs keep their numbers
                CHECK(parts.list.jobs[number].source == list.jobs[parts.of_job[number]].source);
            }
            CHECK(made == expected);
            // going on leaves what is placed where it is, and places all the rest
            const auto before = placer.schedule();
            placer.go_on(parts.list);
            const std::span<const std::uint32_t> last = parts.order;
            REQUIRE(placer.place_all(last.last(parts.late), {.least_piece = 2}));
            std::vector<std::uint32_t> items(parts.list.jobs.size());
            for (const auto& placed : placer.schedule().placements)
                items[placed.job] += placed.items;
            for (std::size_t i = 0; i < items.size(); ++i) {
                const auto& job = parts.list.jobs[i];
                CHECK(items[i] * (placer.schedule().placements[i].wide ? 2U : 1U) == job.words);
                if (i < list.jobs.size() && first_aside.count(static_cast<std::uint32_t>(i)) == 0)
                    CHECK(placer.schedule().placements[i].start == before.placements[i].start);
            }
        }
    }
    CHECK(whole > 100);
    CHECK(rests > 20);
}

TEST_CASE("where no rows are executed words and the bound are told", "[exchange][orders]") {
    const std::vector<program::Transfer> transfers{
        transfer(0, 0x60000, 400, {{2, 0x90000}, {3, 0x90000}, {5, 0x90000}}),
        transfer(0, 0x60190, 80, {{2, 0x90190}, {3, 0x90190}, {5, 0x90190}}), // goes on
        transfer(7, 0x60000, 12, {{0, 0x90000}})};
    for (const auto fabric : {spec::Fabric::Mesh, spec::Fabric::Ring, spec::Fabric::Bound}) {
        auto machine = some_machine();
        machine.exchange.fabric = fabric;
        const auto plan = exchange_plan::plan_exchange_with_stats(machine, "x", transfers);
        CHECK(plan.exchange.name == "x");
        CHECK(plan.exchange.rows.empty());
        CHECK(plan.exchange.transfers.size() == 3);
        CHECK(plan.stats.words_sent == 120 + 3);
        CHECK(plan.stats.words_received == 3 * 120 + 3);
        CHECK(plan.stats.longest_row_events == 120);
        CHECK(plan.stats.bound.cycles() == 120);
        CHECK(plan.stats.active_tiles == 0);
    }
}
