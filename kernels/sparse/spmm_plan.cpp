// SPDX-License-Identifier: MIT
#include "base/activity.h"
#include "base/error.h"
#include "kernels/family/product.h"
#include "kernels/plan/chip_memory.h"
#include "kernels/sparse/published/plan.h"
#include "kernels/sparse/spmm.h"
#include "kernels/sparse/spmm_cost.h"
#include "kernels/sparse/spmm_planned.h"
#include "kernels/sparse/spmm_search.h"
#include "kernels/sparse/spmm_shared.h"
#include "models/spec/matrix_unit.h"

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

namespace tessera::sparse {
namespace {

/// Splits whose buffers are placed; the estimate ranks them, and what they take at least decides which one's
/// exchanges are scheduled.
constexpr std::size_t kPlaced = 3;
/// Long schedules leave gaps of 0.2 to 3 % of the bound, so of splits whose bounds are as near to each other none is
/// likelier than the others.
constexpr double kHardlyMore = 1.02;
/// Splits looked at from the first that is placed on: those that are not placed have many transfers, and looking costs
/// a walk over all blocks.
constexpr std::size_t kSeen = 8;
/// Splits of the search's order that are compared with the first that is placed.
constexpr std::size_t kCompared = 60;
/// Splits tried before the answer is that none fits, and among them those that seemed to fit.
constexpr std::size_t kTried = 240;
constexpr std::size_t kMisfits = 12;

/// A candidate's graph, and what is told of it, with its buffers placed. Nothing where it is only
/// `compared` with one that is placed and this would take long. @throws DoesNotFit
std::optional<family::Placed> place(const spec::MachineSpec& machine, const Problem& problem,
                                    workload::Accumulate accumulate, const Candidate& candidate,
                                    bool compared) {
    if (compared && candidate.least_messages > kManyTransfers) {
        return std::nullopt;
    }
    std::optional<Activity> doing(std::in_place, "dividing the matrix");
    const Partition partition(problem, candidate.split);
    const Reduction reduction = find_reduction(partition);
    check_bytes(machine, partition, reduction);
    const Homes homes(machine, partition);
    if (compared && messages(homes, reduction) > kManyTransfers) {
        return std::nullopt;
    }
    doing.reset();
    doing.emplace("dealing operands");
    family::Planned made = planned(machine, homes, reduction);
    doing.reset();
    return family::placed(machine, std::move(made), accumulate);
}

/// What placing a candidate came to, or scheduling its exchanges.
template <class Of> struct Outcome {
    std::optional<Of> made;     ///< nothing: it need not be, or does not fit
    std::string misfit;         ///< why, where it does not
    std::exception_ptr failure; ///< what ended it otherwise
};

/// Makes so many, where there are host threads side by side. A thread that waits for parts of one does not
/// begin another; what one throws is kept, for it would cancel parts of the others, which go on without
/// them.
template <class Of, class Make>
std::vector<Outcome<Of>> side_by_side(std::size_t count, const Make& make) {
    std::vector<Outcome<Of>> all(count);
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, count, 1),
        [&](const tbb::blocked_range<std::size_t>& range) {
            for (std::size_t i = range.begin(); i < range.end(); ++i) {
                try {
                    all[i].made = make(i);
                } catch (const DoesNotFit& error) {
                    all[i].misfit = error.what();
                } catch (...) {
                    all[i].failure = std::current_exception();
                }
            }
        },
        tbb::simple_partitioner());
    return all;
}

/// Places the candidates of a search in their order, where there are host threads several at once:
/// those that come next if every one fits. Placing further ones, and what they are compared with,
/// hangs on whether those before fit; what was placed in vain is not looked at.
class Placing {
public:
    Placing(const spec::MachineSpec& machine, const Problem& problem,
            workload::Accumulate accumulate, const std::vector<Candidate>& candidates)
        : machine_(machine), problem_(problem), accumulate_(accumulate), candidates_(candidates) {}

    /// Candidate `at`, `wanted` with those behind it that are to be placed.
    Outcome<family::Placed> place(std::size_t at, std::size_t wanted, bool compared) {
        if (at < first_ || at >= first_ + ahead_.size() || compared != (at > first_ || compared_)) {
            place_ahead(at, wanted, compared);
        }
        Outcome<family::Placed> tried = std::move(ahead_[at - first_]);
        if (tried.failure) {
            std::rethrow_exception(tried.failure);
        }
        return tried;
    }

private:
    void place_ahead(std::size_t at, std::size_t wanted, bool compared) {
        const auto threads = static_cast<std::size_t>(tbb::this_task_arena::max_concurrency());
        first_ = at;
        compared_ = compared;
        ahead_ = side_by_side<family::Placed>(
            threads < 2 ? 1 : std::min(wanted, candidates_.size() - at), [&](std::size_t i) {
                return sparse::place(machine_, problem_, accumulate_, candidates_[at + i],
                                     compared || i > 0);
            });
    }

    const spec::MachineSpec& machine_;
    const Problem& problem_;
    workload::Accumulate accumulate_;
    const std::vector<Candidate>& candidates_;
    std::size_t first_ = 0; ///< candidate that the first of `ahead_` is of
    bool compared_ = false; ///< with one before it that is placed
    std::vector<Outcome<family::Placed>> ahead_;
};

/// Operands and result alone are more than there is.
bool exceeds_chip(const spec::MachineSpec& machine, const workload::SpmmWorkload& workload,
                  const workload::SparsePattern& matrix) {
    return plan::exceeds_chip(machine,
                              real(bytes_of(workload.dtype)) *
                                  (real(matrix.stored_elements()) +
                                   (real(matrix.columns) + real(matrix.rows)) * real(workload.n)));
}

/// Of `placed` the fastest. Those that take hardly more at least than the one that takes least are scheduled together,
/// then further ones as long as they may be faster still. `misfit`: why none fits.
std::optional<family::Divided> fastest_of(const spec::MachineSpec& machine,
                                          std::vector<family::Placed> placed,
                                          exchange_plan::KnownSchedules& known,
                                          std::string& misfit) {
    std::ranges::stable_sort(placed, {}, &family::Placed::least);
    std::optional<family::Divided> best;
    const auto may_be_faster = [&](const family::Placed& one) {
        return !best || one.least < best->division.predicted.total();
    };
    for (auto first = placed.begin(); first != placed.end() && may_be_faster(*first);) {
        const auto hardly_more = static_cast<Cycles>(kHardlyMore * real(first->least));
        const auto last = std::find_if(first, placed.end(), [&](const family::Placed& one) {
            return one.least > hardly_more;
        });
        const auto count = static_cast<std::size_t>(last - first);
        for (auto& one : side_by_side<family::Divided>(count, [&](std::size_t i) {
                 return family::lowered(machine, std::move(first[static_cast<std::ptrdiff_t>(i)]),
                                        known);
             })) {
            if (one.failure) {
                std::rethrow_exception(one.failure);
            }
            misfit = misfit.empty() ? one.misfit : misfit;
            if (one.made && (!best || one.made->division.predicted.total() <
                                          best->division.predicted.total())) {
                best = std::move(one.made);
            }
        }
        first = last;
    }
    return best;
}

/// Plans one pass of several, whose exchange rows stand for each of them, and whose B and C stand beside those of
/// all others. @throws DoesNotFit where that is more than there is
void check_passes(const spec::MachineSpec& machine, const workload::SpmmWorkload& workload,
                  const workload::SparsePattern& matrix, const PublishedUse& use) {
    constexpr Bytes kOfFour = 3; // blocks come once, and a search may find shorter ones
    workload::SpmmWorkload one = workload;
    one.n = columns_of_pass(workload.n, use.passes);
    const std::string name =
        fmt::format("{} in {} passes", name_of(Problem(workload, matrix)), use.passes);
    const lower::PlacedGraph pass = [&] {
        try {
            return lower::PlacedGraph(
                machine,
                plan_published(machine, one, matrix, {.passes = 1, .in_loop = true}).graph);
        } catch (const DoesNotFit& error) {
            throw DoesNotFit(fmt::format("{}: one of them: {}", name, error.what()));
        }
    }();
    const Bytes rows = pass.quick_row_bytes();
    const Bytes data = pass.bytes_without_rows();
    const Bytes of_lines = bytes_of(workload.dtype) * (matrix.rows + matrix.columns);
    const Bytes others = rows * kOfFour / 4 + of_lines * one.n / machine.chip.tiles;
    const Bytes all = data + rows * kOfFour / 4 + (workload.n / one.n - 1) * others;
    if (all > machine.memory.bytes()) {
        throw DoesNotFit(fmt::format("{} does not fit in tile memory: the fullest tile is some {} "
                                     "bytes over; a pass takes {} "
                                     "bytes of a tile, {} of them for exchange rows",
                                     name, all - machine.memory.bytes(), data + rows, rows));
    }
}

/// The published plan in as few passes, doubled each time, as fit.
family::Divided choose_published(const spec::MachineSpec& machine,
                                 const workload::SpmmWorkload& workload,
                                 const workload::SparsePattern& matrix,
                                 exchange_plan::KnownSchedules& known, PublishedUse use) {
    constexpr std::int64_t kMostPasses = 32;
    constexpr std::int64_t kFewestColumns = 8;
    try {
        if (use.passes > 1) {
            check_passes(machine, workload, matrix, use);
        }
        auto planned = plan_published(machine, workload, matrix, use);
        return family::lowered(machine, std::move(planned), workload.accumulate, known);
    } catch (const DoesNotFit&) {
        if (use.passes == kMostPasses || workload.n <= use.passes * kFewestColumns ||
            exceeds_chip(machine, workload, matrix)) {
            throw;
        }
    }
    use.passes *= 2;
    return choose_published(machine, workload, matrix, known, use);
}

/// The published plan where it is expected to take fewer cycles than `ours`: with few columns, of
/// which each tile gets all, and whose rows of B come together from neighbours. Its planner's own sum
/// is optimistic, so that it is planned to the end, and compared, only where that is less.
std::optional<family::Divided> faster_published(const spec::MachineSpec& machine,
                                                const workload::SpmmWorkload& workload,
                                                const workload::SparsePattern& matrix,
                                                exchange_plan::KnownSchedules& known, Cycles ours,
                                                PublishedUse use) {
    if (matrix.blocks() == 0) {
        return std::nullopt;
    }
    try {
        if (published_cycles(machine, workload, matrix) >= ours) {
            return std::nullopt;
        }
        family::Placed placed = family::placed(
            machine, plan_published(machine, workload, matrix, use), workload.accumulate);
        if (placed.least >= ours) {
            return std::nullopt;
        }
        family::Divided divided = family::lowered(machine, std::move(placed), known);
        if (divided.division.predicted.total() < ours) {
            return divided;
        }
    } catch (const DoesNotFit&) {
    }
    return std::nullopt;
}

class SpmmStep final : public family::Product {
public:
    explicit SpmmStep(const family::Request& request) : Product(sparse::family(), request) {
        if (a().sparse == nullptr) {
            throw family::Refused(0, {}, "got a dense matrix, expected a sparse one (see matmul)");
        }
        const workload::MatmulWorkload& as_dense = told();
        if (as_dense.dtype != ElementType::F16 && as_dense.dtype != ElementType::F32) {
            throw family::Refused(
                0, {},
                fmt::format("got {}, expected f16 or f32", tessera::name_of(as_dense.dtype)));
        }
        workload_.n = as_dense.n;
        workload_.dtype = as_dense.dtype;
        workload_.partials = as_dense.partials;
        workload_.plan = as_dense.plan;
        workload_.accumulate = as_dense.accumulate;
    }

    [[nodiscard]] std::optional<family::Estimate>
    estimate(const spec::MachineSpec& machine) const override {
        return choose_by_estimate(machine, workload_, pattern());
    }
    [[nodiscard]] std::optional<family::SparseUse> sparse_use() const override {
        if (workload_.plan == workload::PlanKind::Published) {
            return std::nullopt;
        }
        using Kind = family::SparseUse::Kind;
        return family::SparseUse{.kind = is_transposed() ? Kind::Transposed : Kind::Product,
                                 .n = workload_.n,
                                 .partials = workload_.partials,
                                 .accumulates = workload_.accumulate != workload::Accumulate::None};
    }
    [[nodiscard]] std::string sentence() const override {
        const workload::SparsePattern& matrix = pattern();
        return fmt::format("spmm {} x {} x {}, {} stored elements in {} x {} blocks, {}{}",
                           matrix.rows, matrix.columns, workload_.n, matrix.stored_elements(),
                           matrix.block, matrix.block,
                           workload_.dtype == ElementType::F32
                               ? "f32"
                               : fmt::format("{} partials", tessera::name_of(workload_.partials)),
                           added_text());
    }

private:
    family::Divided choose(const family::Site& site) const override {
        workload::SpmmWorkload workload = workload_;
        workload.accumulate = accumulate_on(site);
        if (site.matrix != nullptr) {
            if (auto shared = choose_shared(site, workload)) {
                return std::move(*shared);
            }
        }
        return sparse::choose(site.machine, workload, pattern(), site.known, site.in_loop);
    }
    workload::AfterProduct after(std::vector<double> /*bias*/) const override { return {}; }

    /// By the plan of all steps that read the matrix, if they have one.
    [[nodiscard]] std::optional<family::Divided>
    choose_shared(const family::Site& site, const workload::SpmmWorkload& workload) const {
        const SharedPatterns patterns{a().sparse,
                                      turned() ? *turned() : workload::transposed(*a().sparse)};
        const auto split =
            shared_split(site.machine, *site.matrix, patterns, workload.dtype, workload.partials);
        if (!split) {
            return std::nullopt;
        }
        const Problem problem = problem_of(patterns, workload.dtype, *sparse_use());
        return family::lowered(site.machine, plan_pass(site.machine, patterns, problem, *split),
                               workload.accumulate, site.known);
    }

    workload::SpmmWorkload workload_;
};

} // namespace

family::Divided choose(const spec::MachineSpec& machine, const workload::SpmmWorkload& workload,
                       const workload::SparsePattern& matrix, exchange_plan::KnownSchedules& known,
                       bool in_loop) {
    const PublishedUse use{.passes = 1, .in_loop = in_loop};
    const bool published = workload.plan == workload::PlanKind::Published ||
                           !has_kind(machine, matrix.block, {workload.dtype, workload.partials});
    if (published) {
        return choose_published(machine, workload, matrix, known, use);
    }
    std::exception_ptr misfit;
    try {
        family::Divided ours = choose_ours(machine, workload, matrix, known);
        auto published_one = faster_published(machine, workload, matrix, known,
                                              ours.division.predicted.total(), use);
        return published_one ? std::move(*published_one) : std::move(ours);
    } catch (const DoesNotFit&) {
        if (exceeds_chip(machine, workload, matrix)) {
            throw;
        }
        misfit = std::current_exception();
    }
    try { // by the published plan there are passes over columns, which need less at a time
        return choose_published(machine, workload, matrix, known, use);
    } catch (const DoesNotFit&) {
        std::rethrow_exception(misfit);
    }
}

family::Divided choose_ours(const spec::MachineSpec& machine,
                            const workload::SpmmWorkload& workload,
                            const workload::SparsePattern& matrix,
                            exchange_plan::KnownSchedules& known) {
    const Problem problem(workload, matrix);
    const bool vain = exceeds_chip(machine, workload, matrix);
    const auto candidates = search(machine, problem);
    const std::size_t most = std::min(candidates.size(), vain ? 1 : kTried);
    Placing placing(machine, problem, workload.accumulate, candidates);
    std::vector<family::Placed> placed;
    std::string reason;
    const auto note_misfit = [&](const Split& split, const std::string& misfit) {
        if (!misfit.empty() && reason.empty()) {
            reason =
                fmt::format("{} (with {} blocks in {} x {} x {} parts, the first of the "
                            "divisions that were tried)",
                            misfit, matrix.blocks(), split.parts_m, split.parts_k, split.parts_n);
        }
    };
    const auto fastest_placed = [&](const Split& split) {
        std::string misfit;
        auto divided = fastest_of(machine, std::exchange(placed, {}), known, misfit);
        note_misfit(split, misfit);
        return divided;
    };
    std::size_t seen = 0; // from the first that is placed on
    std::size_t misfits = 0;
    const Activity trying("split", 0);
    for (std::size_t at = 0; at < most && misfits < kMisfits; ++at) {
        trying.step();
        const Split& split = candidates[at].split;
        if (at > 0 && candidates[at].ranked && candidates[at].over > 0) {
            continue; // the first says why
        }
        const bool likely = !placed.empty() || (at == 0 && !vain); // that this one fits
        auto made = placing.place(at, likely ? kPlaced - placed.size() : 1, !placed.empty());
        note_misfit(split, made.misfit);
        misfits += made.misfit.empty() || candidates[at].over > 0 ? 0 : 1;
        if (made.made) {
            placed.push_back(std::move(*made.made));
        }
        seen += placed.empty() || candidates[at].least_messages > kManyTransfers ? 0 : 1;
        if (!placed.empty() && (placed.size() == kPlaced || seen == kSeen || at + 1 >= kCompared)) {
            if (auto divided = fastest_placed(split)) {
                return std::move(*divided);
            }
            seen = 0;
            ++misfits;
        }
    }
    if (!placed.empty()) { // the last candidates were passed over
        if (auto divided = fastest_placed(candidates.front().split)) {
            return std::move(*divided);
        }
    }
    throw DoesNotFit(reason);
}

family::Estimate choose_by_estimate(const spec::MachineSpec& machine,
                                    const workload::SpmmWorkload& workload,
                                    const workload::SparsePattern& matrix) {
    const Problem problem(workload, matrix);
    const bool has_ours = has_kind(machine, matrix.block, {workload.dtype, workload.partials});
    family::check_estimable(machine, name_of(problem), codelets_of(problem),
                            has_ours ? workload.plan : workload::PlanKind::Published);
    const Candidate best = search(machine, problem).front();
    return family::fitting(machine, name_of(problem),
                           {cuts_of(best.split), best.predicted, best.bytes}, workload.accumulate,
                           workload.dtype, matrix.rows * workload.n);
}

const family::Family& family() {
    static const auto spmm = family::product_family<SpmmStep>(
        "spmm", "c = a b, a sparse; or added to c", {"a", "b", "c"}, 1);
    return spmm;
}

} // namespace tessera::sparse
