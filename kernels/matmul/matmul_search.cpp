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

class Search {
public:
    Search(const spec::MachineSpec& machine, const Problem& problem)
        : machine_(machine), exchange_(machine), problem_(problem),
          limit_(plan::bytes_for_data(machine)) {}

    void run() {
        const std::int64_t tiles = machine_.chip.tiles;
        for (const std::int64_t pm : useful_and_even(problem_.m, tiles)) {
            for (const std::int64_t pn : useful_and_even(problem_.out_groups, tiles / pm)) {
                for (const std::int64_t pk : useful_parts(problem_.k_groups, tiles / pm / pn)) {
                    chunks({pm, pk, pn, 1, Paired::None});
                }
            }
        }
    }

    std::vector<family::Estimate> best(std::size_t most) {
        if (fitting_.empty()) {
            return {smallest_};
        }
        const auto key = [](const family::Estimate& one) {
            return std::make_tuple(one.cycles(), one.cuts.tiles(), one.cuts.chunks,
                                   one.cuts.parts_m, one.cuts.parts_k);
        };
        const std::size_t kept = std::min(most, fitting_.size());
        std::ranges::partial_sort(fitting_, fitting_.begin() + static_cast<std::ptrdiff_t>(kept),
                                  {}, key);
        fitting_.resize(kept);
        return fitting_;
    }

private:
    void chunks(Partition partition) {
        // More chunks only cost more, but the estimate of bytes is a little low: keep a few that
        // fit.
        constexpr int kKept = 4;
        const std::int64_t most = problem_.k_groups / partition.parts_k;
        int fitting = 0;
        for (const std::int64_t chunk_count :
             useful_parts(most, std::min<std::int64_t>(most, kMostChunks))) {
            partition.chunks = chunk_count;
            fitting += consider(partition) ? 1 : 0;
            if (fitting == kKept || (partition.parts_m == 1 && partition.parts_n == 1)) {
                break;
            }
        }
    }

    bool consider(Partition partition) {
        const Bytes bytes = estimate_bytes(machine_, Grid(problem_, partition));
        const bool fits = bytes <= limit_;
        const bool pairs = machine_.exchange.pairs();
        add(partition, bytes, fits);
        // The homes of a group's data are pairs of another group.
        if (pairs && partition.parts_n % 2 == 0 && partition.parts_m * partition.parts_k > 1) {
            partition.paired = Paired::A;
            add(partition, bytes, fits);
        }
        if (pairs && partition.parts_m % 2 == 0 && partition.parts_n * partition.parts_k > 1) {
            partition.paired = Paired::B;
            add(partition, bytes, fits);
        }
        return fits;
    }

    void add(const Partition& partition, Bytes bytes, bool fits) {
        family::Estimate candidate{partition, {}, bytes};
        if (smallest_.bytes == 0 || bytes < smallest_.bytes) {
            smallest_ = candidate;
        }
        if (fits) {
            candidate.predicted = estimate(machine_, exchange_, Grid(problem_, partition));
            fitting_.push_back(candidate);
        }
    }

    const spec::MachineSpec& machine_;
    plan::ExchangeCost exchange_;
    const Problem& problem_;
    Bytes limit_;
    std::vector<family::Estimate> fitting_;
    family::Estimate smallest_;
};

} // namespace

std::vector<family::Estimate> search(const spec::MachineSpec& machine, const Problem& problem,
                                     std::size_t most) {
    Search search(machine, problem);
    search.run();
    return search.best(most);
}

} // namespace tessera::matmul
