// SPDX-License-Identifier: MIT
#include "base/activity.h"
#include "base/error.h"
#include "kernels/family/product.h"
#include "kernels/plan/chip_memory.h"
#include "kernels/sparse/spmm.h"
#include "kernels/sparse/spmm_graph.h"
#include "kernels/sparse/spmm_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace tessera::spmm {
namespace {

/// Splits planned to the end; the estimate ranks them, the plan decides.
constexpr std::size_t kPlanned = 3;
/// With more transfers than this the best-ranked split is taken: planning their exchange is what
/// takes the time.
constexpr std::size_t kManyTransfers = 30'000;
/// Splits tried before the answer is that none fits.
constexpr std::size_t kTried = 60;

/// Products of elements are rounded to FP16 in any case: the FP32 accumulators are rounded once
/// more with FP16 partials and once in a reduction. The check's own last rounding stands for the
/// result.
std::int64_t roundings_of(const Partition& partition) {
    const Problem& problem = partition.problem();
    std::size_t contributors = 0;
    std::int64_t blocks = 0;
    for (std::int64_t row = 0; row < problem.matrix->block_rows(); ++row) {
        contributors = std::max(contributors, partition.contributors(row).size());
        blocks = std::max(blocks, problem.matrix->row_start[static_cast<std::size_t>(row + 1)] -
                                      problem.matrix->row_start[static_cast<std::size_t>(row)]);
    }
    const bool half = problem.partials == ElementType::F16;
    const std::int64_t reduced = contributors > 1 ? 1 : 0;
    if (problem.block == 1) {
        return 1 + (half ? reduced : 0);
    }
    return half ? blocks + reduced : 4 * blocks + static_cast<std::int64_t>(contributors);
}

std::string name_of(const Problem& problem) {
    return fmt::format("spmm {} x {} x {}", problem.matrix->rows, problem.matrix->columns,
                       problem.n);
}

/// The split's graph, and what is told of it. Nothing where it is only `compared` with one that
/// fits and planning it would take long. @throws DoesNotFit
std::optional<std::pair<graph::Graph, family::Division>>
emit_split(const spec::MachineSpec& machine, const Problem& problem, const Split& split,
           bool compared) {
    std::optional<Activity> doing(std::in_place, "dividing the matrix");
    const Partition partition(problem, split);
    const Homes homes(machine, partition);
    const Reduction reduction = find_reduction(partition);
    if (compared && messages(homes, reduction) > kManyTransfers) {
        return std::nullopt;
    }
    doing.reset();
    doing.emplace("dealing operands");
    Emitted emitted = emit(machine, homes, reduction, name_of(problem));
    family::Division division;
    division.parts_m = split.parts_m;
    division.parts_k = split.parts_k;
    division.parts_n = split.parts_n;
    division.tiles_busy = emitted.tiles_busy;
    division.roundings = roundings_of(partition);
    division.predicted.compute = emitted.compute;
    division.predicted.reduction = emitted.reduction;
    return std::pair(std::move(emitted.graph), std::move(division));
}

/// A split that fits.
struct Chosen {
    Split split;
    family::Divided divided;
};

/// The split that is predicted to be the fastest of those that fit.
Chosen choose_split(const spec::MachineSpec& machine, const Problem& problem,
                    plan::KnownSchedules& known) {
    const workload::SparseF16& matrix = *problem.matrix;
    const auto n = static_cast<double>(problem.n);
    const bool vain = plan::exceeds_chip(
        machine,
        2 * (static_cast<double>(matrix.values.size()) +
             (static_cast<double>(matrix.columns) + static_cast<double>(matrix.rows)) * n));
    std::optional<Chosen> best;
    std::string reason;
    std::size_t planned = 0;
    std::size_t tried = 0;
    const auto candidates = search(machine, problem);
    const Activity trying("split", 0);
    for (const Candidate& candidate : candidates) {
        trying.step();
        if (planned == kPlanned || (tried++ >= kTried && planned > 0) ||
            tried > (vain ? 1 : 4 * kTried)) {
            break;
        }
        if (best && candidate.least_messages > kManyTransfers) {
            continue;
        }
        const Split& split = candidate.split;
        try {
            auto emitted = emit_split(machine, problem, split, best.has_value());
            if (!emitted) {
                continue;
            }
            auto& [graph, division] = *emitted;
            auto divided = family::lowered(machine, std::move(graph), std::move(division), known);
            ++planned;
            if (!best ||
                divided.division.predicted.total() < best->divided.division.predicted.total()) {
                best = {split, std::move(divided)};
            }
        } catch (const DoesNotFit& error) {
            if (reason.empty()) {
                reason = fmt::format("{} (with {} blocks in {} x {} x {} parts, the first of the "
                                     "divisions that were tried)",
                                     error.what(), problem.matrix->blocks(), split.parts_m,
                                     split.parts_k, split.parts_n);
            }
        }
    }
    if (!best) {
        throw DoesNotFit(reason);
    }
    return std::move(*best);
}

class SpmmStep final : public family::Product {
public:
    explicit SpmmStep(const family::Request& request) : Product(spmm::family(), request) {
        if (a().sparse == nullptr) {
            throw family::Refused(0, {}, "got a dense matrix, expected a sparse one (see matmul)");
        }
    }

private:
    family::ProductPart part(const spec::MachineSpec& machine,
                             plan::KnownSchedules& known) const override {
        workload::SpmmWorkload workload;
        workload.n = n();
        workload.partials = partials();
        const Problem problem(workload, *a().sparse);
        const Partition partition(problem, choose_split(machine, problem, known).split);
        const Homes homes(machine, partition);
        return {spmm::emit(machine, homes, find_reduction(partition), name_of(problem)).graph,
                roundings_of(partition)};
    }
};

} // namespace

family::Divided choose(const spec::MachineSpec& machine, const workload::SpmmWorkload& workload,
                       const workload::SparseF16& matrix) {
    plan::KnownSchedules known;
    return choose(machine, workload, matrix, known);
}

family::Divided choose(const spec::MachineSpec& machine, const workload::SpmmWorkload& workload,
                       const workload::SparseF16& matrix, plan::KnownSchedules& known) {
    return choose_split(machine, Problem(workload, matrix), known).divided;
}

const family::Family& family() {
    static const family::Family spmm{
        "spmm",
        "c = a b, a sparse",
        {"a", "b"},
        {family::partials_option()},
        [](const family::Request& request) -> std::unique_ptr<family::Step> {
            return std::make_unique<SpmmStep>(request);
        }};
    return spmm;
}

} // namespace tessera::spmm
