// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_search.h"

#include "kernels/matmul/matmul_cost.h"
#include "kernels/plan/chip_memory.h"
#include "kernels/plan/parts.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace tessera::matmul {
namespace {

/// Exchange rounds beyond which the fixed cost of a round is all that there is.
constexpr std::int64_t kMostChunks = 96;

using plan::useful_parts;

/// With the next even number of each: only whole pairs can be paired.
std::set<std::int64_t> useful_and_even(std::int64_t length, std::int64_t most) {
    std::set<std::int64_t> parts;
    for (const std::int64_t p : useful_parts(length, most)) {
        parts.insert({p, std::min({p + p % 2, length, most})});
    }
    return parts;
}

} // namespace

std::vector<family::Estimate> search(const spec::MachineSpec& machine, const Problem& problem,
                                     std::size_t most) {
    const plan::ExchangeCost exchange(machine);
    std::vector<family::Estimate> fitting;
    family::Estimate smallest;
    const auto fits = [&](Partition partition) {
        const Bytes bytes = estimate_bytes(machine, Grid(problem, partition));
        if (smallest.bytes == 0 || bytes < smallest.bytes) {
            smallest = {partition, {}, bytes};
        }
        if (bytes > plan::bytes_for_data(machine)) {
            return false;
        }
        for (const Paired paired : {Paired::None, Paired::A, Paired::B}) {
            const bool is_a = paired == Paired::A;
            const std::int64_t in_pairs = is_a ? partition.parts_n : partition.parts_m;
            // The homes of a group's data are pairs of another group.
            const bool has_others = partition.tiles() > in_pairs;
            if (paired == Paired::None ||
                (machine.exchange.pairs() && in_pairs % 2 == 0 && has_others)) {
                partition.paired = paired;
                fitting.push_back(
                    {partition, estimate(machine, exchange, Grid(problem, partition)), bytes});
            }
        }
        return true;
    };
    const std::int64_t tiles = machine.chip.tiles;
    for (const std::int64_t pm : useful_and_even(problem.m, tiles)) {
        for (const std::int64_t pn : useful_and_even(problem.out_groups, tiles / pm)) {
            for (const std::int64_t pk : useful_parts(problem.k_groups, tiles / pm / pn)) {
                // More chunks only cost more, but the estimate of bytes is a little low: keep a few
                // that fit.
                constexpr int kKept = 4;
                int kept = 0;
                for (const std::int64_t chunks : useful_parts(problem.k_groups / pk, kMostChunks)) {
                    kept += fits({pm, pk, pn, chunks}) ? 1 : 0;
                    if (kept == kKept || (pm == 1 && pn == 1)) {
                        break;
                    }
                }
            }
        }
    }
    if (fitting.empty()) {
        return {smallest};
    }
    const std::size_t kept = std::min(most, fitting.size());
    const auto end = fitting.begin() + static_cast<std::ptrdiff_t>(kept);
    std::ranges::partial_sort(fitting, end, {}, [](const family::Estimate& one) {
        return std::make_tuple(one.cycles(), one.cuts.tiles(), one.cuts.chunks, one.cuts.parts_m,
                               one.cuts.parts_k);
    });
    fitting.erase(end, fitting.end());
    return fitting;
}

} // namespace tessera::matmul
