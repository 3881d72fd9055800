// SPDX-License-Identifier: MIT
#include "kernels/exchange_plan/exchange_groups.h"

#include <algorithm>
#include <unordered_map>

namespace tessera::exchange_plan {

namespace {

/// The group that a job belongs to: the pairs of its receivers, with or without its sender's.
void find_group(const JobList& list, const Job& job, TileId pair_bit, GroupBy by,
                std::vector<TileId>& pairs) {
    pairs.clear();
    for (const auto& to : list.of(job))
        pairs.push_back(to.tile & ~pair_bit);
    if (by == GroupBy::AllTiles)
        pairs.push_back(job.source & ~pair_bit);
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
}

struct HashOfPairs {
    std::size_t operator()(const std::vector<TileId>& pairs) const {
        std::uint64_t hash = pairs.size();
        for (const auto pair : pairs)
            hash = (hash ^ pair) * 0x9e3779b97f4a7c15; // 2^64 / golden ratio
        return hash ^ hash >> 32U;
    }
};

} // namespace

Groups find_groups(const JobList& list, TileId pair_bit, GroupBy by) {
    Groups groups;
    std::unordered_map<std::vector<TileId>, std::uint32_t, HashOfPairs> known;
    std::vector<TileId> pairs;
    for (const auto& job : list.jobs) {
        find_group(list, job, pair_bit, by, pairs);
        const auto [at, fresh] =
            known.try_emplace(pairs, static_cast<std::uint32_t>(groups.pairs.size()));
        if (fresh)
            groups.pairs.push_back(pairs);
        groups.group_of_job.push_back(at->second);
    }
    return groups;
}

} // namespace tessera::exchange_plan
