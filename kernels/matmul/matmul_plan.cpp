// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "kernels/family/product.h"
#include "kernels/graph/transpose.h"
#include "kernels/matmul/matmul.h"
#include "kernels/matmul/matmul_epilogue.h"
#include "kernels/matmul/matmul_gradient.h"
#include "kernels/matmul/matmul_graph.h"
#include "kernels/matmul/matmul_groups.h"
#include "kernels/matmul/matmul_homes.h"
#include "kernels/matmul/matmul_search.h"
#include "kernels/matmul/published/plan.h"
#include "kernels/plan/chip_memory.h"
#include "kernels/plan/exchange_cost.h"
#include "models/spec/matrix_unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace tessera::matmul {
namespace {

/// Partitions tried exactly before the answer is that none fits.
constexpr std::size_t kTried = 200;
constexpr std::size_t kTriedMirrored = 20;
constexpr double kWorthPlanning = 0.99;
constexpr Cycles kNoEstimate = std::numeric_limits<Cycles>::max() / 4;

/// The product C' = B' A' of the same operands as they stand. A bias would be an element for each of
/// its rows.
workload::MatmulWorkload mirrored(workload::MatmulWorkload workload) {
    std::swap(workload.m, workload.n);
    return workload;
}
family::Cuts mirrored(family::Cuts cuts) {
    std::swap(cuts.parts_m, cuts.parts_n);
    cuts.paired = cuts.paired == Paired::A   ? Paired::B
                  : cuts.paired == Paired::B ? Paired::A
                                             : Paired::None;
    cuts.is_mirrored = true;
    return cuts;
}
/// What was planned for that as a plan of C = A B: only the host's view of the three turns.
family::Planned mirrored(family::Planned planned) {
    auto& tensors = planned.graph.tensors;
    std::swap(tensors.at(0), tensors.at(1));
    std::swap(tensors[0].name, tensors[1].name);
    for (std::size_t tensor = 0; tensor < 3; ++tensor) {
        graph::transpose(tensors[tensor]);
    }
    static_cast<family::Cuts&>(planned.division) = mirrored(planned.division);
    return planned;
}

std::string name_of(const Problem& problem) {
    return fmt::format("matmul {} x {} x {}", problem.m, problem.k, problem.n);
}

/// Whose plan it is, and of which of the two products.
struct Way {
    bool is_published = false;
    bool is_mirrored = false;
    Cycles estimate = 0;
};

/// The product of a group.
workload::MatmulWorkload told(const Way& way, const workload::MatmulWorkload& workload) {
    workload::MatmulWorkload one = way.is_mirrored ? mirrored(workload) : workload;
    one.groups = 1;
    return one;
}
family::Planned as_told(const Way& way, family::Planned planned) {
    return way.is_mirrored ? mirrored(std::move(planned)) : std::move(planned);
}

/// The first partition that fits. `workload` is mirrored where the way is.
family::Divided choose_partition(const spec::MachineSpec& machine,
                                 const workload::MatmulWorkload& workload, const Way& way,
                                 const StandingSquares& standing,
                                 exchange_plan::KnownSchedules& known) {
    const StandingSquares stands =
        way.is_mirrored ? StandingSquares{standing.b, standing.a, standing.first_member} : standing;
    const std::size_t tried = plan::exceeds_chip(machine, operand_bytes(workload)) ? 1
                              : way.is_mirrored                                    ? kTriedMirrored
                                                                                   : kTried;
    const Problem problem(workload);
    std::string reason;
    for (const family::Estimate& one : search(machine, problem, tried)) {
        const Partition& p = one.cuts;
        const Grid grid(problem, p);
        const auto with = [&](const Placing& placing) {
            auto planned =
                as_told(way, emit(machine, placing.grid, name_of(problem), placing.standing));
            return family::lowered(machine, std::move(planned), workload.accumulate, known);
        };
        const StandingSquares nothing{{}, {}, standing.first_member};
        try {
            if (stands.a || stands.b) {
                try {
                    const Placing placing = best_placing(machine, grid, stands);
                    if (placing.standing.a || placing.standing.b) {
                        return with(placing);
                    }
                } catch (const DoesNotFit&) {
                    // squares and their messages may take more than other homes do
                }
            }
            return with({grid, nothing});
        } catch (const DoesNotFit& error) {
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

/// Where it does not fit, its temporaries get half of what they had, as a user of the library would
/// lower its share of memory.
family::Divided choose_published(const spec::MachineSpec& machine,
                                 const workload::MatmulWorkload& workload, const Way& way,
                                 exchange_plan::KnownSchedules& known) {
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
            auto planned = as_told(way, plan_published(machine, workload, plan));
            return family::lowered(machine, std::move(planned), workload.accumulate, known);
        } catch (const DoesNotFit&) {
            misfit = misfit ? misfit : std::current_exception();
        }
    }
    std::rethrow_exception(misfit);
}

PlanOfGroup plan_of_group(const Way& way) {
    using workload::MatmulWorkload;
    return {[way](const spec::MachineSpec& machine, const MatmulWorkload& workload) {
                const auto one = told(way, workload);
                return way.is_published ? published_cycles(machine, one)
                                        : search(machine, Problem(one), 1).front().cycles();
            },
            [way](const spec::MachineSpec& machine, const MatmulWorkload& workload) {
                const auto one = told(way, workload);
                if (way.is_published) {
                    return as_told(way, plan_published(machine, one, published_plan(machine, one)));
                }
                const Problem problem(one);
                const Grid grid(problem, search(machine, problem, 1).front().cuts);
                return as_told(way, emit(machine, grid, name_of(problem)));
            }};
}

/// The ways of a product by one of the two planners, the one with the least estimate first. A way that
/// has none comes last: whether it fits shows when it is planned.
std::vector<Way> ways_of(const spec::MachineSpec& machine, const workload::MatmulWorkload& workload,
                         bool is_published, bool may_mirror) {
    std::vector<Way> ways;
    for (const bool is_mirrored : {false, true}) {
        if (is_mirrored && (workload.bias || workload.unmirrored || !may_mirror)) {
            continue;
        }
        Way way{is_published, is_mirrored, kNoEstimate};
        try {
            way.estimate = workload.groups > 1
                               ? cost_of_groups(machine, workload, plan_of_group(way))
                               : plan_of_group(way).cost(machine, workload);
        } catch (const DoesNotFit&) {
        }
        ways.push_back(way);
    }
    std::ranges::stable_sort(ways, {}, &Way::estimate);
    return ways;
}

family::Divided plan_way(const spec::MachineSpec& machine, const workload::MatmulWorkload& workload,
                         const Way& way, const StandingSquares& standing,
                         exchange_plan::KnownSchedules& known) {
    if (workload.groups > 1) {
        return choose_groups(machine, workload, known, plan_of_group(way));
    }
    const auto one = told(way, workload);
    return way.is_published ? choose_published(machine, one, way, known)
                            : choose_partition(machine, one, way, standing, known);
}

/// The least of the ways by one planner, as their exchanges and vertices are predicted; nothing where
/// none fits, and why the product as it is told does not. A way that is not expected to take a percent
/// less than the best one is not planned.
std::optional<family::Divided> least_of(const spec::MachineSpec& machine,
                                        const workload::MatmulWorkload& workload, bool is_published,
                                        bool may_mirror, const StandingSquares& standing,
                                        exchange_plan::KnownSchedules& known,
                                        std::exception_ptr& misfit) {
    std::optional<family::Divided> best;
    std::exception_ptr of_mirrored;
    for (const Way& way : ways_of(machine, workload, is_published, may_mirror)) {
        if (best && static_cast<double>(way.estimate) >=
                        kWorthPlanning * static_cast<double>(best->division.predicted.total())) {
            break;
        }
        try {
            family::Divided divided = plan_way(machine, workload, way, standing, known);
            if (!best || divided.division.predicted.total() < best->division.predicted.total()) {
                best = std::move(divided);
            }
        } catch (const DoesNotFit&) {
            (way.is_mirrored ? of_mirrored : misfit) = std::current_exception();
        } catch (const NotModelled&) { // published steps over k
            (way.is_mirrored ? of_mirrored : misfit) = std::current_exception();
        }
    }
    if (misfit == nullptr) {
        misfit = of_mirrored;
    }
    return best;
}

class MatmulStep final : public family::Product {
public:
    explicit MatmulStep(const family::Request& request) : Product(matmul::family(), request) {
        if (a().sparse != nullptr) {
            throw family::Refused(0, {}, "got a sparse matrix, expected a dense one (see spmm)");
        }
        workload_ = told();
        workload_.unmirrored = family::flag_of(matmul::family(), request, "unmirrored");
        const auto word = std::ranges::find(
            workload::kActivations, family::word_of(matmul::family(), request, "activation"));
        workload_.activation =
            static_cast<workload::Activation>(word - workload::kActivations.begin());
    }

    [[nodiscard]] std::optional<family::Estimate>
    estimate(const spec::MachineSpec& machine) const override {
        return choose_by_estimate(machine, workload_);
    }
    [[nodiscard]] std::string sentence() const override {
        const bool goes_on = workload_.activation != workload::Activation::None;
        const char* activation =
            workload::kActivations[static_cast<std::size_t>(workload_.activation)];
        return fmt::format("matmul {}{} x {} x {}, {}{}{}{}{}",
                           workload_.groups == 1 ? "" : fmt::format("{} times ", workload_.groups),
                           workload_.m, workload_.k, workload_.n,
                           workload_.dtype != ElementType::F16
                               ? std::string(tessera::name_of(workload_.dtype))
                               : fmt::format("{} partials", tessera::name_of(workload_.partials)),
                           workload_.bias ? ", bias" : "", goes_on ? ", " : "",
                           goes_on ? activation : "", added_text());
    }

private:
    family::Divided choose(const family::Site& site) const override {
        workload::MatmulWorkload workload = workload_;
        workload.accumulate = accumulate_on(site);
        // The left operands of y = x w and of its gradient dy w^T are the operands of x^T dy. A dy without a place
        // gets the members of pairs that x leaves.
        const std::int64_t first_member = is_transposed(1) && !stands(0) ? 1 : 0;
        return matmul::choose(site.machine, workload, site.known, site.is_only,
                              {squares_of(0), squares_of(1), first_member});
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

family::Divided choose(const spec::MachineSpec& machine, const workload::MatmulWorkload& workload,
                       exchange_plan::KnownSchedules& known, bool may_mirror,
                       const StandingSquares& standing) {
    if (bytes_of(workload.dtype) == 1 && machine.chip.generation != spec::Generation::Ipu21) {
        throw NotModelled(fmt::format("matmul in {}: not modelled: FP8 on a machine whose "
                                      "chip.generation is not ipu21, which has none",
                                      tessera::name_of(workload.dtype)));
    }
    if (workload.plan == workload::PlanKind::Published) {
        return plan_way(machine, workload, {.is_published = true}, standing, known);
    }
    const bool has_ours =
        workload.dtype == ElementType::F16 && has_codelets(machine, workload.partials);
    if (workload.groups == 1 && has_ours && plan::exceeds_chip(machine, operand_bytes(workload))) {
        return plan_way(machine, workload, {}, standing, known); // no way helps
    }
    std::exception_ptr misfit;
    if (has_ours) {
        if (auto ours = least_of(machine, workload, false, may_mirror, standing, known, misfit)) {
            return std::move(*ours);
        }
    }
    // the published plan has steps over rows, which need less at a time
    std::exception_ptr of_published;
    if (auto published =
            least_of(machine, workload, true, may_mirror, standing, known, of_published)) {
        return std::move(*published);
    }
    std::rethrow_exception(misfit ? misfit : of_published);
}

family::Estimate choose_by_estimate(const spec::MachineSpec& machine,
                                    const workload::MatmulWorkload& workload) {
    const Problem problem(workload);
    family::check_estimable(
        machine, name_of(problem), codelets_of(problem),
        has_codelets(machine, workload.partials) ? workload.plan : workload::PlanKind::Published);
    if (workload.dtype != ElementType::F16) {
        throw NotModelled(
            fmt::format("{}, {}: not modelled: an estimate; see docs/published_plans.md",
                        name_of(problem), tessera::name_of(workload.dtype)));
    }
    if (workload.groups > 1) {
        throw NotModelled(name_of(problem) + ": not modelled: an estimate of several groups");
    }
    family::Estimate best = search(machine, problem, 1).front();
    if (!workload.bias && !workload.unmirrored) {
        family::Estimate other = search(machine, Problem(mirrored(workload)), 1).front();
        const bool fits = other.bytes <= plan::bytes_for_data(machine);
        if (fits && other.cycles() < best.cycles()) {
            other.cuts = mirrored(other.cuts);
            best = other;
        }
    }
    return family::fitting(machine, name_of(problem), best, workload.accumulate,
                           workload::result_type(workload.dtype), workload.m * workload.n);
}

const family::Family& family() {
    static const family::Family matmul = [] {
        auto made = family::product_family<MatmulStep>(
            "matmul", "c = activation(a b + bias), all dense; or added to c",
            {"a", "b", "bias", "c"}, 2);
        made.options.push_back({.key = "activation",
                                .says = "what is made of the product's elements, behind the bias",
                                .words = {"none", "relu", "gelu"},
                                .word = "none"});
        made.options.push_back(
            {.key = "unmirrored",
             .says = "the tiles multiply c = a b as it is told, never c' = b' a'",
             .words = {},
             .is_flag = true});
        made.gradient = gradient;
        return made;
    }();
    return matmul;
}

} // namespace tessera::matmul
