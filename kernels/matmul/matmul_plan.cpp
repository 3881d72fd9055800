// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/family/product.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matmul_epilogue.h"
#include "kernels/matmul/matmul_graph.h"
#include "kernels/matmul/matmul_groups.h"
#include "kernels/matmul/matmul_published.h"
#include "kernels/matmul/matmul_search.h"
#include "kernels/plan/chip_memory.h"
#include "kernels/plan/exchange_cost.h"
#include "models/spec/matrix_unit.h"

#include <fmt/format.h>

#include <exception>
#include <optional>
#include <utility>

namespace tessera::matmul {
namespace {

/// Partitions tried exactly before the answer is that none fits.
constexpr std::size_t kTried = 200;

family::Cuts cuts_of(const Partition& p) {
    return {p.parts_m, p.parts_k, p.parts_n, p.chunks,
            p.paired == Paired::None ? "none" : (p.paired == Paired::A ? "a" : "b")};
}

family::Division division_of(const Grid& grid) {
    const Partition& p = grid.partition();
    const Problem& problem = grid.problem();
    const std::int64_t roundings = problem.partials == ElementType::F16
                                       ? grid.most_k_groups() + (p.parts_k > 1 ? 1 : 0)
                                       : 4 * grid.most_k_groups() + p.parts_k;
    return {cuts_of(p), p.tiles(), roundings, {}};
}

/// Operands and result alone are more than there is.
bool exceeds_chip(const spec::MachineSpec& machine, const Problem& problem) {
    const auto m = static_cast<double>(problem.m);
    const auto k = static_cast<double>(problem.k);
    const auto n = static_cast<double>(problem.n);
    return plan::exceeds_chip(machine, 2 * (m * k + k * n + m * n));
}

Planned plan_partition(const spec::MachineSpec& machine, const Grid& grid,
                       const std::string& name) {
    Emitted emitted = emit(machine, grid, name);
    family::Division division = division_of(grid);
    division.predicted.compute = emitted.compute;
    division.predicted.reduction = emitted.reduction;
    return {std::move(emitted.graph), std::move(division)};
}

struct Chosen {
    Partition partition;
    family::Divided divided;
};

/// The first partition that fits.
Chosen choose_partition(const spec::MachineSpec& machine, const Problem& problem,
                        const std::string& name, plan::KnownSchedules& known) {
    const bool vain = exceeds_chip(machine, problem);
    std::string reason;
    for (const Candidate& candidate : search(machine, problem, vain ? 1 : kTried)) {
        const Grid grid(problem, candidate.partition);
        try {
            Planned planned = plan_partition(machine, grid, name);
            return {candidate.partition, family::lowered(machine, std::move(planned.graph),
                                                         std::move(planned.division), known)};
        } catch (const DoesNotFit& error) {
            const Partition& p = candidate.partition;
            reason = fmt::format("{} (in {} x {} x {} tiles and {} chunks, the last of the "
                                 "divisions that were tried)",
                                 error.what(), p.parts_m, p.parts_k, p.parts_n, p.chunks);
        }
    }
    throw DoesNotFit(reason);
}

/// Codelets of ours sum FP16 partials by both sets of a matrix unit.
bool has_codelets(const spec::MachineSpec& machine, ElementType partials) {
    return partials == ElementType::F32 || spec::matrix_unit(machine).sets > 1;
}

std::string name_of(const Problem& problem) {
    return fmt::format("matmul {} x {} x {}", problem.m, problem.k, problem.n);
}

/// Where it does not fit, its temporaries get half of what they had, as a user of the library would
/// lower its share of memory.
family::Divided choose_published(const spec::MachineSpec& machine,
                                 const workload::MatmulWorkload& workload,
                                 plan::KnownSchedules& known) {
    constexpr int kShares = 5;
    constexpr std::int64_t kMostSteps = 32; // what each needs of rows and code adds up, too
    double share = published::kTemporaryShare;
    std::optional<published::DenseSplit> before;
    std::exception_ptr misfit;
    for (int tried = 0; tried < kShares; ++tried, share /= 2) {
        const published::DensePlan plan = published_plan(machine, workload, share);
        if (before && (plan.split == *before || plan.split.serial_steps() > kMostSteps ||
                       plan.split.in_serial > 1)) {
            continue;
        }
        before = plan.split;
        try {
            Planned planned = plan_published(machine, workload, plan);
            return family::lowered(machine, std::move(planned.graph), std::move(planned.division),
                                   known);
        } catch (const DoesNotFit&) {
            misfit = misfit ? misfit : std::current_exception();
        }
    }
    std::rethrow_exception(misfit);
}

Planned plan_published_once(const spec::MachineSpec& machine,
                            const workload::MatmulWorkload& workload) {
    return plan_published(machine, workload, published_plan(machine, workload));
}
Cycles cost_of_ours(const spec::MachineSpec& machine, const workload::MatmulWorkload& workload) {
    return search(machine, Problem(workload), 1).front().cycles();
}
Planned plan_ours(const spec::MachineSpec& machine, const workload::MatmulWorkload& workload) {
    const Problem problem(workload);
    const Grid grid(problem, search(machine, problem, 1).front().partition);
    return plan_partition(machine, grid, name_of(problem));
}

workload::Activation activation_of(const std::string& word) {
    return word == "relu"   ? workload::Activation::Relu
           : word == "gelu" ? workload::Activation::Gelu
                            : workload::Activation::None;
}

const char* activation_text(workload::Activation activation) {
    switch (activation) {
    case workload::Activation::Relu:
        return ", relu";
    case workload::Activation::Gelu:
        return ", gelu";
    case workload::Activation::None:
        break;
    }
    return "";
}

class MatmulStep final : public family::Product {
public:
    explicit MatmulStep(const family::Request& request) : Product(matmul::family(), request) {
        if (a().sparse != nullptr) {
            throw family::Refused(0, {}, "got a sparse matrix, expected a dense one (see spmm)");
        }
        workload_.groups = shape().groups;
        workload_.m = shape().m;
        workload_.k = shape().k;
        workload_.n = shape().n;
        workload_.dtype = shape().dtype;
        workload_.partials = shape().partials;
        workload_.plan = shape().plan;
        workload_.bias = has_bias();
        workload_.activation =
            activation_of(family::word_of(matmul::family(), request, "activation"));
    }

    [[nodiscard]] std::optional<family::Estimate>
    estimate(const spec::MachineSpec& machine) const override {
        return choose_by_estimate(machine, workload_);
    }
    [[nodiscard]] std::string sentence() const override {
        return fmt::format("matmul {}{} x {} x {}, {}{}{}",
                           workload_.groups == 1 ? "" : fmt::format("{} times ", workload_.groups),
                           workload_.m, workload_.k, workload_.n,
                           workload_.dtype != ElementType::F16
                               ? std::string(tessera::name_of(workload_.dtype))
                               : fmt::format("{} partials", tessera::name_of(workload_.partials)),
                           workload_.bias ? ", bias" : "", activation_text(workload_.activation));
    }

private:
    family::Divided choose(const family::Site& site) const override {
        return matmul::choose(site.machine, workload_, site.known);
    }
    workload::AfterProduct after(std::vector<double> bias) const override {
        return after_product(workload_, std::move(bias));
    }
    bool keeps_whole_numbers() const override {
        return workload_.activation != workload::Activation::Gelu;
    }

    workload::MatmulWorkload workload_;
};

} // namespace

family::Divided choose(const spec::MachineSpec& machine, const workload::MatmulWorkload& workload) {
    plan::KnownSchedules known;
    return choose(machine, workload, known);
}

family::Divided choose(const spec::MachineSpec& machine, const workload::MatmulWorkload& workload,
                       plan::KnownSchedules& known) {
    if (bytes_of(workload.dtype) == 1 && machine.chip.generation != spec::Generation::Ipu21) {
        throw NotModelled(fmt::format("matmul in {}: not modelled: FP8 on a machine whose "
                                      "chip.generation is not ipu21, which has none",
                                      tessera::name_of(workload.dtype)));
    }
    const bool published = workload.plan == workload::PlanKind::Published ||
                           workload.dtype != ElementType::F16 ||
                           !has_codelets(machine, workload.partials);
    if (workload.groups > 1) {
        return choose_groups(machine, workload, known,
                             published ? PlanOfGroup{cost_of_published, plan_published_once}
                                       : PlanOfGroup{cost_of_ours, plan_ours});
    }
    if (published) {
        return choose_published(machine, workload, known);
    }
    const Problem problem(workload);
    try {
        return choose_partition(machine, problem, name_of(problem), known).divided;
    } catch (const DoesNotFit&) {
        if (exceeds_chip(machine, problem)) {
            throw;
        }
        try { // the published plan has steps over rows, which need less at a time
            return choose_published(machine, workload, known);
        } catch (const DoesNotFit&) {
        } catch (const NotModelled&) { // steps over k: what does not fit is what ours lacks
        }
        throw;
    }
}

family::Estimate choose_by_estimate(const spec::MachineSpec& machine,
                                    const workload::MatmulWorkload& workload) {
    const Problem problem(workload);
    family::check_plan(has_codelets(machine, workload.partials) ? workload.plan
                                                                : workload::PlanKind::Published,
                       name_of(problem));
    if (workload.dtype != ElementType::F16) {
        throw NotModelled(
            fmt::format("{}, {}: not modelled: an estimate; see docs/published_plans.md",
                        name_of(problem), tessera::name_of(workload.dtype)));
    }
    if (workload.groups > 1) {
        throw NotModelled(name_of(problem) + ": not modelled: an estimate of several groups");
    }
    family::check_estimable(machine, name_of(problem), codelets_of(problem));
    const Candidate best = search(machine, problem, 1).front();
    return family::fitting(machine, name_of(problem),
                           {cuts_of(best.partition), best.predicted, best.bytes});
}

const family::Family& family() {
    static const family::Family matmul = [] {
        family::Family made{"matmul",
                            "c = activation(a b + bias), all dense",
                            {"a", "b", "bias"},
                            family::product_options(),
                            [](const family::Request& request) -> std::unique_ptr<family::Step> {
                                return std::make_unique<MatmulStep>(request);
                            }};
        made.optional_inputs = 1;
        made.options.push_back({.key = "activation",
                                .says = "what is made of the product's elements, behind the bias",
                                .words = {"none", "relu", "gelu"},
                                .word = "none"});
        return made;
    }();
    return matmul;
}

} // namespace tessera::matmul
