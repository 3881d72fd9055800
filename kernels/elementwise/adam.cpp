// SPDX-License-Identifier: MIT
#include "kernels/elementwise/adam.h"

#include "base/units.h"
#include "kernels/codelets/elementwise_cost.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/factor.h"
#include "kernels/family/numbers.h"
#include "kernels/function/constants.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/unit_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace tessera::elementwise {

using family::Refused;
using family::Request;
using family::TensorType;
using function::Flow;
using function::Function;
using function::Near;
using graph::TensorId;

namespace {

constexpr std::int64_t kCorrections = 2;
constexpr Bytes kCorrectionBytes = kCorrections * 4;
constexpr Bytes kScalarBytes = 16;
constexpr const char* kCodelet = "elementwise_adam";

enum Input : std::size_t { kWeights, kGradient, kFirst, kSecond, kStateCorrections };
constexpr std::array kNames{"weights", "gradient", "moment_1", "moment_2", "corrections"};

Near constant(double exact) {
    return function::near_constant(ElementType::F32, exact);
}
Near single(double exact) {
    return function::near(ElementType::F32, exact);
}

std::set<TileId> tiles_with(const graph::Tensor& tensor) {
    std::set<TileId> tiles;
    for (const graph::Piece& piece : tensor.pieces) {
        tiles.insert(piece.tile);
    }
    return tiles;
}

/// Where each of the tiles has a copy of all corrections; nothing if one has none.
std::optional<std::map<TileId, graph::Place>> copies_of(const graph::Graph& graph, TensorId tensor,
                                                        const std::set<TileId>& tiles) {
    std::map<TileId, graph::Place> places;
    for (const graph::Piece& piece : graph.tensors.at(tensor.index).pieces) {
        const bool is_whole = piece.host_offset == 0 && piece.dims.size() == 1 &&
                              piece.dims[0].count == kCorrections &&
                              piece.dims[0].host_stride == 1 && piece.dims[0].tile_stride == 4 &&
                              piece.place.offset % kCorrectionBytes == 0;
        if (!is_whole || !tiles.contains(piece.tile) ||
            !places.emplace(piece.tile, piece.place).second) {
            return std::nullopt;
        }
    }
    return places.size() == tiles.size() ? std::optional(std::move(places)) : std::nullopt;
}

TensorId add_copies(graph::Graph& graph, const std::set<TileId>& tiles) {
    graph::Tensor made{
        .name = kNames[kStateCorrections], .type = ElementType::F32, .shape = {kCorrections}};
    const graph::BufferId buffer = graph.add_buffer({.name = made.name});
    for (const TileId tile : tiles) {
        graph.hold(buffer, tile, kCorrectionBytes);
        made.pieces.push_back(graph::run_of(tile, {buffer}, 0, kCorrections, made.type));
    }
    return graph.add_tensor(std::move(made));
}

} // namespace

family::Family adam_family(std::string_view name, const char* says,
                           std::unique_ptr<family::Step> (*make)(const Request& request)) {
    return {
        .name = name,
        .says = says,
        .inputs = {kNames.begin(), kNames.end()},
        .options = {{.key = "rate", .says = "learning rate", .words = {}, .number = 1e-3},
                    {.key = "beta1",
                     .says = "what of the first moment stays, 0 to less than 1",
                     .words = {},
                     .number = 0.9},
                    {.key = "beta2",
                     .says = "what of the second moment stays, 0 to less than 1",
                     .words = {},
                     .number = 0.999},
                    {.key = "epsilon",
                     .says = "what is added to the root of the second moment, more than 0",
                     .words = {},
                     .number = 1e-8},
                    {.key = "weight_decay",
                     .says = "what of the weights is added to the change, before the rate",
                     .words = {},
                     .number = 0}},
        .make = make,
        .outputs = {kNames[kWeights], kNames[kFirst], kNames[kSecond], kNames[kStateCorrections]}};
}

std::vector<TensorType> adam_state(const TensorType& weights) {
    TensorType moment = weights;
    moment.type = ElementType::F32;
    return {moment, moment, {ElementType::F32, {kCorrections}}};
}

void require_adam_inputs(const Request& request) {
    const TensorType& weights = request.inputs[kWeights];
    for (const Input input : {kWeights, kGradient}) {
        family::require_numbers(request, input, kNames[input]);
    }
    for (const Input input : {kGradient, kFirst, kSecond}) {
        const TensorType& other = request.inputs[input];
        if (other.shape != weights.shape) {
            throw Refused(input, "",
                          fmt::format("got {} and {}, expected equal shapes",
                                      family::shape_text(weights), family::shape_text(other)));
        }
        if (other.sparse != weights.sparse) {
            throw Refused(input, "", "got two patterns, expected that of the same sparse matrix");
        }
    }
    constexpr std::array kSingle{ElementType::F32};
    for (const Input input : {kFirst, kSecond, kStateCorrections}) {
        family::require_numbers(request, input, kNames[input], kSingle);
    }
    if (request.inputs[kStateCorrections].shape != std::vector{kCorrections}) {
        throw Refused(kStateCorrections, "",
                      fmt::format("corrections: got {}, expected 2: one for each moment",
                                  family::shape_text(request.inputs[kStateCorrections])));
    }
}

AdamOptions adam_options_of(const family::Family& family, const Request& request) {
    const auto number = [&](const char* key) {
        static_cast<void>(
            factor_of(family, request, key, ElementType::F32)); // refuses what is none
        return family::number_of(family, request, key);
    };
    const auto refuse = [](const char* key, double got, const char* expected) {
        throw Refused(-1, key, fmt::format("got {}, expected {}", got, expected));
    };
    AdamOptions options{number("rate"),
                        {number("beta1"), number("beta2")},
                        number("epsilon"),
                        number("weight_decay")};
    for (const std::size_t i : {0U, 1U}) {
        if (options.beta[i] < 0 || static_cast<float>(options.beta[i]) >= 1) {
            refuse(i == 0 ? "beta1" : "beta2", options.beta[i], "at least 0 and less than 1");
        }
    }
    if (options.epsilon < double{std::numeric_limits<float>::min()}) {
        refuse("epsilon", options.epsilon, "more than 0, and no subnormal number of f32");
    }
    return options;
}

AdamReference::AdamReference(const AdamOptions& options, const family::Value& corrections)
    : options_(options) {
    for (const std::size_t i : {0U, 1U}) {
        const double before = family::number_at(corrections, static_cast<std::int64_t>(i));
        corrections_[i] =
            constant(options.beta[i]) * single(before) + constant(1 - options.beta[i]);
    }
}

Near AdamReference::first(double m, double g) const {
    return constant(options_.beta[0]) * single(m) + constant(1 - options_.beta[0]) * single(g);
}

Near AdamReference::second(double v, double g) const {
    return constant(options_.beta[1]) * single(v) +
           constant(1 - options_.beta[1]) * (single(g) * single(g));
}

Near AdamReference::quotient(const Near& factor, const Near& m, const Near& v) const {
    const Near root = sqrt(v * (single(1) / corrections_[1]));
    return factor * (single(1) / corrections_[0]) * m / (root + constant(options_.epsilon));
}

Near changed(ElementType type, const Near& keep, double weight, const Near& change) {
    const Near sum = keep * single(weight) - change;
    if (type == ElementType::F32) {
        return sum;
    }
    Near rounded = function::near_constant(type, sum.exact);
    rounded.off += sum.off;
    return rounded;
}

AdamStep::AdamStep(std::string name, const Request& request, const AdamOptions& options)
    : Map({.name = std::move(name), .codelet = kCodelet, .vertex = {}, .loop = {}, .flops = 16},
          {request.inputs.begin(), request.inputs.begin() + kStateCorrections},
          request.inputs[kWeights], {kNames.begin(), kNames.begin() + kStateCorrections}),
      options_(options) {}

std::vector<TensorType> AdamStep::outputs() const {
    std::vector<TensorType> types = adam_state(inputs()[kWeights]);
    types.insert(types.begin(), inputs()[kWeights]);
    return types;
}

TensorId AdamStep::place_of(graph::Graph& graph, const family::Site& site, std::size_t output,
                            std::size_t input, TensorId stands,
                            std::vector<graph::Step>& copies) const {
    if (site.input_under(output) == input && graph::has_own_units(graph, stands)) {
        return stands;
    }
    const graph::Tensor& model = graph.tensors.at(stands.index);
    const TensorId copy = graph::add_alike(graph, model.name, model.type, stands);
    if (sums_units()) {
        pad(graph, std::span(&copy, 1));
    }
    copies.push_back(graph::add_copy(graph, site.machine, stands, copy, program::Role::Rearrange,
                                     site.owner, "copy"));
    return copy;
}

family::Emitted AdamStep::emit(graph::Graph& graph, const family::Site& site,
                               std::span<const std::optional<TensorId>> where) {
    family::Emitted made;
    const auto offered_alike = where.first(kStateCorrections);
    made.inputs = sums_units() ? read_whole_units(graph, site, offered_alike)
                               : read_alike(graph, site, offered_alike);
    const std::set<TileId> tiles = tiles_with(graph.tensors.at(made.inputs[kWeights].index));
    const auto& offered = where[kStateCorrections];
    made.inputs.push_back(offered && copies_of(graph, *offered, tiles) ? *offered
                                                                       : add_copies(graph, tiles));
    std::vector<graph::Step> steps;
    const auto place = [&](std::size_t output, Input input) {
        made.outputs.push_back(place_of(graph, site, output, input, made.inputs[input], steps));
        return made.outputs.back();
    };
    Places places;
    places.gradient = made.inputs[kGradient];
    places.weights = place(0, kWeights);
    places.moments[0] = place(1, kFirst);
    places.moments[1] = place(2, kSecond);
    const auto corrections = *copies_of(graph, place(3, kStateCorrections), tiles);
    places.scalars = graph.add_buffer({.name = "scalars"});

    const auto set = add_work(graph, site);
    for (const auto& [tile, at] : corrections) {
        graph.hold(places.scalars, tile, kScalarBytes);
        std::vector<graph::Field> state{graph::pointer(at, kCorrectionBytes, graph::Access::Update),
                                        graph::write({places.scalars}, kScalarBytes)};
        for (const double beta : options_.beta) {
            state.push_back(function::single(beta));
        }
        for (const double beta : options_.beta) {
            state.push_back(function::single(1 - beta));
        }
        state.push_back(function::single(options_.rate));
        state.push_back(function::single(1 - options_.rate * options_.weight_decay));
        graph.add_vertex(set, tile, "adam_corrections", program::VertexKind::Worker, state);
    }
    graph::align_to_units(graph, made.outputs[3]);
    add_moments(graph, site, set, places);
    steps.push_back(update(graph, site, set, places));
    made.steps = graph::sequence(std::move(steps));
    return made;
}

void AdamStep::add_moments(graph::Graph& graph, const family::Site& site, graph::ComputeSetId set,
                           const Places& places) const {
    const bool is_half = inputs()[kGradient].type == ElementType::F16;
    const Function moments{
        .name = {},
        .codelet = kCodelet,
        .vertex = is_half ? "adam_moments_f16" : "adam_moments_f32",
        .loop = is_half ? codelets::kAdamMomentsF16Loop : codelets::kAdamMomentsF32Loop,
        .constants = {function::single(options_.beta[0]), function::single(1 - options_.beta[0]),
                      function::single(options_.beta[1]), function::single(1 - options_.beta[1])},
        .flows = {Flow::Through, Flow::Through, Flow::In}};
    const TensorId sides[] = {places.moments[0], places.moments[1], places.gradient};
    const auto rows = graph::unit_rows_of(graph.tensors.at(sides[0].index));
    function::add_vertices(graph, site.machine, set, moments, rows, sides);
}

void AdamStep::add_vertices(graph::Graph& graph, const family::Site& site, graph::ComputeSetId set,
                            Function function, const Places& places) const {
    function.constants.insert(
        function.constants.begin(),
        {graph::read({places.scalars}, kScalarBytes), function::single(options_.epsilon)});
    const TensorId sides[] = {places.moments[0], places.moments[1], places.weights};
    const auto rows = graph::unit_rows_of(graph.tensors.at(sides[0].index));
    function::add_vertices(graph, site.machine, set, function, rows, sides);
}

void AdamStep::add_apply(graph::Graph& graph, const family::Site& site, graph::ComputeSetId set,
                         const Places& places) const {
    const bool is_half = weights_type() == ElementType::F16;
    add_vertices(graph, site, set,
                 {.name = {},
                  .codelet = kCodelet,
                  .vertex = is_half ? "adam_apply_f16" : "adam_apply_f32",
                  .loop = is_half ? codelets::kAdamApplyF16Loop : codelets::kAdamApplyF32Loop,
                  .flows = {Flow::In, Flow::In, Flow::Through}},
                 places);
}

graph::Step AdamStep::update(graph::Graph& graph, const family::Site& site, graph::ComputeSetId set,
                             const Places& places) {
    add_apply(graph, site, set, places);
    return graph::run(set);
}

family::Checked AdamStep::check_all(std::span<const family::Value* const> inputs,
                                    std::span<const family::Value> outputs,
                                    const AdamReference& reference,
                                    const std::function<Near(std::int64_t element)>& weight) {
    family::Comparison comparison;
    const auto add = [&](const family::Value& output, std::int64_t element, const Near& expected) {
        comparison.add_rounded(output.type.type, family::element_of(output, element),
                               expected.exact, expected.off);
    };
    const std::int64_t elements = outputs[0].type.stored_elements();
    for (std::int64_t i = 0; i < elements; ++i) {
        const double g = family::number_at(*inputs[kGradient], i);
        add(outputs[1], i, reference.first(family::number_at(*inputs[kFirst], i), g));
        add(outputs[2], i, reference.second(family::number_at(*inputs[kSecond], i), g));
        add(outputs[0], i, weight(i));
    }
    for (std::int64_t i = 0; i < kCorrections; ++i) {
        add(outputs[3], i, reference.correction(static_cast<std::size_t>(i)));
    }
    return comparison.finish();
}

family::Checked AdamStep::check(std::span<const family::Value* const> inputs,
                                std::span<const family::Value> outputs, int /*threads*/) const {
    const AdamReference reference(options_, *inputs[kStateCorrections]);
    const Near keep = constant(1 - options_.rate * options_.weight_decay);
    return check_all(inputs, outputs, reference, [&](std::int64_t i) {
        const double g = family::number_at(*inputs[kGradient], i);
        return changed(
            weights_type(), keep, family::number_at(*inputs[kWeights], i),
            reference.quotient(constant(options_.rate),
                               reference.first(family::number_at(*inputs[kFirst], i), g),
                               reference.second(family::number_at(*inputs[kSecond], i), g)));
    });
}

const family::Family& adam() {
    static const family::Family family = adam_family(
        "adam", "weights against the first moment of their gradient over the root of the second",
        [](const Request& request) -> std::unique_ptr<family::Step> {
            require_adam_inputs(request);
            return std::make_unique<AdamStep>("adam", request, adam_options_of(adam(), request));
        });
    return family;
}

} // namespace tessera::elementwise
