// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/family/product.h"
#include "kernels/lower/lower.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matmul_graph.h"
#include "kernels/matmul/matmul_search.h"
#include "kernels/plan/chip_memory.h"
#include "kernels/plan/exchange_cost.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::matmul {
namespace {

/// Partitions tried exactly before the answer is that none fits.
constexpr std::size_t kTried = 200;

plan::PlanInfo info_of(const Grid& grid) {
    const Partition& p = grid.partition();
    const Problem& problem = grid.problem();
    plan::PlanInfo info;
    info.parts_m = p.parts_m;
    info.parts_k = p.parts_k;
    info.parts_n = p.parts_n;
    info.chunks = p.chunks;
    info.paired = p.paired == Paired::None ? "none" : (p.paired == Paired::A ? "a" : "b");
    info.tiles_busy = p.tiles();
    info.rounded_to = problem.partials;
    info.roundings = problem.partials == ElementType::F16
                         ? grid.most_k_groups() + (p.parts_k > 1 ? 1 : 0)
                         : 4 * grid.most_k_groups() + p.parts_k;
    info.flops = 2.0 * static_cast<double>(problem.m) * static_cast<double>(problem.k) *
                 static_cast<double>(problem.n);
    return info;
}

/// A division that fits, and its program.
struct Chosen {
    Partition partition;
    plan::PlannedProgram planned;
};

Chosen choose(const spec::MachineSpec& machine, const Problem& problem, const std::string& name) {
    const auto m = static_cast<double>(problem.m);
    const auto k = static_cast<double>(problem.k);
    const auto n = static_cast<double>(problem.n);
    const bool vain = plan::exceeds_chip(machine, 2 * (m * k + k * n + m * n));
    std::string reason;
    for (const Candidate& candidate : search(machine, problem, vain ? 1 : kTried)) {
        const Grid grid(problem, candidate.partition);
        try {
            Emitted emitted = emit(machine, grid, name);
            plan::PlanInfo info = info_of(grid);
            info.predicted.compute = emitted.compute;
            info.predicted.reduction = emitted.reduction;
            return {candidate.partition,
                    lower::planned(machine, std::move(emitted.graph), std::move(info))};
        } catch (const DoesNotFit& error) {
            const Partition& p = candidate.partition;
            reason = fmt::format("{} (in {} x {} x {} tiles and {} chunks, the last of the "
                                 "divisions that were tried)",
                                 error.what(), p.parts_m, p.parts_k, p.parts_n, p.chunks);
        }
    }
    throw DoesNotFit(reason);
}

std::string name_of(const Problem& problem) {
    return fmt::format("matmul {} x {} x {}", problem.m, problem.k, problem.n);
}

class MatmulStep final : public family::Product {
public:
    explicit MatmulStep(const family::Request& request) : Product(matmul::family(), request) {
        if (a().sparse != nullptr) {
            throw family::Refused(0, {}, "got a sparse matrix, expected a dense one (see spmm)");
        }
    }

private:
    family::ProductPart part(const spec::MachineSpec& machine) const override {
        workload::MatmulWorkload workload;
        workload.m = a().shape[0];
        workload.k = a().shape[1];
        workload.n = n();
        workload.partials = partials();
        const Problem problem(workload);
        const Grid grid(problem, choose(machine, problem, name_of(problem)).partition);
        return {matmul::emit(machine, grid, name_of(problem)).graph, info_of(grid).roundings};
    }
};

} // namespace

plan::PlannedProgram plan_matmul(const spec::MachineSpec& machine,
                                 const workload::MatmulWorkload& workload) {
    const Problem problem(workload);
    return choose(machine, problem, name_of(problem)).planned;
}

const family::Family& family() {
    static const family::Family matmul{
        "matmul",
        "c = a b, both dense",
        {"a", "b"},
        {family::partials_option()},
        [](const family::Request& request) -> std::unique_ptr<family::Step> {
            return std::make_unique<MatmulStep>(request);
        }};
    return matmul;
}

} // namespace tessera::matmul
