// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_search.h"

#include "base/activity.h"
#include "kernels/plan/chip_memory.h"
#include "kernels/sparse/spmm_cost.h"
#include "kernels/sparse/spmm_homes.h"
#include "kernels/sparse/spmm_reduction.h"
#include "kernels/sparse/spmm_sampled.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <optional>
#include <tuple>

namespace tessera::sparse {
namespace {

/// Blocks, rows and columns that are walked over to rank splits by their parts.
constexpr std::int64_t kRankedLooks = 10'000'000;
constexpr std::int64_t kFewestRanked = 8;
constexpr std::int64_t kMostRanked = 100;
/// Further splits are ranked where that takes a moment: means say little of matrices with few entries.
constexpr std::int64_t kQuickLooks = 1'000'000;
/// Messages beyond which planning takes seconds. Of estimates that are hardly more than the best the one with the
/// fewest is taken then.
constexpr std::size_t kSeconds = 300'000;
constexpr double kHardlyMore = 1.02;
/// More than these are planned only where nothing else fits: it takes a minute, and their rows seldom find room.
constexpr std::int64_t kMostMessages = 3'000'000;
/// Columns of C that come one pass after another, in numbers of passes that double.
constexpr std::int64_t kMostPasses = 64;

using plan::useful_parts;

/// How finely rows are cut: not at all; so that each part gets its share; so that each worker does, where workers part
/// rows between them.
std::vector<std::int64_t> useful_cuts(const spec::MachineSpec& machine, const Problem& problem,
                                      const Split& split) {
    std::vector<std::int64_t> cuts{0};
    const std::int64_t by_part =
        2; // pieces of half a share: shares come out within a quarter of each other
    const std::int64_t longest = problem.row_blocks.empty() ? 0 : problem.row_blocks.front();
    const auto cuts_a_row = [&](std::int64_t cut) {
        return longest * cut * split.parts_m > problem.matrix->blocks();
    };
    for (const std::int64_t cut : {by_part, by_part * machine.tile.workers}) {
        const bool workers_have_rows =
            problem.kind->vertex_kind == program::VertexKind::MultiWorker;
        if (split.parts_m > 1 && cuts_a_row(cut) && (cut == by_part || workers_have_rows)) {
            cuts.push_back(cut);
        }
    }
    return cuts;
}

/// What a split takes by means.
Candidate by_means(const spec::MachineSpec& machine, const plan::ExchangeCost& exchange,
                   const Searched& searched, const Split& split) {
    const Bytes limit = plan::bytes_for_data(machine);
    Candidate candidate;
    candidate.split = split;
    candidate.over = -limit;
    for (const Problem& problem : searched.passes) {
        const Split of_pass = split.of(problem.pass);
        const Bytes bytes = estimate_bytes(machine, problem, of_pass);
        candidate.bytes = std::max(candidate.bytes, bytes);
        candidate.over =
            std::max({candidate.over, bytes - limit, estimate_beyond_reach(problem, of_pass)});
        candidate.predicted += estimate(machine, exchange, problem, of_pass);
    }
    return candidate;
}

/// The same by the parts that it makes.
void rank_by_parts(const spec::MachineSpec& machine, const plan::ExchangeCost& exchange,
                   const Searched& searched, Candidate& candidate) {
    const Bytes limit = plan::bytes_for_data(machine);
    const Partition cut(searched.cut, candidate.split);
    const Split split = candidate.split;
    candidate = {.split = split, .predicted = {}, .over = -limit, .ranked = true};
    const auto note = [&](const plan::PredictedCycles& cycles, Bytes bytes, Bytes beyond,
                          std::size_t messages) {
        candidate.predicted += cycles;
        candidate.bytes = std::max(candidate.bytes, bytes);
        candidate.least_messages = std::max(candidate.least_messages, messages);
        candidate.over = std::max(
            {candidate.over, bytes - limit, beyond, static_cast<Bytes>(messages) - kMostMessages});
    };
    for (const Problem& problem : searched.passes) {
        const bool is_cut = &problem == &searched.cut;
        std::optional<Partition> other;
        if (!is_cut) {
            other.emplace(problem, cut, searched.from);
        }
        const Partition& partition = is_cut ? cut : *other;
        const Reduction reduction = find_reduction(partition);
        if (problem.pass == Pass::Sampled) {
            const Partition dy = left_lines(partition, *searched.transpose, searched.from);
            note(refine_sampled(machine, exchange, partition, dy),
                 least_sampled_bytes(partition, dy), 0, 0);
            continue;
        }
        note(refine(machine, exchange, partition, reduction),
             least_bytes(machine, partition, reduction),
             beyond_reach(problem, partition.split(), real(partition.most_b_lines())),
             least_messages(machine, partition, reduction));
    }
}

/// Splits of a product in so many passes, with what they take by means.
void add_splits(const spec::MachineSpec& machine, const plan::ExchangeCost& exchange,
                const Searched& searched, std::int64_t passes, std::vector<Candidate>& candidates) {
    const Problem& problem = searched.cut;
    const std::int64_t tiles = machine.chip.tiles;
    const workload::SparsePattern& a = *problem.matrix;
    for (const std::int64_t pn : useful_parts(problem.column_groups() / passes, tiles)) {
        for (const std::int64_t pk : useful_parts(a.block_columns(), tiles / pn)) {
            const std::int64_t most_m = std::min(a.block_rows(), tiles / pn / pk);
            for (std::int64_t pm = most_m; pm >= 1; pm = pm == 1 ? 0 : 1) {
                for (const std::int64_t cut : useful_cuts(machine, problem, {pm, pk, pn})) {
                    candidates.push_back(
                        by_means(machine, exchange, searched, {pm, pk, pn, cut, passes}));
                }
            }
        }
    }
}

/// The best by means first, then as many as some 10 million blocks, rows and columns allow ranked by their parts.
void rank(const spec::MachineSpec& machine, const plan::ExchangeCost& exchange,
          const Searched& searched, std::vector<Candidate>& candidates) {
    const workload::SparsePattern& a = *searched.cut.matrix;
    std::ranges::sort(candidates, {}, [](const Candidate& c) {
        return std::make_tuple(c.over > 0, c.over > 0 ? c.over : c.cycles(), c.split.tiles(),
                               c.split.parts_n, c.split.parts_k, c.split.cut, c.split.passes);
    });
    const std::int64_t looks =
        std::max<std::int64_t>(a.blocks() + a.block_rows() + a.block_columns(), 1);
    const std::int64_t affordable =
        std::max(std::clamp(kRankedLooks / looks, kFewestRanked, kMostRanked), kQuickLooks / looks);
    const auto ranked = static_cast<std::ptrdiff_t>(std::min(affordable, std::ssize(candidates)));
    const Activity comparing("comparing splits", ranked);
    tbb::parallel_for(std::ptrdiff_t{0}, ranked, [&](std::ptrdiff_t rank) {
        rank_by_parts(machine, exchange, searched, candidates[static_cast<std::size_t>(rank)]);
        comparing.step();
    });
    std::ranges::stable_sort(
        candidates.begin(), candidates.begin() + ranked, {},
        [](const Candidate& c) { return std::make_tuple(c.over > 0, c.cycles()); });
    // of splits that are as good by what is known of them, the one that takes least to plan
    const Candidate& best = candidates.front();
    const auto as_good =
        std::find_if(candidates.begin(), candidates.begin() + ranked, [&](const Candidate& one) {
            return (one.over > 0) != (best.over > 0) ||
                   real(one.cycles()) > kHardlyMore * real(best.cycles());
        });
    const auto plainest =
        std::ranges::min_element(candidates.begin(), as_good, {}, [](const Candidate& c) {
            return std::max(c.least_messages, kSeconds);
        });
    std::rotate(candidates.begin(), plainest, plainest + 1);
}

} // namespace

std::vector<Candidate> search(const spec::MachineSpec& machine, const Problem& problem) {
    return search(machine, {problem, std::span(&problem, 1), nullptr, {}});
}

std::vector<Candidate> search(const spec::MachineSpec& machine, const Searched& searched) {
    const plan::ExchangeCost exchange(machine);
    std::vector<Candidate> candidates;
    add_splits(machine, exchange, searched, 1, candidates);
    rank(machine, exchange, searched, candidates);
    // Passes take more cycles of everything but memory: they are of use where memory keeps from a faster split.
    const bool cramped = std::ranges::any_of(candidates, [&](const Candidate& candidate) {
        return candidate.over > 0 && candidate.cycles() < candidates.front().cycles();
    });
    if (cramped || candidates.front().over > 0) {
        for (std::int64_t passes = 2; passes <= std::min(kMostPasses, searched.cut.column_groups());
             passes *= 2) {
            add_splits(machine, exchange, searched, passes, candidates);
        }
        rank(machine, exchange, searched, candidates);
    }
    return candidates;
}

} // namespace tessera::sparse
