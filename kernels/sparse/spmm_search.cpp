// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_search.h"

#include "base/activity.h"
#include "kernels/plan/chip_memory.h"
#include "kernels/sparse/spmm_cost.h"
#include "kernels/sparse/spmm_homes.h"
#include "kernels/sparse/spmm_reduction.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <tuple>

namespace tessera::spmm {
namespace {

/// Blocks, rows and columns that are walked over to rank splits by their parts.
constexpr std::int64_t kRankedLooks = 10'000'000;
constexpr std::int64_t kFewestRanked = 8;
constexpr std::int64_t kMostRanked = 100;

/// Numbers of parts that make the largest part of `length` smaller than any fewer parts do.
std::vector<std::int64_t> useful_parts(std::int64_t length, std::int64_t most) {
    std::vector<std::int64_t> parts;
    std::int64_t largest = length + 1;
    for (std::int64_t p = 1; p <= std::min(length, most); ++p) {
        const std::int64_t this_largest = (length + p - 1) / p;
        if (this_largest < largest) {
            largest = this_largest;
            parts.push_back(p);
        }
    }
    return parts;
}

} // namespace

std::vector<Candidate> search(const spec::MachineSpec& machine, const Problem& problem) {
    const std::int64_t tiles = machine.chip.tiles;
    const workload::SparsePattern& a = *problem.matrix;
    const Bytes limit = plan::bytes_for_data(machine);
    const plan::ExchangeCost exchange(machine);
    std::vector<Candidate> candidates;
    for (const std::int64_t pn : useful_parts(problem.column_groups(), tiles)) {
        for (const std::int64_t pk : useful_parts(a.block_columns(), tiles / pn)) {
            const std::int64_t most_m = std::min(a.block_rows(), tiles / pn / pk);
            for (std::int64_t pm = most_m; pm >= 1; pm = pm == 1 ? 0 : 1) {
                Candidate candidate;
                candidate.split = {pm, pk, pn};
                candidate.bytes = estimate_bytes(machine, problem, candidate.split);
                candidate.predicted = estimate(machine, exchange, problem, candidate.split);
                candidates.push_back(candidate);
            }
        }
    }
    std::sort(candidates.begin(), candidates.end(),
              [limit](const Candidate& left, const Candidate& right) {
                  const auto key = [limit](const Candidate& c) {
                      const bool over = c.bytes > limit;
                      return std::make_tuple(over, over ? c.bytes : c.cycles(), c.split.tiles(),
                                             c.split.parts_n, c.split.parts_k);
                  };
                  return key(left) < key(right);
              });
    const std::int64_t affordable =
        kRankedLooks / std::max<std::int64_t>(a.blocks() + a.block_rows() + a.block_columns(), 1);
    const auto ranked =
        static_cast<std::ptrdiff_t>(std::min(std::clamp(affordable, kFewestRanked, kMostRanked),
                                             static_cast<std::int64_t>(candidates.size())));
    const Activity comparing("comparing splits", ranked);
    tbb::parallel_for(std::ptrdiff_t{0}, ranked, [&](std::ptrdiff_t rank) {
        Candidate& candidate = candidates[static_cast<std::size_t>(rank)];
        const Partition partition(problem, candidate.split);
        const Reduction reduction = find_reduction(partition);
        candidate.predicted = refine(machine, exchange, partition, reduction);
        candidate.least_messages = least_messages(partition, reduction);
        comparing.step();
    });
    std::stable_sort(candidates.begin(), candidates.begin() + ranked,
                     [limit](const Candidate& left, const Candidate& right) {
                         return std::make_tuple(left.bytes > limit, left.cycles()) <
                                std::make_tuple(right.bytes > limit, right.cycles());
                     });
    return candidates;
}

} // namespace tessera::spmm
