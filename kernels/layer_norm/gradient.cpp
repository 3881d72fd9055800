// SPDX-License-Identifier: MIT
#include "kernels/layer_norm/gradient.h"

#include "base/error.h"
#include "kernels/codelets/layer_norm_cost.h"
#include "kernels/family/numbers.h"
#include "kernels/family/row_shares.h"
#include "kernels/family/two_matrices.h"
#include "kernels/function/constants.h"
#include "kernels/function/near.h"
#include "kernels/graph/rows.h"
#include "kernels/graph/unit_rows.h"
#include "kernels/layer_norm/operands.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/workload/overflow.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::layer_norm {
namespace {

using family::RowCut;
using family::RowShare;
using family::TensorType;
using function::Near;
using graph::kUnitBytes;
using graph::RowBlock;

enum Input : std::size_t { kX, kDy, kScale, kMean, kDeviation };

constexpr Bytes kPartialBytes = 8; ///< two sums of a share
constexpr Bytes kRoomBytes = 16;   ///< of a worker, for constants of a row

std::int64_t pairs_of(ElementType type, std::int64_t units) {
    return units * kUnitBytes / (2 * bytes_of(type));
}

/// Elements of a unit that is not whole.
std::int64_t tail_of(ElementType type, const RowShare& share) {
    return share.tail_bytes / bytes_of(type);
}

Cycles cycles_of(const spec::MachineSpec& machine, ElementType type, const RowCut& cut) {
    const std::int64_t workers = machine.tile.workers;
    plan::StubTimeline stub(machine, false);
    add_cycles(
        stub, codelets::layer_norm_gradient_sums_cost(type), cut, workers,
        [&](const RowShare& share) {
            return pairs_of(type, share.whole_units()) + tail_of(type, share) / 2;
        },
        [&](const RowShare& share) { return tail_of(type, share) % 2; });
    add_cycles(
        stub, codelets::layer_norm_gradient_apply_cost(type), cut, workers,
        [&](const RowShare& share) { return pairs_of(type, share.units); },
        [](const RowShare&) { return std::int64_t{0}; });
    return stub.finish();
}

RowCut cut_of(const spec::MachineSpec& machine, ElementType type, std::int64_t rows,
              std::int64_t columns) {
    return family::best_cut(machine.tile.workers, rows, columns * bytes_of(type),
                            [&](const RowCut& cut) { return cycles_of(machine, type, cut); });
}

/// Where the step reads and writes a block of rows.
struct Places {
    RowBlock x;
    RowBlock dy;
    graph::Place scale;
    RowBlock mean;
    RowBlock deviation;
    RowBlock out;
    RowBlock products;
};

/// The vertices, and the memory that they share.
class Vertices {
public:
    Vertices(graph::Graph& graph, graph::ComputeSetId set, const spec::MachineSpec& machine,
             ElementType type, std::int64_t columns)
        : graph_(graph), set_(set), machine_(machine), type_(type), columns_(columns),
          partials_(graph.add_buffer({.name = "partials"})) {
        graph.need_codelet(fmt::format("layer_norm_gradient_{}", name_of(type)));
    }

    void add(const Places& at) {
        const RowCut cut = cut_of(machine_, type_, at.x.rows, columns_);
        graph_.add_work(set_, at.x.tile, at.x.rows);
        const Bytes bytes = cut.rows * cut.shares * kPartialBytes;
        const Bytes room_bytes = machine_.tile.workers * kRoomBytes;
        Bytes& taken = partial_bytes_[at.x.tile];
        const graph::Place partials{partials_, std::exchange(taken, taken + bytes + room_bytes)};
        add_sums(at, cut, graph::write(partials, bytes));
        add_apply(at, cut, graph::read(partials, bytes),
                  graph::write(partials + bytes, room_bytes));
    }
    /// Behind the last add().
    void finish() {
        for (const auto& [tile, bytes] : partial_bytes_) {
            graph_.hold(partials_, tile, bytes);
        }
    }

private:
    void add_sums(const Places& at, const RowCut& cut, const graph::Field& partials) {
        const std::int64_t workers = machine_.tile.workers;
        constexpr Bytes kBytes = bytes_of(ElementType::F32);
        std::vector<graph::Field> state{graph::read(at.x.place, row_bytes()),
                                        graph::read(at.dy.place, row_bytes()),
                                        graph::read(at.scale, row_bytes()),
                                        graph::read(at.mean.place, cut.rows * kBytes),
                                        partials,
                                        graph::word(cut.together(workers))};
        for (std::int64_t w = 0; w < workers; ++w) {
            const RowShare share = family::share_of(cut, workers, w);
            const std::int64_t pairs =
                pairs_of(type_, share.whole_units()) + tail_of(type_, share) / 2;
            const Bytes moved = pairs * 2 * bytes_of(type_);
            family::add_words(state, {share.rows, pairs, tail_of(type_, share) % 2,
                                      share.first * kUnitBytes, share.first_row * kBytes});
            family::add_side(state, at.x, share, cut, workers, moved);
            family::add_side(state, at.dy, share, cut, workers, moved);
        }
        family::add_other_rows(state, {at.x, at.dy}, row_bytes());
        call("sums", at.x.tile, state);
    }

    void add_apply(const Places& at, const RowCut& cut, const graph::Field& partials,
                   const graph::Field& room) {
        const std::int64_t workers = machine_.tile.workers;
        constexpr Bytes kBytes = bytes_of(ElementType::F32);
        std::vector<graph::Field> state{
            graph::read(at.x.place, row_bytes()),
            graph::read(at.dy.place, row_bytes()),
            graph::read(at.scale, row_bytes()),
            graph::write(at.out.place, at.out.rows * at.out.step),
            graph::write(at.products.place, at.products.rows * at.products.step),
            graph::read(at.mean.place, cut.rows * kBytes),
            graph::read(at.deviation.place, cut.rows * kBytes),
            partials,
            graph::word(cut.shares),
            graph::word((workers - cut.shares) * kPartialBytes),
            graph::word(cut.together(workers) * kBytes),
            function::single(1 / static_cast<double>(columns_)),
            room};
        for (std::int64_t w = 0; w < workers; ++w) {
            const RowShare share = family::share_of(cut, workers, w);
            const Bytes moved = share.units * kUnitBytes;
            family::add_words(state, {share.rows, pairs_of(type_, share.units),
                                      share.first_row * cut.shares * kPartialBytes});
            for (const RowBlock& side : {at.x, at.dy, at.out}) {
                family::add_side(state, side, share, cut, workers, moved);
            }
            family::add_words(state, {share.first * kUnitBytes, share.first_row * kBytes});
        }
        family::add_other_rows(state, {at.x, at.dy}, row_bytes());
        call("apply", at.x.tile, state);
    }

    void call(std::string_view part, TileId tile, std::span<const graph::Field> state) {
        graph_.add_vertex(set_, tile,
                          fmt::format("layer_norm_gradient_{}_{}", part, name_of(type_)),
                          program::VertexKind::MultiWorker, state);
    }
    [[nodiscard]] Bytes row_bytes() const { return columns_ * bytes_of(type_); }

    graph::Graph& graph_;
    graph::ComputeSetId set_;
    const spec::MachineSpec& machine_;
    ElementType type_;
    std::int64_t columns_;
    graph::BufferId partials_; ///< and constants of rows
    std::map<TileId, Bytes> partial_bytes_;
};

class GradientStep final : public family::Step {
public:
    explicit GradientStep(TensorType x) : x_(std::move(x)) {}

    [[nodiscard]] std::vector<TensorType> outputs() const override { return {x_, x_}; }

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        const std::int64_t units = graph::units_of(columns() * bytes_of(x_.type));
        if (pairs_of(x_.type, units) > plan::most_rounds(site.machine)) {
            throw NotModelled(
                fmt::format("layer_norm_gradient: not modelled: rows of {} elements, expected at "
                            "most {}; see docs/kernels.md",
                            columns(), 2 * plan::most_rounds(site.machine)));
        }
        const auto named = [&](const char* name, const TensorType& type) {
            return graph::Tensor{
                .name = site.owner + ": " + name, .type = type.type, .shape = type.shape};
        };
        const auto rows = family::two_matrices(graph, site, x_, {"x", "dy"}, where);
        const auto& blocks = rows[0].blocks;
        EveryTile scale =
            bring(graph, site, named("scale", {x_.type, {columns()}}), where[kScale], blocks);
        const OfRows mean = of_rows(graph, named("mean", row_type(x_)), where[kMean], blocks);
        const OfRows deviation =
            of_rows(graph, named("deviation", row_type(x_)), where[kDeviation], blocks);
        const graph::InRows out = graph::add_rows_beside(graph, named("dx", x_), blocks);
        const graph::InRows products = graph::add_rows_beside(graph, named("products", x_), blocks);
        const auto set =
            graph.add_compute_set({"layer norm gradient", program::Role::Work, site.owner, "rows"});
        Vertices vertices(graph, set, site.machine, x_.type, columns());
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            vertices.add({blocks[i],
                          rows[1].blocks[i],
                          {scale.buffer},
                          mean.blocks[i],
                          deviation.blocks[i],
                          out.blocks[i],
                          products.blocks[i]});
        }
        vertices.finish();
        return {{rows[0].tensor, rows[1].tensor, scale.input, mean.tensor, deviation.tensor},
                {out.tensor, products.tensor},
                graph::sequence({std::move(scale.steps), graph::run(set)})};
    }

    /// With u = 2^-24: a sum of n products is off by less than (n + 8) u of their magnitudes, and by what
    /// its products are off. The rest is written as the codelet computes it.
    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        family::Comparison comparison;
        for (std::int64_t i = 0; i < x_.elements() / columns(); ++i) {
            check_row(comparison, inputs, outputs, i);
        }
        return comparison.finish();
    }

    [[nodiscard]] double flops() const override { return 12 * static_cast<double>(x_.elements()); }

private:
    [[nodiscard]] std::int64_t columns() const { return x_.shape.back(); }

    void check_row(family::Comparison& comparison, std::span<const family::Value* const> inputs,
                   std::span<const family::Value> outputs, std::int64_t row) const {
        const double u = unit_roundoff(ElementType::F32);
        const double least = workload::rounding(ElementType::F32, 0);
        const auto n = static_cast<double>(columns());
        const auto single = [&](Input input, std::int64_t element) {
            return function::near(ElementType::F32, family::number_at(*inputs[input], element));
        };
        std::vector<Near> differences;
        std::vector<Near> gradients;
        double sums[2] = {};
        double off[2] = {};
        double magnitudes[2] = {};
        for (std::int64_t j = 0; j < columns(); ++j) {
            const std::int64_t element = row * columns() + j;
            differences.push_back(single(kX, element) - single(kMean, row));
            gradients.push_back(single(kDy, element) * single(kScale, j));
            const Near both[2] = {gradients.back(), differences.back() * gradients.back()};
            for (const std::size_t k : {0U, 1U}) {
                sums[k] += both[k].exact;
                off[k] += both[k].off;
                magnitudes[k] += std::fabs(both[k].exact) + both[k].off;
            }
        }
        const Near inverse = function::near_constant(ElementType::F32, 1 / n);
        const auto mean_of = [&](std::size_t k) {
            return inverse *
                   Near{ElementType::F32, sums[k], off[k] + (n + 8) * (u * magnitudes[k] + least)};
        };
        const Near deviation = single(kDeviation, row);
        const Near of_gradients = mean_of(0);
        const Near of_products = mean_of(1) * deviation;
        for (std::int64_t j = 0; j < columns(); ++j) {
            const std::int64_t element = row * columns() + j;
            const Near h = differences[static_cast<std::size_t>(j)] * deviation;
            const Near dx =
                ((gradients[static_cast<std::size_t>(j)] - of_gradients) - h * of_products) *
                deviation;
            add(comparison, outputs[0], element, dx);
            add(comparison, outputs[1], element, h * single(kDy, element));
        }
    }

    void add(family::Comparison& comparison, const family::Value& output, std::int64_t element,
             const Near& near) const {
        comparison.add_rounded(
            x_.type, family::element_of(output, element), near.exact,
            near.off + (x_.type == ElementType::F16
                            ? workload::rounding(x_.type, std::fabs(near.exact) + near.off)
                            : 0));
    }

    TensorType x_;
};

std::unique_ptr<family::Step> make_gradient(const family::Request& request) {
    const TensorType& x = request.inputs[kX];
    static_cast<void>(family::matrices_input({{x}, {}}, family::kNumbers));
    family::require_dense(request, 1, "dy");
    family::require_same_type(request);
    if (x.shape != request.inputs[kDy].shape) {
        throw family::Refused(kDy, "",
                              fmt::format("got {} and {}, expected equal shapes",
                                          family::shape_text(x),
                                          family::shape_text(request.inputs[kDy])));
    }
    require_columns(request, kScale, "scale");
    for (const auto& [input, name] :
         {std::pair{kMean, "mean"}, std::pair{kDeviation, "deviation"}}) {
        const TensorType& numbers = request.inputs[input];
        const TensorType wanted = row_type(x);
        family::require_dense(request, static_cast<int>(input), name);
        if (numbers.type != wanted.type || numbers.shape != wanted.shape) {
            throw family::Refused(
                static_cast<int>(input), "",
                fmt::format("{}: got {} of {}, expected f32 of {}, one for each row", name,
                            name_of(numbers.type), family::shape_text(numbers),
                            family::shape_text(wanted)));
        }
    }
    return std::make_unique<GradientStep>(x);
}

} // namespace

Cycles gradient_cycles(const spec::MachineSpec& machine, ElementType type, std::int64_t rows,
                       std::int64_t columns) {
    return cycles_of(machine, type, cut_of(machine, type, rows, columns));
}

const family::Family& gradient() {
    static const family::Family family{
        .name = "layer_norm_gradient",
        .says = "the gradient of layer_norm by x, and products of dy whose sums over rows are that "
                "of its scale",
        .inputs = {"x", "dy", "scale", "mean", "deviation"},
        .options = {},
        .make = make_gradient,
        .outputs = {"dx", "products"}};
    return family;
}

} // namespace tessera::layer_norm
