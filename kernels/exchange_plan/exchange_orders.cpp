// SPDX-License-Identifier: MIT
#include "kernels/exchange_plan/exchange_orders.h"

#include "base/sort_keys.h"
#include "kernels/exchange_plan/exchange_groups.h"

#include <tbb/parallel_invoke.h>

#include <algorithm>
#include <bit>
#include <numeric>
#include <span>
#include <tuple>

namespace tessera::exchange_plan {

namespace {

/// Jobs by ascending `key`, below 2^32; equal ones as they stood.
template <typename Key> void sort_by(JobOrder& order, Key key) {
    std::vector<std::uint64_t> keys;
    keys.reserve(order.size());
    for (const auto job : order)
        keys.push_back(sort_key(key(job), job));
    std::vector<std::uint64_t> scratch;
    sort_keys(keys, scratch);
    std::ranges::transform(keys, order.begin(), index_of_key);
}

/// Likewise, all jobs of a list, equal ones as given.
template <typename Key> JobOrder order_by(const JobList& list, Key key) {
    auto order = given_order(list);
    sort_by(order, [&](std::uint32_t job) { return key(list.jobs[job]); });
    return order;
}

/// Hands out rounds: each resource serves one claim a round.
class Rounds {
public:
    explicit Rounds(std::size_t resources) : taken_(resources) {}

    /// Least round in which all `resources` are still free; takes them in it.
    std::uint32_t claim(std::span<const TileId> resources) {
        closed_.clear();
        for (const auto resource : resources) {
            const auto& taken = taken_[resource];
            closed_.resize(std::max(closed_.size(), taken.size()));
            for (std::size_t word = 0; word < taken.size(); ++word)
                closed_[word] |= taken[word];
        }
        std::size_t word = 0;
        while (word < closed_.size() && closed_[word] == ~std::uint64_t{0})
            ++word;
        const auto bit = word < closed_.size() ? std::countr_one(closed_[word]) : 0;
        for (const auto resource : resources) {
            auto& taken = taken_[resource];
            taken.resize(std::max(taken.size(), word + 1));
            taken[word] |= std::uint64_t{1} << bit;
        }
        return static_cast<std::uint32_t>(word * 64) + static_cast<std::uint32_t>(bit);
    }

private:
    std::vector<std::vector<std::uint64_t>> taken_;
    std::vector<std::uint64_t> closed_;
};

} // namespace

JobOrder given_order(const JobList& list) {
    JobOrder order(list.jobs.size());
    std::iota(order.begin(), order.end(), 0U);
    return order;
}

void sort_into_ring(std::vector<TileId>& tiles, const timing::TileGrid& grid) {
    const auto place = [&](TileId tile) {
        const auto& at = grid.position(tile);
        return std::tuple{at.column, at.sub, at.row};
    };
    std::ranges::sort(tiles, {}, place);
}

JobOrder shift_order(const JobList& list, const timing::TileGrid& grid) {
    const auto tiles = static_cast<std::size_t>(grid.tiles());
    std::vector<bool> taking_part(tiles);
    for (const auto& job : list.jobs) {
        taking_part[job.source] = true;
        taking_part[list.receivers[job.first_receiver].tile] = true;
    }
    std::vector<TileId> ring;
    for (TileId tile = 0; tile < tiles; ++tile)
        if (taking_part[tile])
            ring.push_back(tile);
    sort_into_ring(ring, grid);
    std::vector<std::uint32_t> place(tiles);
    for (std::uint32_t i = 0; i < ring.size(); ++i)
        place[ring[i]] = i;
    const auto n = static_cast<std::uint32_t>(ring.size());
    return order_by(list, [&](const Job& job) -> std::uint64_t {
        const auto from = place[job.source];
        const auto to = place[list.receivers[job.first_receiver].tile];
        return to >= from ? to - from : to + n - from;
    });
}

JobOrder grouped_order(const JobList& list, const timing::TileGrid& grid) {
    Groups groups;
    Groups closed;
    tbb::parallel_invoke([&] { groups = find_groups(list, grid.pair_bit(), GroupBy::Receivers); },
                         [&] { closed = find_groups(list, grid.pair_bit(), GroupBy::AllTiles); });
    if (closed.pairs.size() < groups.pairs.size())
        groups = std::move(closed);
    Rounds pairs{static_cast<std::size_t>(grid.tiles())};
    std::vector<std::uint32_t> rounds;
    for (const auto& group : groups.pairs)
        rounds.push_back(pairs.claim(group));
    // By round, group, sender and width: the last first, so that equal ones stay as they were sorted.
    auto order = order_by(list, [](const Job& job) -> std::uint64_t {
        return 2 * std::uint64_t{job.source} + (job.wide ? 0 : 1);
    });
    sort_by(order, [&](std::uint32_t job) { return groups.group_of_job[job]; });
    sort_by(order, [&](std::uint32_t job) { return rounds[groups.group_of_job[job]]; });
    return order;
}

JobOrder round_order(const JobList& list, const timing::TileGrid& grid) {
    // Resource t is tile t's input, resource tiles + t its outgoing lane.
    const auto tiles = static_cast<TileId>(grid.tiles());
    Rounds lanes{2 * static_cast<std::size_t>(tiles)};
    std::vector<TileId> used;
    return order_by(list, [&](const Job& job) -> std::uint64_t {
        used.assign(1, tiles + job.source);
        for (const auto& to : list.of(job))
            used.push_back(to.tile);
        return lanes.claim(used);
    });
}

JobOrder busiest_order(const JobList& list, const timing::TileGrid& grid) {
    std::vector<std::uint64_t> out(static_cast<std::size_t>(grid.tiles()));
    std::vector<std::uint64_t> in(out.size());
    for (const auto& job : list.jobs) {
        out[job.source] += job.words;
        for (const auto& to : list.of(job))
            in[to.tile] += job.words;
    }
    constexpr std::uint64_t kMost = 0xffffffff;
    return order_by(list, [&](const Job& job) {
        auto load = out[job.source];
        for (const auto& to : list.of(job))
            load = std::max(load, in[to.tile]);
        return kMost - std::min(load, kMost);
    });
}

} // namespace tessera::exchange_plan
