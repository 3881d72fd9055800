// SPDX-License-Identifier: MIT
#include "kernels/reduce/reduce.h"

#include "base/error.h"
#include "kernels/family/gradient.h"
#include "kernels/family/numbers.h"
#include "kernels/graph/rows.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <variant>
#include <vector>

namespace tessera::reduce {
namespace {

using codelets::RowReduction;

constexpr std::array kTypes{ElementType::F16, ElementType::F32};
constexpr Bytes kWordBytes = 4;

/// A row's result as the host has it, and what the machine's may differ by.
struct Expected {
    double value = 0;
    double tolerance = 0;
};

/// An element takes part in at most n / k sums of its lane and 6 behind them, k = 4 (f16) or 2
/// (f32) lanes; each has a relative error of u = 2^-24 at most, and small ones become 0 below
/// 2^-126. To first order this is (n / k + 6) u of the sum of magnitudes, one more is for the rest.
/// Small whole numbers have no such error. Then FP16 is rounded, by at most 2^-11 of it or 2^-25.
Expected sum_of(const std::vector<double>& x, ElementType type, bool whole_numbers) {
    double sum = 0;
    double magnitudes = 0;
    for (const double value : x) {
        sum += value;
        magnitudes += std::fabs(value);
    }
    const bool half = type == ElementType::F16;
    if (half && !std::isfinite(sum)) { // arithmetic knows no FP16 infinities
        return {std::numeric_limits<double>::quiet_NaN(), 0};
    }
    const auto n = static_cast<double>(x.size());
    double tolerance = 0;
    if (!whole_numbers) {
        tolerance =
            (n / (half ? 4 : 2) + 7) * unit_roundoff(ElementType::F32) * magnitudes + n * 0x1p-126;
    }
    if (half) {
        tolerance += std::fabs(sum) * unit_roundoff(ElementType::F16) + 0x1p-25;
    }
    return {sum, tolerance};
}

/// FP32 numbers below 2^-126 are 0.
Expected largest_of(const std::vector<double>& x, ElementType type) {
    double largest = std::numeric_limits<double>::quiet_NaN();
    for (const double value : x) {
        largest = std::fmax(largest, value);
    }
    return {largest, type == ElementType::F32 ? 0x1p-126 : 0};
}

class ReduceStep : public family::Step {
public:
    explicit ReduceStep(const family::Request& request)
        : x_(family::matrices_input(request, kTypes)),
          op_(family::word_of(reduce::family(), request, "op")),
          reduction_(op_ == "max" ? RowReduction::Max : RowReduction::Sum) {}

    [[nodiscard]] std::vector<family::TensorType> outputs() const override {
        return {{x_.type, {x_.shape.begin(), x_.shape.end() - 1}}};
    }

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        const std::int64_t of_round = graph::kRowAlignment / bytes_of(x_.type);
        if (columns() / of_round > plan::most_rounds(site.machine)) {
            throw NotModelled(
                fmt::format("reduce: not modelled: rows of {} elements, expected at most {}; see "
                            "docs/kernels.md",
                            columns(), of_round * (plan::most_rounds(site.machine) + 1) - 1));
        }
        const graph::InRows x = graph::in_rows(
            graph, where.front(), {.name = site.owner + ": x", .type = x_.type, .shape = x_.shape},
            graph::kRowAlignment, {site.first_tile, site.machine.chip.tiles});
        const graph::InRows y = graph::add_rows_beside(
            graph,
            {.name = site.owner + ": y", .type = x_.type, .shape = {x_.elements() / columns()}},
            x.blocks);
        graph.tensors[y.tensor.index].shape = output().shape;
        const auto set = graph.add_compute_set({op_, program::Role::Work, site.owner, "rows"});
        graph.need_codelet(fmt::format("reduce_rows_{}", name_of(x_.type)));
        for (std::size_t i = 0; i < x.blocks.size(); ++i) {
            add_vertex(graph, set, x.blocks[i], y.blocks[i]);
        }
        return {{x.tensor}, {y.tensor}, graph::sequence({graph::run(set)})};
    }

    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        family::Comparison comparison;
        for (std::int64_t row = 0; row < x_.elements() / columns(); ++row) {
            std::vector<double> x;
            for (std::int64_t column = 0; column < columns(); ++column) {
                x.push_back(family::element_of(*inputs.front(), row * columns() + column));
            }
            const Expected expected = reduction_ == RowReduction::Sum
                                          ? sum_of(x, x_.type, inputs.front()->whole_numbers)
                                          : largest_of(x, x_.type);
            comparison.add_rounded(x_.type, family::element_of(outputs[0], row), expected.value,
                                   expected.tolerance);
        }
        return comparison.finish();
    }

    [[nodiscard]] double flops() const override { return static_cast<double>(x_.elements()); }

private:
    [[nodiscard]] std::int64_t columns() const { return x_.shape.back(); }

    void add_vertex(graph::Graph& graph, graph::ComputeSetId set, const graph::RowBlock& from,
                    const graph::RowBlock& to) const {
        const Bytes results = to.rows * bytes_of(x_.type);
        std::vector<graph::Field> state;
        graph::add_row_reads(state, from, columns() * bytes_of(x_.type));
        state.push_back(
            graph::write(to.place, (results + kWordBytes - 1) / kWordBytes * kWordBytes));
        state.push_back(graph::word(from.step));
        state.push_back(graph::word(from.rows));
        state.push_back(graph::word(columns()));
        graph.add_work(set, from.tile, from.rows);
        graph.add_vertex(set, from.tile, fmt::format("reduce_rows_{}_{}", op_, name_of(x_.type)),
                         program::VertexKind::MultiWorker, state);
    }

    family::TensorType x_;
    std::string op_;
    RowReduction reduction_;
};

/// The gradient of a row's sum is that of each of its elements: added to 0 in every row of the
/// transpose.
family::Steps gradient(const family::GradientRequest& request) {
    if (const auto op = request.step.options.find("op");
        op != request.step.options.end() && std::get<std::string>(op->second) != "sum") {
        throw family::Refused(-1, "op", "got max, expected sum: others have no gradient");
    }
    if (request.inputs[0].shape.size() != 2) {
        throw family::Refused(0, {},
                              fmt::format("got {}, expected rows and columns where a gradient is "
                                          "wanted",
                                          family::shape_text(request.inputs[0])));
    }
    const std::string& x = request.of_inputs[0];
    return {
        family::backward_step("scale", {request.step.inputs[0]}, x + "_zero", {{"factor", 0.0}}),
        family::backward_step("transpose", {x + "_zero"}, x + "_turned"),
        family::backward_step("bias", {x + "_turned", request.of_outputs[0]}, x + "_columns"),
        family::backward_step("transpose", {x + "_columns"}, x)};
}

} // namespace

Cycles cycles(const spec::MachineSpec& machine, RowReduction reduction, ElementType type,
              std::int64_t rows, std::int64_t columns) {
    const std::int64_t workers = machine.tile.workers;
    const std::int64_t of_unit = codelets::reduce_rows_unit(type);
    std::vector<std::int64_t> own(static_cast<std::size_t>(workers));
    for (std::int64_t row = 0; row < rows; ++row) {
        ++own[static_cast<std::size_t>(row / of_unit % workers)];
    }
    std::vector<std::int64_t> issues;
    for (const std::int64_t of_worker : own) {
        issues.push_back(codelets::reduce_rows_issues(reduction, type, of_worker, columns));
    }
    return plan::multi_worker_cycles(machine, issues);
}

const family::Family& family() {
    static const family::Family reduce = family::with_gradient(
        family::Family{"reduce",
                       "y = sum, or largest, of each row of x",
                       {"x"},
                       {{.key = "op",
                         .says = "what becomes of a row",
                         .words = {"sum", "max"},
                         .number = 0,
                         .word = "sum"}},
                       [](const family::Request& request) -> std::unique_ptr<family::Step> {
                           return std::make_unique<ReduceStep>(request);
                       }},
        gradient);
    return reduce;
}

} // namespace tessera::reduce
