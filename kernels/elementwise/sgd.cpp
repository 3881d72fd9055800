// SPDX-License-Identifier: MIT
// Steps of stochastic gradient descent, which go over their state in place.
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/factor.h"
#include "kernels/elementwise/map.h"
#include "kernels/family/numbers.h"
#include "kernels/graph/unit_rows.h"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace tessera::elementwise {
namespace {

using family::Refused;
using family::Request;

void require_same_shape(const Request& request) {
    if (request.inputs[0].shape != request.inputs[1].shape) {
        throw Refused(1, "",
                      fmt::format("got {} and {}, expected equal shapes",
                                  family::shape_text(request.inputs[0]),
                                  family::shape_text(request.inputs[1])));
    }
}

/// factor * momentum + gradient.
std::unique_ptr<family::Step> make_momentum(const Request& request) {
    family::require_numbers(request, 0, "momentum");
    family::require_numbers(request, 1, "gradient");
    family::require_same_type(request);
    require_same_shape(request);
    const family::TensorType& momentum = request.inputs[0];
    const Factor factor = factor_of(elementwise::momentum(), request, "factor", momentum.type);
    auto function = function::scaled_add(momentum.type, momentum.type, factor.value, factor.bits);
    function.name = "momentum";
    return std::make_unique<Map>(std::move(function), request.inputs, momentum,
                                 std::vector{"momentum", "gradient"});
}

/// weights - rate * gradient, whose vertices have the gradient first, as its units are the longer ones.
class Descent final : public Map {
public:
    using Map::Map;

    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        family::Emitted made;
        made.inputs = read_alike(graph, site, where);
        made.outputs = {add_output(graph, site, made.inputs)};
        const graph::TensorId sides[] = {made.inputs[1], made.inputs[0], made.outputs[0]};
        const auto set = add_work(graph, site);
        const auto rows = graph::unit_rows_of(graph.tensors.at(sides[0].index));
        function::add_vertices(graph, site.machine, set, function(), rows, sides);
        made.steps = graph::run(set);
        return made;
    }
};

std::unique_ptr<family::Step> make_sgd(const Request& request) {
    family::require_numbers(request, 0, "weights");
    family::require_numbers(request, 1, "gradient");
    require_same_shape(request);
    const family::TensorType& weights = request.inputs[0];
    const family::TensorType& gradient = request.inputs[1];
    if (weights.type == ElementType::F32 && gradient.type == ElementType::F16) {
        throw Refused(1, "", "got f16 for weights of f32, expected f32; cast it before");
    }
    if (weights.sparse != gradient.sparse) {
        throw Refused(1, "", "got two patterns, expected that of the same sparse matrix");
    }
    const Factor rate = factor_of(sgd(), request, "rate", gradient.type);
    const std::uint32_t sign = gradient.type == ElementType::F16 ? 0x8000U : 0x80000000U;
    auto function =
        function::scaled_add(gradient.type, weights.type, -rate.value, rate.bits ^ sign);
    function.name = "sgd";
    // the weights are the first input of the step, and the second of the function
    function.value = [of = function.value](double w, double g) { return of(g, w); };
    function.tolerance = [of = function.tolerance](double w, double g, double exact) {
        return of(g, w, exact);
    };
    return std::make_unique<Descent>(std::move(function), request.inputs, weights,
                                     std::vector{"weights", "gradient"});
}

} // namespace

const family::Family& momentum() {
    static const family::Family family{"momentum",
                                       "factor * momentum + gradient",
                                       {"momentum", "gradient"},
                                       {{.key = "factor",
                                         .says = "what of the momentum stays, rounded to its type",
                                         .words = {},
                                         .number = 0.9}},
                                       make_momentum};
    return family;
}

const family::Family& sgd() {
    static const family::Family family{
        "sgd",
        "weights - rate * gradient",
        {"weights", "gradient"},
        {{.key = "rate",
          .says = "learning rate, rounded to the type of the gradient",
          .words = {},
          .number = 0.01}},
        make_sgd};
    return family;
}

} // namespace tessera::elementwise
