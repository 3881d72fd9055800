// SPDX-License-Identifier: MIT
// The sum of all squares of a tensor, or of its differences from another, as one number: a loss.
#include "kernels/elementwise/backward.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/factor.h"
#include "kernels/elementwise/map.h"
#include "kernels/elementwise/worker_pairs.h"
#include "kernels/family/numbers.h"
#include "kernels/family/pair_sums.h"
#include "kernels/function/near.h"
#include "kernels/graph/unit_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace tessera::elementwise {
namespace {

using family::TensorType;
using function::Flow;
using function::Near;
using graph::TensorId;

class SumOfSquaresStep final : public Map {
public:
    SumOfSquaresStep(function::Function function, std::vector<TensorType> inputs, double factor)
        : Map(std::move(function), std::move(inputs), {ElementType::F32, {1}}, {"x", "target"}),
          factor_(factor) {}

    [[nodiscard]] family::Emitted emit(graph::Graph& graph, const family::Site& site,
                                       std::span<const std::optional<TensorId>> where) override {
        family::Emitted made;
        made.inputs = read_whole_units(graph, site, where);
        const auto set = add_work(graph, site);
        function::Function squares = function();
        WorkerPairs pairs(graph, site.machine);
        pairs.add_to(squares);
        const auto rows = graph::unit_rows_of(graph.tensors.at(made.inputs[0].index));
        function::add_vertices(graph, site.machine, set, squares, rows, made.inputs);

        const graph::BufferId total = graph.add_buffer({.name = kOutput});
        const family::PairSum sum =
            family::add_pair_sum(graph, site, set, std::move(pairs).hold(), {total}, factor_);
        // a unit adds up two products before they are added to a sum, and two sums come to one
        additions_ = sum.additions + most_units_on_a_tile(graph, made.inputs[0]) + 2 + kOfFactor;
        graph.hold(total, sum.tile, graph::kUnitBytes);
        graph::Tensor loss{.name = kOutput, .type = ElementType::F32, .shape = {1}};
        loss.pieces.push_back(graph::run_of(sum.tile, {total}, 0, 1, loss.type));
        made.outputs = {graph.add_tensor(std::move(loss))};
        made.steps = graph::sequence({graph::run(set), sum.steps});
        return made;
    }

    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        const ElementType type = inputs[0]->type.type;
        SumOfSquares squares;
        for (std::int64_t i = 0; i < inputs[0]->type.stored_elements(); ++i) {
            const Near x = function::near(type, family::number_at(*inputs[0], i));
            squares.add(inputs.size() == 1
                            ? x
                            : x - function::near(type, family::number_at(*inputs[1], i)));
        }
        const Near sum =
            function::near_constant(ElementType::F32, factor_) * squares.sum(additions_);
        return family::compare(outputs[0], [&](std::int64_t /*element*/) {
            return family::Expected{sum.exact, sum.off};
        });
    }
    [[nodiscard]] double flops() const override {
        return function().flops * static_cast<double>(inputs()[0].stored_elements());
    }

private:
    static constexpr std::int64_t kOfFactor = 1;
    double factor_;
    std::int64_t additions_ = 0; ///< on the way to the sum, after emit()
};

std::unique_ptr<family::Step> make_sum_of_squares(const family::Request& request) {
    family::require_numbers(request, 0, "x");
    family::require_dense(request, 0, "x");
    const TensorType& x = request.inputs[0];
    const bool has_target = request.inputs.size() > 1;
    if (has_target) {
        family::require_numbers(request, 1, "target");
        family::require_same_type(request);
        if (x.shape != request.inputs[1].shape) {
            throw family::Refused(1, "",
                                  fmt::format("got {} and {}, expected equal shapes",
                                              family::shape_text(x),
                                              family::shape_text(request.inputs[1])));
        }
    }
    const double factor = family::number_of(sum_of_squares(), request, "factor");
    static_cast<void>(factor_of(sum_of_squares(), request, "factor", ElementType::F32));
    return std::make_unique<SumOfSquaresStep>(
        function::Function{
            .name = "squares",
            .codelet = "elementwise_squares",
            .vertex =
                fmt::format("squares{}_{}", has_target ? "_of_difference" : "", name_of(x.type)),
            .loop = has_target ? codelets::kSquaresOfDifferenceLoop : codelets::kSquaresLoop,
            .flops = has_target ? 3.0 : 2.0,
            .flows = std::vector(request.inputs.size(), Flow::In)},
        request.inputs, factor);
}

} // namespace

const family::Family& sum_of_squares() {
    static const family::Family family = [] {
        family::Family made{
            "sum_of_squares",
            "factor times the sum of the squares of x, or of x - target, in f32",
            {"x", "target"},
            {{.key = "factor", .says = "what the sum is multiplied by", .words = {}, .number = 1}},
            make_sum_of_squares};
        made.optional_inputs = 1;
        return family::with_gradient(std::move(made), sum_of_squares_backward);
    }();
    return family;
}

} // namespace tessera::elementwise
