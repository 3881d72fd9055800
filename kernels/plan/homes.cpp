// SPDX-License-Identifier: MIT
#include "kernels/plan/homes.h"

#include "base/error.h"

#include <algorithm>
#include <list>
#include <map>
#include <numeric>

namespace tessera::plan {
namespace {

struct Room {
    TileId tile = 0;
    std::int64_t units = 0;
};

} // namespace

std::vector<HomeRun> in_turns(const std::vector<Home>& homes, Bytes unit_bytes,
                              std::vector<Bytes>& filled) {
    std::vector<HomeRun> runs;
    std::map<std::size_t, std::int64_t> turns;
    for (const Home& home : homes) {
        runs.push_back({home, filled[home.tile], turns[home.group]++});
        filled[home.tile] += runs.back().units() * unit_bytes;
    }
    std::ranges::stable_sort(runs, {}, &HomeRun::turn);
    return runs;
}

std::vector<Home> deal_homes(const std::vector<std::int64_t>& units_of_group,
                             const std::vector<TileId>& candidates, std::int64_t share,
                             const std::function<bool(TileId, std::size_t)>& receives) {
    TESSERA_ASSERT(!candidates.empty());
    const std::int64_t total =
        std::accumulate(units_of_group.begin(), units_of_group.end(), std::int64_t{0});
    const auto tiles = static_cast<std::int64_t>(candidates.size());
    const std::int64_t capacity = std::max(share, (total + tiles - 1) / tiles);
    // Groups lie along the tiles, so half a turn away are tiles of other groups.
    std::list<Room> rooms;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        rooms.push_back({candidates[(i + candidates.size() / 2) % candidates.size()], capacity});
    }
    std::vector<Home> homes;
    for (std::size_t group = 0; group < units_of_group.size(); ++group) {
        for (std::int64_t first = 0; first < units_of_group[group];) {
            auto room = std::find_if(rooms.begin(), rooms.end(),
                                     [&](const Room& r) { return !receives(r.tile, group); });
            if (room == rooms.end()) {
                room = rooms.begin();
            }
            const std::int64_t taken = std::min(room->units, units_of_group[group] - first);
            homes.push_back({group, first, first + taken, room->tile});
            first += taken;
            room->units -= taken;
            if (room->units == 0) {
                rooms.erase(room);
            }
        }
    }
    return homes;
}

std::vector<Home> deal_to_next_group(const std::vector<std::int64_t>& units_of_group,
                                     const std::vector<std::vector<TileId>>& receivers_of_group,
                                     std::int64_t shortest, std::int64_t member) {
    TESSERA_ASSERT(units_of_group.size() > 1);
    std::vector<Home> homes;
    for (std::size_t group = 0; group < units_of_group.size(); ++group) {
        const std::vector<TileId>& next = receivers_of_group[(group + 1) % units_of_group.size()];
        const std::int64_t all = units_of_group[group];
        const auto pairs = static_cast<std::int64_t>(next.size() / 2);
        const std::int64_t messages = std::clamp<std::int64_t>(all / shortest, 1, pairs);
        for (std::int64_t turn = 0; turn < messages; ++turn) {
            const std::int64_t first = turn * all / messages;
            const std::int64_t last = (turn + 1) * all / messages;
            homes.push_back(
                {group, first, last, next[static_cast<std::size_t>(2 * turn + member)]});
        }
    }
    return homes;
}

} // namespace tessera::plan
