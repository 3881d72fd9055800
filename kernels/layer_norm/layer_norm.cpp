// SPDX-License-Identifier: MIT
#include "kernels/layer_norm/layer_norm.h"

#include "base/error.h"
#include "kernels/codelets/layer_norm_cost.h"
#include "kernels/family/gradient.h"
#include "kernels/family/numbers.h"
#include "kernels/family/row_shares.h"
#include "kernels/function/constants.h"
#include "kernels/function/near.h"
#include "kernels/graph/rows.h"
#include "kernels/graph/unit_rows.h"
#include "kernels/layer_norm/operands.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"
#include "kernels/workload/overflow.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
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

enum Input : std::size_t { kX, kScale, kOffset };

/// The partials that a worker leaves of each row: its sum, and its sum of squares of differences.
constexpr Bytes kPartialBytes = 4;

constexpr double kDefaultEpsilon = 1e-5;

/// One row. With u = 2^-24: a sum of n numbers is off by less than (n + 8) u of their magnitudes. As the
/// differences from the mean sum to 0, an error of the mean adds its square to the variance, and nothing
/// of first order.
struct Row {
    Near mean;
    Near deviation;
};

Row row_of(const std::vector<double>& x, double epsilon) {
    const double u = unit_roundoff(ElementType::F32);
    const double least = workload::rounding(ElementType::F32, 0);
    const auto n = static_cast<double>(x.size());
    double sum = 0;
    double magnitudes = 0;
    for (const double value : x) {
        sum += value;
        magnitudes += std::fabs(value);
    }
    Row row;
    row.mean = {ElementType::F32, sum / n, (n + 12) * (u * magnitudes / n + least)};
    double squares = 0;
    for (const double value : x) {
        squares += (value - row.mean.exact) * (value - row.mean.exact);
    }
    const double variance = workload::in_range(ElementType::F32, squares) / n;
    const double moved = variance + row.mean.off * row.mean.off;
    const double off = row.mean.off * row.mean.off + (n + 16) * (u * moved + least);
    const double exact = 1 / std::sqrt(variance + epsilon);
    if (std::isinf(variance)) {
        row.deviation = {ElementType::F32, 0, 0};
        return row;
    }
    const double lowest =
        std::max(variance + epsilon - off - 4 * u * (variance + epsilon), epsilon * (1 - 8 * u));
    const double highest = variance + epsilon + off + 4 * u * (variance + epsilon);
    row.deviation = {ElementType::F32, exact,
                     std::max(1 / std::sqrt(lowest) - exact, exact - 1 / std::sqrt(highest)) +
                         4 * u * exact};
    return row;
}

/// As the type of the rows has it.
Near converted(ElementType type, const Near& from) {
    Near to = function::near_constant(type, from.exact);
    to.off += from.off;
    return to;
}

std::int64_t whole_units(const RowShare& share) {
    return share.whole_units();
}
std::int64_t all_units(const RowShare& share) {
    return share.units;
}
std::int64_t no_tail(const RowShare& /*share*/) {
    return 0;
}

Cycles cycles_of(const spec::MachineSpec& machine, ElementType type, const RowCut& cut) {
    const std::int64_t workers = machine.tile.workers;
    const auto tail_of = [&](const RowShare& share) { return share.tail_bytes / bytes_of(type); };
    plan::StubTimeline stub(machine, false);
    add_cycles(stub, codelets::layer_norm_sums_cost(type), cut, workers, whole_units, tail_of);
    add_cycles(stub, codelets::layer_norm_squares_cost(type), cut, workers, whole_units, tail_of);
    codelets::RowShareCost apply = codelets::layer_norm_apply_cost(type);
    apply.row += codelets::kLayerNormWait;
    add_cycles(stub, apply, cut, workers, all_units, no_tail);
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
    RowBlock out;
    graph::Place scale;
    graph::Place offset;
    RowBlock mean;
    RowBlock deviation;
};

/// The vertices, and the memory that they share.
class Vertices {
public:
    Vertices(graph::Graph& graph, graph::ComputeSetId set, const spec::MachineSpec& machine,
             ElementType type, std::int64_t columns, double epsilon)
        : graph_(graph), set_(set), machine_(machine), type_(type), columns_(columns),
          epsilon_(epsilon), partials_(graph.add_buffer({.name = "partials"})) {
        graph.need_codelet(fmt::format("layer_norm_{}", name_of(type)));
    }

    void add(const Places& at) {
        const RowCut cut = cut_of(machine_, type_, at.x.rows, columns_);
        graph_.add_work(set_, at.x.tile, at.x.rows);
        const Bytes bytes = cut.rows * cut.shares * kPartialBytes;
        Bytes& taken = partial_bytes_[at.x.tile];
        const graph::Place sums{partials_, std::exchange(taken, taken + 2 * bytes)};
        const graph::Place squares = sums + bytes;
        add_sums("sums", at, cut, {graph::write(sums, bytes), graph::word(0)});
        add_sums("squares", at, cut, {graph::write(squares, bytes), graph::read(sums, bytes)});
        add_apply(at, cut, {graph::read(sums, bytes), graph::read(squares, bytes)});
    }
    /// Behind the last add().
    void finish() {
        for (const auto& [tile, bytes] : partial_bytes_) {
            graph_.hold(partials_, tile, bytes);
        }
    }

private:
    void add_sums(std::string_view part, const Places& at, const RowCut& cut,
                  const std::array<graph::Field, 2>& partials) {
        const std::int64_t workers = machine_.tile.workers;
        std::vector<graph::Field> state{graph::read(at.x.place, row_bytes()), partials[0],
                                        partials[1], graph::word(cut.shares), inverse()};
        for (std::int64_t w = 0; w < workers; ++w) {
            const RowShare share = family::share_of(cut, workers, w);
            family::add_words(
                state, {share.rows, share.whole_units(), share.tail_bytes / bytes_of(type_)});
            family::add_side(state, at.x, share, cut, workers,
                             share.whole_units() * kUnitBytes + share.tail_bytes);
            family::add_words(state, {share.first_row * cut.shares * kPartialBytes});
        }
        family::add_other_rows(state, {at.x}, row_bytes());
        call(part, at.x.tile, state);
    }

    void add_apply(const Places& at, const RowCut& cut,
                   const std::array<graph::Field, 2>& partials) {
        const std::int64_t workers = machine_.tile.workers;
        constexpr Bytes kBytes = bytes_of(ElementType::F32);
        std::vector<graph::Field> state{graph::read(at.x.place, row_bytes()),
                                        graph::write(at.out.place, at.out.rows * at.out.step),
                                        graph::read(at.scale, row_bytes()),
                                        graph::read(at.offset, row_bytes()),
                                        partials[0],
                                        graph::word(cut.shares),
                                        inverse(),
                                        function::single(epsilon_),
                                        graph::write(at.mean.place, cut.rows * kBytes),
                                        graph::write(at.deviation.place, cut.rows * kBytes),
                                        graph::word(cut.together(workers) * kBytes),
                                        partials[1]};
        for (std::int64_t w = 0; w < workers; ++w) {
            const RowShare share = family::share_of(cut, workers, w);
            const Bytes moved = share.units * kUnitBytes;
            family::add_words(
                state, {share.rows, share.units, share.first_row * cut.shares * kPartialBytes});
            family::add_side(state, at.x, share, cut, workers, moved);
            family::add_side(state, at.out, share, cut, workers, moved);
            family::add_words(state, {share.first * kUnitBytes, share.first_row * kBytes});
        }
        family::add_other_rows(state, {at.x}, row_bytes());
        call("apply", at.x.tile, state);
    }

    void call(std::string_view part, TileId tile, std::span<const graph::Field> state) {
        graph_.add_vertex(set_, tile, fmt::format("layer_norm_{}_{}", part, name_of(type_)),
                          program::VertexKind::MultiWorker, state);
    }
    [[nodiscard]] Bytes row_bytes() const { return columns_ * bytes_of(type_); }
    [[nodiscard]] graph::Field inverse() const {
        return function::single(1 / static_cast<double>(columns_));
    }

    graph::Graph& graph_;
    graph::ComputeSetId set_;
    const spec::MachineSpec& machine_;
    ElementType type_;
    std::int64_t columns_;
    double epsilon_;
    graph::BufferId partials_;
    std::map<TileId, Bytes> partial_bytes_;
};

class LayerNorm final : public family::Step {
public:
    LayerNorm(TensorType x, double epsilon) : x_(std::move(x)), epsilon_(epsilon) {}

    [[nodiscard]] std::vector<TensorType> outputs() const override {
        return {x_, row_type(x_), row_type(x_)};
    }

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        if (graph::units_of(columns() * bytes_of(x_.type)) > plan::most_rounds(site.machine)) {
            throw NotModelled(fmt::format(
                "layer_norm: not modelled: rows of {} elements, expected at most {}; see "
                "docs/kernels.md",
                columns(), plan::most_rounds(site.machine) * kUnitBytes / bytes_of(x_.type)));
        }
        const auto named = [&](const char* name, const TensorType& type) {
            return graph::Tensor{
                .name = site.owner + ": " + name, .type = type.type, .shape = type.shape};
        };
        const graph::InRows x = graph::in_rows(graph, where[kX], named("x", x_), kUnitBytes,
                                               {site.first_tile, site.machine.chip.tiles});
        const TensorType vector{x_.type, {columns()}};
        EveryTile scale = bring(graph, site, named("scale", vector), where[kScale], x.blocks);
        EveryTile offset = bring(graph, site, named("offset", vector), where[kOffset], x.blocks);
        const graph::InRows y = graph::add_rows_beside(graph, named("y", x_), x.blocks);
        const OfRows mean = add_of_rows(graph, named("mean", row_type(x_)), x.blocks);
        const OfRows deviation = add_of_rows(graph, named("deviation", row_type(x_)), x.blocks);
        const auto set =
            graph.add_compute_set({"layer norm", program::Role::Work, site.owner, "rows"});
        Vertices vertices(graph, set, site.machine, x_.type, columns(), epsilon_);
        for (std::size_t i = 0; i < x.blocks.size(); ++i) {
            vertices.add({x.blocks[i],
                          y.blocks[i],
                          {scale.buffer},
                          {offset.buffer},
                          mean.blocks[i],
                          deviation.blocks[i]});
        }
        vertices.finish();
        return {
            {x.tensor, scale.input, offset.input},
            {y.tensor, mean.tensor, deviation.tensor},
            graph::sequence({std::move(scale.steps), std::move(offset.steps), graph::run(set)})};
    }

    /// The difference and its product with the deviation are FP32, and what follows has the rows' type.
    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        family::Comparison comparison;
        const auto add = [&](const family::Value& output, std::int64_t element, const Near& near) {
            comparison.add_rounded(near.type, family::element_of(output, element), near.exact,
                                   near.off);
        };
        const auto of = [&](Input input, std::int64_t element) {
            return family::number_at(*inputs[input], element);
        };
        for (std::int64_t i = 0; i < x_.elements() / columns(); ++i) {
            std::vector<double> x;
            for (std::int64_t j = 0; j < columns(); ++j) {
                x.push_back(of(kX, i * columns() + j));
            }
            const Row row = row_of(x, epsilon_);
            add(outputs[1], i, row.mean);
            add(outputs[2], i, row.deviation);
            for (std::int64_t j = 0; j < columns(); ++j) {
                const Near difference =
                    function::near(ElementType::F32, x[static_cast<std::size_t>(j)]) - row.mean;
                const Near y = converted(x_.type, difference * row.deviation) *
                                   function::near(x_.type, of(kScale, j)) +
                               function::near(x_.type, of(kOffset, j));
                add(outputs[0], i * columns() + j, y);
            }
        }
        return comparison.finish();
    }

    [[nodiscard]] double flops() const override { return 8 * static_cast<double>(x_.elements()); }

private:
    [[nodiscard]] std::int64_t columns() const { return x_.shape.back(); }

    TensorType x_;
    double epsilon_;
};

std::unique_ptr<family::Step> make(const family::Request& request) {
    static_cast<void>(family::matrices_input({{request.inputs[kX]}, {}}, family::kNumbers));
    require_columns(request, kScale, "scale");
    require_columns(request, kOffset, "offset");
    const double epsilon = family::number_of(layer_norm::family(), request, "epsilon");
    if (!(epsilon >= double{std::numeric_limits<float>::min()} &&
          epsilon <= double{std::numeric_limits<float>::max()})) {
        throw family::Refused(-1, "epsilon",
                              fmt::format("got {}, expected more than 0, and no subnormal number "
                                          "of f32",
                                          epsilon));
    }
    return std::make_unique<LayerNorm>(request.inputs[kX], double{static_cast<float>(epsilon)});
}

family::Steps backward(const family::GradientRequest& request) {
    using family::backward_step;
    const workload::PipelineStep& step = request.step;
    for (const std::size_t output : {1U, 2U}) {
        if (!request.of_outputs[output].empty()) {
            throw family::Refused(-1, {},
                                  fmt::format("got a gradient of the output '{}', expected only "
                                              "one of y: others have no gradient",
                                              step.outputs[output]));
        }
    }
    family::Steps steps;
    const std::string& dy = request.of_outputs[0];
    const std::size_t sizes = request.outputs[0].shape.size();
    if (request.wants(kX) || request.wants(kScale)) {
        if (step.outputs[1].empty() || step.outputs[2].empty()) {
            throw family::Refused(-1, {},
                                  "got no names of the outputs mean and deviation, expected both, "
                                  "which the gradient reads");
        }
        const std::string& dx = request.of_inputs[kX];
        const std::string products =
            request.wants(kScale) ? request.of_inputs[kScale] + "_products" : "";
        auto made = backward_step(
            "layer_norm_gradient",
            {step.inputs[kX], dy, step.inputs[kScale], step.outputs[1], step.outputs[2]}, dx);
        made.outputs.push_back(products);
        steps.push_back(std::move(made));
        if (request.wants(kScale)) {
            family::add_sums_of_rows(steps, products, sizes, 1, request.of_inputs[kScale]);
        }
    }
    if (request.wants(kOffset)) {
        family::add_sums_of_rows(steps, dy, sizes, 1, request.of_inputs[kOffset]);
    }
    return steps;
}

} // namespace

Cycles cycles(const spec::MachineSpec& machine, ElementType type, std::int64_t rows,
              std::int64_t columns) {
    return cycles_of(machine, type, cut_of(machine, type, rows, columns));
}

const family::Family& family() {
    static const family::Family family = family::with_gradient(
        family::Family{.name = "layer_norm",
                       .says = "(x - mean) * deviation * scale + offset over each row, with its "
                               "mean, and 1 / sqrt(variance + epsilon) as its deviation",
                       .inputs = {"x", "scale", "offset"},
                       .options = {{.key = "epsilon",
                                    .says = "what is added to the variance, more than 0",
                                    .words = {},
                                    .number = kDefaultEpsilon}},
                       .make = make,
                       .outputs = {"y", "mean", "deviation"}},
        backward);
    return family;
}

} // namespace tessera::layer_norm
