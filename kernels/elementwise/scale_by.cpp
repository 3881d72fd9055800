// SPDX-License-Identifier: MIT
// Elements times one number that another step has made.
//
//     by, where it stands  --"bring"-->  a copy on each tile with x  --"scale by"-->  factor * by * x
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/factor.h"
#include "kernels/elementwise/map.h"
#include "kernels/elementwise/one_number.h"
#include "kernels/family/numbers.h"
#include "kernels/function/constants.h"
#include "kernels/function/near.h"
#include "kernels/graph/unit_rows.h"
#include "kernels/workload/overflow.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <memory>
#include <utility>

namespace tessera::elementwise {
namespace {

using family::TensorType;
using function::Near;
using graph::TensorId;

class ScaleBy final : public Map {
public:
    ScaleBy(function::Function function, TensorType x, TensorType by, double factor)
        : Map(std::move(function), {x}, x, {"x"}), by_(std::move(by)), factor_(factor) {}

    [[nodiscard]] family::Emitted emit(graph::Graph& graph, const family::Site& site,
                                       std::span<const std::optional<TensorId>> where) override {
        family::Emitted made;
        made.inputs = read_alike(graph, site, where.first(1));
        made.inputs.push_back(where[1] ? *where[1] : add_number(graph, site, "by", by_));
        made.outputs = {add_output(graph, site, made.inputs)};
        const graph::BufferId copies = graph.add_buffer({.name = "by"});
        graph::Step bring = bring_number(graph, site, made.inputs[1], made.inputs[0], copies);
        function::Function scale = function();
        scale.constants = {graph::read({copies}, kNumberBytes), function::single(factor_)};
        const auto set = add_work(graph, site);
        const TensorId sides[] = {made.inputs[0], made.outputs[0]};
        const auto rows = graph::unit_rows_of(graph.tensors.at(sides[0].index));
        function::add_vertices(graph, site.machine, set, scale, rows, sides);
        made.steps = graph::sequence({std::move(bring), graph::run(set)});
        return made;
    }

    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        const ElementType type = output_type().type;
        const Near factor = function::near_constant(ElementType::F32, factor_) *
                            function::near(ElementType::F32, family::number_at(*inputs[1], 0));
        return family::compare(outputs[0], [&](std::int64_t i) {
            const Near product =
                factor * function::near(ElementType::F32, family::number_at(*inputs[0], i));
            return family::Expected{
                product.exact,
                product.off +
                    (type == ElementType::F16
                         ? workload::rounding(type, std::fabs(product.exact) + product.off)
                         : 0)};
        });
    }

private:
    TensorType by_;
    double factor_;
};

std::unique_ptr<family::Step> make_scale_by(const family::Request& request) {
    family::require_numbers(request, 0, "x");
    constexpr std::array kSingle{ElementType::F32};
    family::require_numbers(request, 1, "by", kSingle);
    family::require_dense(request, 1, "by");
    const TensorType& x = request.inputs[0];
    const TensorType& by = request.inputs[1];
    if (by.elements() != 1) {
        throw family::Refused(
            1, "", fmt::format("by: got {}, expected one element", family::shape_text(by)));
    }
    const double factor = family::number_of(scale_by(), request, "factor");
    static_cast<void>(factor_of(scale_by(), request, "factor", ElementType::F32));
    const bool is_half = x.type == ElementType::F16;
    return std::make_unique<ScaleBy>(
        function::Function{.name = "scale by",
                           .codelet = "elementwise_scale_by",
                           .vertex = is_half ? "scale_by_f16" : "scale_by_f32",
                           .loop = is_half ? codelets::kScaleByF16Loop : codelets::kScaleByF32Loop},
        x, by, factor);
}

} // namespace

const family::Family& scale_by() {
    static const family::Family family{"scale_by",
                                       "factor * by * x of every element, by a tensor of one",
                                       {"x", "by"},
                                       {{.key = "factor",
                                         .says = "a number that by is multiplied by before",
                                         .words = {},
                                         .number = 1}},
                                       make_scale_by};
    return family;
}

} // namespace tessera::elementwise
