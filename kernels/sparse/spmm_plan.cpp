// SPDX-License-Identifier: MIT
#include "base/activity.h"
#include "base/error.h"
#include "kernels/family/product.h"
#include "kernels/lower/lower.h"
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
void set_roundings(const Partition& partition, plan::PlanInfo& info) {
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
        info.rounded_to = ElementType::F16;
        info.roundings = 1 + (half ? reduced : 0);
    } else {
        info.rounded_to = problem.partials;
        info.roundings =
            half ? blocks + reduced : 4 * blocks + static_cast<std::int64_t>(contributors);
    }
}

plan::PlanInfo info_of(const Partition& partition) {
    const Split& split = partition.split();
    const workload::SparseF16& a = *partition.problem().matrix;
    plan::PlanInfo info;
    info.parts_m = split.parts_m;
    info.parts_k = split.parts_k;
    info.parts_n = split.parts_n;
    set_roundings(partition, info);
    info.flops = 2.0 * static_cast<double>(a.blocks()) * static_cast<double>(a.block * a.block) *
                 static_cast<double>(partition.problem().n);
    return info;
}

std::string name_of(const Problem& problem) {
    return fmt::format("spmm {} x {} x {}", problem.matrix->rows, problem.matrix->columns,
                       problem.n);
}

/// Messages of both exchanges, at most.
std::size_t messages(const Homes& homes, const Reduction& reduction) {
    std::size_t count = homes.messages();
    for (const SumJob& job : reduction.jobs) {
        count += job.others.size() * static_cast<std::size_t>(homes.partition().split().parts_n);
    }
    return count;
}

/// The split's program, or nothing when it does not fit; `reason` then says why. A split that is
/// only `compared` with one that fits is not planned either when that would take long.
std::optional<plan::PlannedProgram> plan_split(const spec::MachineSpec& machine,
                                               const Problem& problem, const Split& split,
                                               bool compared, std::string& reason) {
    std::optional<Activity> dividing(std::in_place, "dividing the matrix");
    const Partition partition(problem, split);
    const Homes homes(machine, partition);
    const Reduction reduction = find_reduction(partition);
    dividing.reset();
    if (compared && messages(homes, reduction) > kManyTransfers) {
        return std::nullopt;
    }
    try {
        std::optional<Activity> dealing(std::in_place, "dealing operands");
        Emitted emitted = emit(machine, homes, reduction, name_of(problem));
        dealing.reset();
        plan::PlanInfo info = info_of(partition);
        info.tiles_busy = emitted.tiles_busy;
        info.predicted.compute = emitted.compute;
        info.predicted.reduction = emitted.reduction;
        return lower::planned(machine, std::move(emitted.graph), std::move(info));
    } catch (const DoesNotFit& error) {
        if (reason.empty()) {
            reason = fmt::format("{} (with {} blocks in {} x {} x {} parts, the first of the "
                                 "divisions that were tried)",
                                 error.what(), problem.matrix->blocks(), split.parts_m,
                                 split.parts_k, split.parts_n);
        }
        return std::nullopt;
    }
}

/// The division that is predicted to be the fastest of those that fit, and its program.
struct Chosen {
    Split split;
    plan::PlannedProgram planned;
};

Chosen choose(const spec::MachineSpec& machine, const Problem& problem) {
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
        auto made = plan_split(machine, problem, candidate.split, best.has_value(), reason);
        planned += made.has_value() ? 1 : 0;
        if (made.has_value() &&
            (!best || made->info.predicted.total() < best->planned.info.predicted.total())) {
            best = {candidate.split, std::move(*made)};
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
    family::ProductPart part(const spec::MachineSpec& machine) const override {
        workload::SpmmWorkload workload;
        workload.n = n();
        workload.partials = partials();
        const Problem problem(workload, *a().sparse);
        const Partition partition(problem, choose(machine, problem).split);
        const Homes homes(machine, partition);
        return {spmm::emit(machine, homes, find_reduction(partition), name_of(problem)).graph,
                info_of(partition).roundings};
    }
};

} // namespace

plan::PlannedProgram plan_spmm(const spec::MachineSpec& machine,
                               const workload::SpmmWorkload& workload,
                               const workload::SparseF16& matrix) {
    return choose(machine, Problem(workload, matrix)).planned;
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
