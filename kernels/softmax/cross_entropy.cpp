// SPDX-License-Identifier: MIT
#include "kernels/softmax/cross_entropy.h"

#include "base/error.h"
#include "kernels/codelets/cross_entropy_cost.h"
#include "kernels/codelets/sum_pairs_cost.h"
#include "kernels/family/gradient.h"
#include "kernels/family/numbers.h"
#include "kernels/family/pair_sums.h"
#include "kernels/family/row_shares.h"
#include "kernels/family/two_matrices.h"
#include "kernels/graph/rows.h"
#include "kernels/graph/unit_rows.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/softmax/shares.h"
#include "kernels/workload/overflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::softmax {
namespace {

using family::RowCut;
using family::RowShare;
using graph::RowBlock;

constexpr Bytes kPairBytes = 8;
constexpr std::int64_t kShared = 12; ///< roundings that rows have which workers share, and more

Cycles loss_cycles(const spec::MachineSpec& machine, ElementType type, const RowCut& cut) {
    const std::int64_t workers = machine.tile.workers;
    std::vector<std::int64_t> parts;
    std::vector<std::int64_t> join;
    for (std::int64_t w = 0; w < workers; ++w) {
        const RowShare share = share_of(cut, workers, w);
        parts.push_back(codelets::cross_entropy_parts_issues(type, share.rows, share.whole_units(),
                                                             share.has_tail()));
        join.push_back(codelets::cross_entropy_join_issues(
            cut.rows / workers + (w < cut.rows % workers ? 1 : 0), cut.shares));
    }
    plan::StubTimeline stub(machine, false);
    stub.multi_worker(parts);
    stub.multi_worker(sums_issues(workers, cut));
    stub.multi_worker(join);
    stub.worker(codelets::kSumPairsFrame + (workers - 1) * codelets::kSumPairsPair);
    return stub.finish();
}

RowCut loss_cut(const spec::MachineSpec& machine, ElementType type, std::int64_t rows,
                std::int64_t columns) {
    return family::best_cut(machine.tile.workers, rows, columns * bytes_of(type),
                            [&](const RowCut& cut) { return loss_cycles(machine, type, cut); });
}

/// The vertices of a cross entropy, and the memory that they share.
class LossVertices {
public:
    LossVertices(graph::Graph& graph, graph::ComputeSetId set, const spec::MachineSpec& machine,
                 ElementType type, std::int64_t columns)
        : graph_(graph), set_(set), machine_(machine), type_(type), columns_(columns),
          partials_(graph.add_buffer({.name = "partials"})),
          dots_(graph.add_buffer({.name = "products with targets"})) {
        graph.need_codelet(fmt::format("cross_entropy_{}", name_of(type)));
        graph.need_codelet("cross_entropy_join");
    }

    /// `sums`: of each worker a pair.
    void add(const RowBlock& x, const RowBlock& t, graph::Place sums) {
        const std::int64_t workers = machine_.tile.workers;
        const RowCut cut = loss_cut(machine_, type_, x.rows, columns_);
        const std::int64_t shares = cut.rows * cut.shares;
        std::int64_t& taken = shares_on_[x.tile];
        const graph::Place partials{partials_, taken * kPairBytes};
        const graph::Place dots{dots_, taken * bytes_of(ElementType::F32)};
        taken += shares;
        graph_.add_work(set_, x.tile, x.rows);
        add_parts(x, cut, partials);
        add_sums(graph_, set_, workers, type_, row_bytes(), cut, x, t, dots);
        graph_.add_vertex(set_, x.tile, "cross_entropy_join", program::VertexKind::MultiWorker,
                          {graph::read(partials, shares * kPairBytes),
                           graph::read(dots, shares * bytes_of(ElementType::F32)),
                           graph::word(cut.rows), graph::word(cut.shares),
                           graph::write(sums, workers * kPairBytes)});
    }
    /// Behind the last add().
    void finish() {
        for (const auto& [tile, shares] : shares_on_) {
            graph_.hold(partials_, tile, shares * kPairBytes);
            graph_.hold(dots_, tile, shares * bytes_of(ElementType::F32));
        }
    }

private:
    [[nodiscard]] Bytes row_bytes() const { return columns_ * bytes_of(type_); }

    void add_parts(const RowBlock& x, const RowCut& cut, graph::Place partials) {
        const std::int64_t workers = machine_.tile.workers;
        const auto mask = tail_mask(row_bytes());
        const std::uint32_t infinity = type_ == ElementType::F16 ? 0xfc00fc00U : 0xff800000U;
        std::vector<graph::Field> state{
            graph::read(x.place, row_bytes()),
            graph::write(partials, cut.rows * cut.shares * kPairBytes),
            graph::word(mask[0]),
            graph::word(mask[1]),
            graph::word(infinity & ~mask[0]),
            graph::word(infinity & ~mask[1]),
            graph::word(std::bit_cast<std::uint32_t>(std::numeric_limits<float>::lowest()))};
        for (std::int64_t w = 0; w < workers; ++w) {
            const RowShare share = share_of(cut, workers, w);
            family::add_words(state, {share.rows, share.whole_units(), share.has_tail() ? 1 : 0});
            family::add_side(state, x, share, cut, workers,
                             share.whole_units() * graph::kUnitBytes);
        }
        family::add_other_rows(state, {x}, row_bytes());
        graph_.add_vertex(set_, x.tile, fmt::format("cross_entropy_parts_{}", name_of(type_)),
                          program::VertexKind::MultiWorker, state);
    }

    graph::Graph& graph_;
    graph::ComputeSetId set_;
    const spec::MachineSpec& machine_;
    ElementType type_;
    std::int64_t columns_;
    graph::BufferId partials_;
    graph::BufferId dots_;
    std::map<TileId, std::int64_t> shares_on_;
};

/// A sum, and what the machine's may differ by.
struct Sum {
    double exact = 0;
    double off = 0;
    double magnitude = 0; ///< of its numbers
};

/// One row. With u = 2^-24 and to first order, exp(x - max) has the relative error (|x - max| + 3) u. The
/// mean of these, weighted by the exponentials, is at most (ln n + 3) u (softmax.cpp has it), and their
/// sum adds n u. That is an error of the logarithm, which is within 1.5 units of the last place itself.
/// Products and their sum have n + 1 roundings, and the row's two sums have one each. Workers that share
/// a row take at most kShared roundings more for both.
void add_row(Sum& loss, const std::vector<double>& x, const std::vector<double>& t) {
    const double u = unit_roundoff(ElementType::F32);
    const double least = workload::rounding(ElementType::F32, 0);
    const auto n = static_cast<double>(x.size());
    const double max = *std::ranges::max_element(x);
    double exponentials = 0;
    double dot = 0;
    double products = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        exponentials += std::exp(x[i] - max);
        dot += t[i] * x[i];
        products += std::fabs(t[i] * x[i]);
    }
    const double logarithm = std::log(exponentials);
    const double row = logarithm + max - dot;
    const double off = (std::log(n) + n + 6 + kShared) * u + 3 * u * logarithm +
                       u * std::fabs(logarithm + max) + (n + 2 + kShared) * u * products +
                       u * std::fabs(row) + (2 * n + 3) * least;
    loss.exact += row;
    loss.off += off;
    loss.magnitude += std::fabs(row) + off;
}

class CrossEntropy final : public family::Step {
public:
    CrossEntropy(family::TensorType x, double factor) : x_(std::move(x)), factor_(factor) {}

    [[nodiscard]] std::vector<family::TensorType> outputs() const override {
        return {{ElementType::F32, {1}}};
    }

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        if (columns() > plan::most_rounds(site.machine)) {
            throw NotModelled(fmt::format(
                "cross_entropy: not modelled: rows of {} elements, expected at most {}; see "
                "docs/kernels.md",
                columns(), plan::most_rounds(site.machine)));
        }
        const auto inputs = family::two_matrices(graph, site, x_, {"logits", "targets"}, where);
        const auto set =
            graph.add_compute_set({"cross entropy", program::Role::Work, site.owner, "rows"});
        LossVertices vertices(graph, set, site.machine, x_.type, columns());
        family::PairsOnTiles pairs{graph.add_buffer({.name = "sums of workers"}), {}};
        std::int64_t most_rows = 0;
        for (std::size_t i = 0; i < inputs[0].blocks.size(); ++i) {
            const RowBlock& x = inputs[0].blocks[i];
            std::int64_t& taken = pairs.count[x.tile];
            const std::int64_t workers = site.machine.tile.workers;
            const graph::Place place{pairs.pairs,
                                     std::exchange(taken, taken + workers) * kPairBytes};
            vertices.add(x, inputs[1].blocks[i], place);
            most_rows = std::max(most_rows, x.rows);
        }
        vertices.finish();
        for (const auto& [tile, count] : pairs.count) {
            graph.hold(pairs.pairs, tile, count * kPairBytes);
        }
        const graph::BufferId total = graph.add_buffer({.name = site.owner + ": loss"});
        const family::PairSum sum = family::add_pair_sum(graph, site, set, pairs, {total}, factor_);
        additions_ = sum.additions + most_rows;
        graph.hold(total, sum.tile, kPairBytes);
        graph::Tensor loss{.name = site.owner + ": loss", .type = ElementType::F32, .shape = {1}};
        loss.pieces.push_back(graph::run_of(sum.tile, {total}, 0, 1, loss.type));
        return {{inputs[0].tensor, inputs[1].tensor},
                {graph.add_tensor(std::move(loss))},
                graph::sequence({graph::run(set), sum.steps})};
    }

    /// Two additions and a product make the loss of all workers' sums.
    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        Sum loss;
        for (std::int64_t first = 0; first < x_.elements(); first += columns()) {
            std::vector<double> x;
            std::vector<double> t;
            for (std::int64_t i = first; i < first + columns(); ++i) {
                x.push_back(family::number_at(*inputs[0], i));
                t.push_back(family::number_at(*inputs[1], i));
            }
            add_row(loss, x, t);
        }
        const double u = unit_roundoff(ElementType::F32);
        const double exact = factor_ * loss.exact;
        const double off = std::fabs(factor_) * (loss.off + static_cast<double>(additions_ + 3) *
                                                                u * loss.magnitude) +
                           workload::rounding(ElementType::F32, 0);
        return family::compare(outputs[0], [&](std::int64_t /*element*/) {
            return family::Expected{exact, off};
        });
    }

    [[nodiscard]] double flops() const override { return 5 * static_cast<double>(x_.elements()); }

private:
    [[nodiscard]] std::int64_t columns() const { return x_.shape.back(); }

    family::TensorType x_;
    double factor_;
    std::int64_t additions_ = 0; ///< on the way to the sum, after emit()
};

std::unique_ptr<family::Step> make_cross_entropy(const family::Request& request) {
    const family::TensorType& x = request.inputs[0];
    static_cast<void>(family::matrices_input({{x}, {}}, family::kNumbers));
    family::require_dense(request, 1, "targets");
    family::require_same_type(request);
    if (x.shape != request.inputs[1].shape) {
        throw family::Refused(1, {},
                              fmt::format("got {} and {}, expected equal shapes",
                                          family::shape_text(x),
                                          family::shape_text(request.inputs[1])));
    }
    const double factor = family::number_of(cross_entropy(), request, "factor");
    if (!(std::fabs(factor) <= double{std::numeric_limits<float>::max()})) {
        throw family::Refused(-1, "factor",
                              fmt::format("got {}, expected a number that f32 can hold", factor));
    }
    return std::make_unique<CrossEntropy>(x, double{static_cast<float>(factor)});
}

/// softmax(x) - t for the logits, -x for the targets, times the gradient of the loss.
family::Steps cross_entropy_backward(const family::GradientRequest& request) {
    using family::backward_step;
    const auto told = request.step.options.find("factor");
    const double factor = told == request.step.options.end() ? 1 : std::get<double>(told->second);
    family::Steps steps;
    if (request.wants(0)) {
        const std::string& dx = request.of_inputs[0];
        steps.push_back(backward_step("softmax", {request.step.inputs[0]}, dx + "_probabilities"));
        steps.push_back(backward_step("scale", {request.step.inputs[1]}, dx + "_minus_targets",
                                      {{"factor", -1.0}}));
        steps.push_back(backward_step("add", {dx + "_probabilities", dx + "_minus_targets"},
                                      dx + "_difference"));
        steps.push_back(backward_step("scale_by", {dx + "_difference", request.of_outputs[0]}, dx,
                                      {{"factor", factor}}));
    }
    if (request.wants(1)) {
        steps.push_back(backward_step("scale_by", {request.step.inputs[0], request.of_outputs[0]},
                                      request.of_inputs[1], {{"factor", -factor}}));
    }
    return steps;
}

} // namespace

Cycles cross_entropy_cycles(const spec::MachineSpec& machine, ElementType type, std::int64_t rows,
                            std::int64_t columns) {
    return loss_cycles(machine, type, loss_cut(machine, type, rows, columns));
}

const family::Family& cross_entropy() {
    static const family::Family family = family::with_gradient(
        family::Family{
            "cross_entropy",
            "factor times the sum of log(sum of exp(x)) - sum of t x over rows, in f32",
            {"logits", "targets"},
            {{.key = "factor", .says = "what the sum is multiplied by", .words = {}, .number = 1}},
            make_cross_entropy},
        cross_entropy_backward);
    return family;
}

} // namespace tessera::softmax
