// SPDX-License-Identifier: MIT
#include "kernels/softmax/softmax_gradient.h"

#include "base/error.h"
#include "kernels/codelets/softmax_gradient_cost.h"
#include "kernels/family/numbers.h"
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
#include <cmath>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace tessera::softmax {
namespace {

using family::RowCut;
using family::RowShare;
using graph::kUnitBytes;
using graph::RowBlock;

void add_vertices(plan::StubTimeline& stub, std::int64_t workers, ElementType type,
                  const RowCut& cut) {
    std::vector<std::int64_t> apply;
    for (std::int64_t w = 0; w < workers; ++w) {
        const RowShare share = share_of(cut, workers, w);
        apply.push_back(
            codelets::softmax_gradient_apply_issues(type, share.rows, share.units, cut.shares));
    }
    stub.multi_worker(sums_issues(workers, cut));
    stub.multi_worker(apply);
}

Cycles cycles_of(const spec::MachineSpec& machine, ElementType type, const RowCut& cut) {
    plan::StubTimeline stub(machine, false);
    add_vertices(stub, machine.tile.workers, type, cut);
    return stub.finish();
}

RowCut cut_of(const spec::MachineSpec& machine, ElementType type, std::int64_t rows,
              std::int64_t columns) {
    return family::best_cut(machine.tile.workers, rows, columns * bytes_of(type),
                            [&](const RowCut& cut) { return cycles_of(machine, type, cut); });
}

/// The vertices of a gradient, and the memory that they share.
class GradientVertices {
public:
    GradientVertices(graph::Graph& graph, graph::ComputeSetId set, const spec::MachineSpec& machine,
                     ElementType type, std::int64_t columns)
        : graph_(graph), set_(set), machine_(machine), type_(type), columns_(columns),
          partials_(graph.add_buffer({.name = "partials"})) {}

    void add(const RowBlock& y, const RowBlock& dy, const RowBlock& out) {
        const std::int64_t workers = machine_.tile.workers;
        const RowCut cut = cut_of(machine_, type_, y.rows, columns_);
        graph_.add_work(set_, y.tile, y.rows);
        const Bytes bytes = cut.rows * cut.shares * bytes_of(ElementType::F32);
        Bytes& taken = partial_bytes_[y.tile];
        const graph::Place partials{partials_, std::exchange(taken, taken + bytes)};
        add_sums(graph_, set_, workers, type_, row_bytes(), cut, y, dy, partials);

        std::vector<graph::Field> apply{graph::read(y.place, row_bytes()),
                                        graph::read(dy.place, row_bytes()),
                                        graph::write(out.place, out.rows * out.step),
                                        graph::read(partials, bytes), graph::word(cut.shares)};
        for (std::int64_t w = 0; w < workers; ++w) {
            const RowShare share = share_of(cut, workers, w);
            family::add_words(apply, {share.rows, share.units,
                                      share.first_row * cut.shares * bytes_of(ElementType::F32)});
            for (const RowBlock& side : {y, dy, out}) {
                family::add_side(apply, side, share, cut, workers, share.units * graph::kUnitBytes);
            }
        }
        family::add_other_rows(apply, {y, dy}, row_bytes());
        graph_.add_vertex(set_, y.tile, fmt::format("softmax_gradient_apply_{}", name_of(type_)),
                          program::VertexKind::MultiWorker, apply);
    }
    /// Behind the last add().
    void finish() {
        for (const auto& [tile, bytes] : partial_bytes_) {
            graph_.hold(partials_, tile, bytes);
        }
    }

private:
    [[nodiscard]] Bytes row_bytes() const { return columns_ * bytes_of(type_); }

    graph::Graph& graph_;
    graph::ComputeSetId set_;
    const spec::MachineSpec& machine_;
    ElementType type_;
    std::int64_t columns_;
    graph::BufferId partials_;
    std::map<TileId, Bytes> partial_bytes_;
};

class GradientStep final : public family::Step {
public:
    explicit GradientStep(family::TensorType x) : x_(std::move(x)) {}

    [[nodiscard]] std::vector<family::TensorType> outputs() const override { return {x_}; }

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        const std::int64_t units = graph::units_of(columns() * bytes_of(x_.type));
        if (units > plan::most_rounds(site.machine)) {
            throw NotModelled(fmt::format(
                "softmax_gradient: not modelled: rows of {} elements, expected at most {}; see "
                "docs/kernels.md",
                columns(), plan::most_rounds(site.machine) * kUnitBytes / bytes_of(x_.type)));
        }
        const auto inputs = family::two_matrices(graph, site, x_, {"y", "dy"}, where);
        const graph::InRows out = graph::add_rows_beside(
            graph, {.name = site.owner + ": dx", .type = x_.type, .shape = x_.shape},
            inputs[0].blocks);
        const auto set =
            graph.add_compute_set({"softmax gradient", program::Role::Work, site.owner, "rows"});
        GradientVertices vertices(graph, set, site.machine, x_.type, columns());
        for (std::size_t i = 0; i < out.blocks.size(); ++i) {
            vertices.add(inputs[0].blocks[i], inputs[1].blocks[i], out.blocks[i]);
        }
        vertices.finish();
        return {{inputs[0].tensor, inputs[1].tensor}, {out.tensor}, graph::run(set)};
    }

    /// With u = 2^-24: the sum is off by at most n u of the magnitudes of its products, and a few for
    /// those of the shares; the difference and the product round. Then dx is rounded to its type.
    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        family::Comparison comparison;
        const double u = unit_roundoff(ElementType::F32);
        const double least = workload::rounding(ElementType::F32, 0);
        const auto n = static_cast<double>(columns());
        for (std::int64_t first = 0; first < x_.elements(); first += columns()) {
            double sum = 0;
            double magnitude = 0;
            for (std::int64_t i = first; i < first + columns(); ++i) {
                const double product =
                    family::number_at(*inputs[0], i) * family::number_at(*inputs[1], i);
                sum += product;
                magnitude += std::fabs(product);
            }
            const double sum_off = (n + 8) * (u * magnitude + least);
            for (std::int64_t i = first; i < first + columns(); ++i) {
                const double y = family::number_at(*inputs[0], i);
                const double difference = family::number_at(*inputs[1], i) - sum;
                const double exact = y * difference;
                const double computed =
                    std::fabs(y) * (sum_off + 3 * u * (std::fabs(difference) + sum_off) + least);
                comparison.add_rounded(
                    x_.type, family::element_of(outputs[0], i), exact,
                    computed + workload::rounding(x_.type, std::fabs(exact) + computed) + least);
            }
        }
        return comparison.finish();
    }

    [[nodiscard]] double flops() const override { return 4 * static_cast<double>(x_.elements()); }

private:
    [[nodiscard]] std::int64_t columns() const { return x_.shape.back(); }

    family::TensorType x_;
};

std::unique_ptr<family::Step> make_gradient(const family::Request& request) {
    const family::TensorType& y = request.inputs[0];
    static_cast<void>(family::matrices_input({{y}, {}}, family::kNumbers));
    family::require_dense(request, 1, "dy");
    family::require_same_type(request);
    if (y.shape != request.inputs[1].shape) {
        throw family::Refused(1, "",
                              fmt::format("got {} and {}, expected equal shapes",
                                          family::shape_text(y),
                                          family::shape_text(request.inputs[1])));
    }
    return std::make_unique<GradientStep>(y);
}

} // namespace

Cycles gradient_cycles(const spec::MachineSpec& machine, ElementType type, std::int64_t rows,
                       std::int64_t columns) {
    return cycles_of(machine, type, cut_of(machine, type, rows, columns));
}

const family::Family& gradient() {
    static const family::Family family{"softmax_gradient",
                                       "y (dy - sum of y dy), over each row, for y = softmax(x)",
                                       {"y", "dy"},
                                       {},
                                       make_gradient};
    return family;
}

} // namespace tessera::softmax
