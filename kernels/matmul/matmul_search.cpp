// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_search.h"

#include "kernels/matmul/matmul_cost.h"
#include "kernels/plan/chip_memory.h"

#include <algorithm>
#include <tuple>

namespace tessera::matmul {
namespace {

/// Exchange rounds beyond which the fixed cost of a round is all that there is.
constexpr std::int64_t kMostChunks = 96;

/// Numbers of parts up to `most` that make the largest part of `length` smaller than any fewer
/// parts do.
std::vector<std::int64_t> useful_parts(std::int64_t length, std::int64_t most) {
    std::vector<std::int64_t> parts;
    std::int64_t largest = length + 1;
    for (std::int64_t p = 1; p <= std::min(length, most); ++p) {
        if (ceil_div(length, p) < largest) {
            largest = ceil_div(length, p);
            parts.push_back(p);
        }
    }
    return parts;
}

/// The same, and the next even number of parts: only whole pairs can be paired.
std::vector<std::int64_t> with_even(std::vector<std::int64_t> parts, std::int64_t length,
                                    std::int64_t most) {
    const std::vector<std::int64_t> odd_too = parts;
    for (const std::int64_t p : odd_too) {
        if (p % 2 == 1 && p + 1 <= std::min(length, most)) {
            parts.push_back(p + 1);
        }
    }
    std::sort(parts.begin(), parts.end());
    parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
    return parts;
}

class Search {
public:
    Search(const spec::MachineSpec& machine, const Problem& problem)
        : machine_(machine), exchange_(machine), problem_(problem),
          limit_(plan::bytes_for_data(machine)) {}

    void run() {
        const std::int64_t tiles = machine_.chip.tiles;
        for (const std::int64_t pm :
             with_even(useful_parts(problem_.m, tiles), problem_.m, tiles)) {
            for (const std::int64_t pn : with_even(useful_parts(problem_.out_groups, tiles / pm),
                                                   problem_.out_groups, tiles / pm)) {
                for (const std::int64_t pk : useful_parts(problem_.k_groups, tiles / pm / pn)) {
                    chunks({pm, pk, pn, 1, Paired::None});
                }
            }
        }
    }

    std::vector<Candidate> best(std::size_t most) {
        if (fitting_.empty()) {
            return {smallest_};
        }
        const auto by_cycles = [](const Candidate& left, const Candidate& right) {
            return std::make_tuple(left.cycles(), left.partition.tiles(), left.partition.chunks,
                                   left.partition.parts_m, left.partition.parts_k) <
                   std::make_tuple(right.cycles(), right.partition.tiles(), right.partition.chunks,
                                   right.partition.parts_m, right.partition.parts_k);
        };
        const std::size_t kept = std::min(most, fitting_.size());
        std::partial_sort(fitting_.begin(), fitting_.begin() + static_cast<std::ptrdiff_t>(kept),
                          fitting_.end(), by_cycles);
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
        Candidate candidate{partition, {}, bytes};
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
    std::vector<Candidate> fitting_;
    Candidate smallest_;
};

} // namespace

std::vector<Candidate> search(const spec::MachineSpec& machine, const Problem& problem,
                              std::size_t most) {
    Search search(machine, problem);
    search.run();
    return search.best(most);
}

} // namespace tessera::matmul
