// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_shared.h"

#include "base/error.h"
#include "kernels/sparse/spmm_homes.h"
#include "kernels/sparse/spmm_planned.h"
#include "kernels/sparse/spmm_reduction.h"
#include "kernels/sparse/spmm_sampled.h"
#include "kernels/sparse/spmm_search.h"

#include <algorithm>
#include <any>
#include <cstddef>
#include <iterator>
#include <map>
#include <utility>

namespace tessera::sparse {
namespace {

/// Splits that are placed, of those that fit; and tried before the answer is that none fits.
constexpr std::size_t kSharedPlaced = 3;
constexpr std::size_t kSharedTried = 24;

/// What has been chosen, by partial results and tiles of the site.
using Chosen = std::map<std::pair<ElementType, std::int64_t>, std::optional<Split>>;

workload::SpmmWorkload workload_of(ElementType type, const family::SparseUse& use) {
    workload::SpmmWorkload workload;
    workload.n = use.n;
    workload.dtype = type;
    workload.partials = use.partials;
    return workload;
}

/// The uses that may share a plan; none where all make the same.
std::vector<family::SparseUse> uses_with(const family::SharedMatrix& matrix, ElementType partials) {
    std::vector<family::SparseUse> uses;
    std::ranges::copy_if(matrix.uses, std::back_inserter(uses),
                         [&](const family::SparseUse& use) { return use.partials == partials; });
    const bool are_alike = std::ranges::all_of(
        uses, [&](const family::SparseUse& use) { return use.kind == uses.front().kind; });
    return are_alike ? std::vector<family::SparseUse>{} : uses;
}

/// The least that all passes take together by a split. @throws DoesNotFit
Cycles least_of(const spec::MachineSpec& machine, const SharedPatterns& patterns,
                const std::vector<family::SparseUse>& uses, std::span<const Problem> problems,
                const Split& split) {
    Cycles all = 0;
    for (std::size_t i = 0; i < uses.size(); ++i) {
        const auto accumulate =
            uses[i].accumulates ? workload::Accumulate::Over : workload::Accumulate::None;
        all += family::placed(machine, plan_pass(machine, patterns, problems[i], split), accumulate)
                   .least;
    }
    return all;
}

} // namespace

std::optional<Split> choose_split(const spec::MachineSpec& machine, const SharedPatterns& patterns,
                                  ElementType type, const std::vector<family::SparseUse>& uses) {
    std::vector<Problem> problems;
    for (const family::SparseUse& use : uses) {
        problems.push_back(problem_of(patterns, type, use));
    }
    // the matrix is cut into slices that all passes have
    Problem cut = *std::ranges::min_element(problems, {}, &Problem::column_groups);
    cut.matrix = patterns.matrix.get();
    cut.pass = Pass::Product;
    const auto candidates =
        search(machine, {cut, problems, &patterns.transpose.pattern, patterns.transpose.from});
    std::optional<Split> best;
    Cycles best_cycles = 0;
    std::size_t placed = 0;
    for (std::size_t at = 0;
         at < std::min(candidates.size(), kSharedTried) && placed < kSharedPlaced; ++at) {
        if (best && (candidates[at].over > 0 || candidates[at].least_messages > kManyTransfers)) {
            continue;
        }
        try {
            const Cycles cycles = least_of(machine, patterns, uses, problems, candidates[at].split);
            ++placed;
            if (!best || cycles < best_cycles) {
                best = candidates[at].split;
                best_cycles = cycles;
            }
        } catch (const DoesNotFit&) {
        }
    }
    return best;
}

Problem problem_of(const SharedPatterns& patterns, ElementType type, const family::SparseUse& use) {
    return {workload_of(type, use),
            use.kind == Pass::Transposed ? patterns.transpose.pattern : *patterns.matrix, use.kind};
}

std::optional<Split> shared_split(const spec::MachineSpec& machine, family::SharedMatrix& matrix,
                                  const SharedPatterns& patterns, ElementType type,
                                  ElementType partials) {
    const auto uses = uses_with(matrix, partials);
    if (uses.empty() || !has_kind(machine, patterns.matrix->block, {type, partials})) {
        return std::nullopt;
    }
    if (!matrix.plan.has_value()) {
        matrix.plan = Chosen{};
    }
    auto& chosen = std::any_cast<Chosen&>(matrix.plan);
    const auto key = std::make_pair(partials, machine.chip.tiles);
    auto known = chosen.find(key);
    if (known == chosen.end()) {
        known = chosen.emplace(key, choose_split(machine, patterns, type, uses)).first;
    }
    return known->second;
}

family::Planned plan_pass(const spec::MachineSpec& machine, const SharedPatterns& patterns,
                          const Problem& problem, const Split& split) {
    const std::vector<std::int64_t>& from = patterns.transpose.from;
    Problem cut_by = problem;
    cut_by.matrix = patterns.matrix.get();
    const bool is_transposed = problem.pass == Pass::Transposed;
    cut_by.pass = is_transposed ? Pass::Product : problem.pass;
    const Partition cut(cut_by, split);
    if (problem.pass == Pass::Sampled) {
        const Partition dy = left_lines(cut, patterns.transpose.pattern, from);
        return emit_sampled(machine, Homes(machine, cut), Homes(machine, dy));
    }
    const Partition partition(problem, cut, from);
    const Reduction reduction = find_reduction(partition);
    check_bytes(machine, partition, reduction);
    return planned(machine, Homes(machine, partition), reduction,
                   is_transposed ? std::optional(OfMatrix{cut, from}) : std::nullopt);
}

} // namespace tessera::sparse
