// SPDX-License-Identifier: MIT
#include "kernels/elementwise/map.h"

#include "kernels/family/numbers.h"
#include "kernels/graph/places.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

namespace tessera::elementwise {

using graph::TensorId;

/// Of an input that stands nowhere yet.
constexpr Bytes kGrainBytes = 32;

Map::Map(function::Function function, std::vector<family::TensorType> inputs,
         family::TensorType output, std::vector<const char*> input_names)
    : function_(std::move(function)), inputs_(std::move(inputs)), output_(std::move(output)),
      input_names_(std::move(input_names)) {}

graph::Tensor Map::tensor_of(std::size_t input) const {
    return {.name = input_names_[input],
            .type = inputs_[input].type,
            .shape = inputs_[input].stored_shape()};
}

TensorId Map::add_input(graph::Graph& graph, std::size_t input, const family::Site& site) const {
    return graph::add_runs(graph, tiles_of(site), tensor_of(input), kGrainBytes);
}

TensorId Map::add_output(graph::Graph& graph, const family::Site& site,
                         const std::vector<TensorId>& inputs) const {
    const auto under = site.input_under(0);
    return under && graph::has_own_units(graph, inputs[*under])
               ? inputs[*under]
               : graph::add_alike(graph, kOutput, output_.type, inputs[0]);
}

graph::ComputeSetId Map::add_work(graph::Graph& graph, const family::Site& site) const {
    graph.need_codelet(function_.codelet);
    return graph.add_compute_set({function_.name, program::Role::Work, site.owner});
}

double Map::flops() const {
    return function_.flops * static_cast<double>(output_.stored_elements());
}

std::vector<TensorId> Map::read_alike(graph::Graph& graph, const family::Site& site,
                                      std::span<const std::optional<TensorId>> where) const {
    const auto may_lead = [&](std::size_t input) {
        return where[input] && graph::is_on(tiles_of(site), graph.tensors.at(where[input]->index));
    };
    std::size_t lead = site.input_under(0).value_or(0);
    for (std::size_t i = 0; i < inputs_.size() && !may_lead(lead); ++i) {
        lead = may_lead(i) ? i : lead;
    }
    const TensorId model = may_lead(lead) ? *where[lead] : add_input(graph, lead, site);
    std::vector<TensorId> read;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        if (i == lead) {
            read.push_back(model);
        } else if (where[i] &&
                   graph::alike(graph.tensors.at(model.index), graph.tensors.at(where[i]->index))) {
            read.push_back(*where[i]);
        } else {
            read.push_back(graph::add_alike(graph, tensor_of(i).name, inputs_[i].type, model));
        }
        graph::align_to_units(graph, read.back());
    }
    return read;
}

std::vector<TensorId> Map::read_whole_units(graph::Graph& graph, const family::Site& site,
                                            std::span<const std::optional<TensorId>> where) const {
    std::vector<std::optional<TensorId>> whole(where.begin(), where.end());
    for (auto& input : whole) {
        if (input && !graph::has_whole_units(graph, *input)) {
            input.reset();
        }
    }
    const auto read = read_alike(graph, site, whole);
    pad(graph, read);
    return read;
}

void Map::pad(graph::Graph& graph, std::span<const TensorId> tensors) {
    for (const TensorId tensor : tensors) {
        if (!graph::has_whole_units(graph, tensor)) {
            for (const graph::Piece& piece : graph.tensors.at(tensor.index).pieces) {
                graph.buffers.at(piece.place.buffer.index).padded = true;
            }
        }
    }
}

family::Emitted Map::emit(graph::Graph& graph, const family::Site& site,
                          std::span<const std::optional<TensorId>> where) {
    family::Emitted made;
    made.inputs = read_alike(graph, site, where);
    made.outputs = {add_output(graph, site, made.inputs)};
    std::vector<TensorId> all = made.inputs;
    all.push_back(made.outputs[0]);
    const auto set = add_work(graph, site);
    const auto rows = graph::unit_rows_of(graph.tensors.at(all.front().index));
    function::add_vertices(graph, site.machine, set, function_, rows, all);
    made.steps = graph::run(set);
    return made;
}

family::Checked Map::check(std::span<const family::Value* const> inputs,
                           std::span<const family::Value> outputs, int /*threads*/) const {
    return family::compare(outputs[0], [&](std::int64_t i) {
        const double x = family::number_at(*inputs[0], i);
        const double y = inputs.size() == 1
                             ? 0
                             : family::number_at(*inputs[1], i % inputs[1]->type.stored_elements());
        const double exact = function_.value(x, y);
        return family::Expected{exact, function_.tolerance ? function_.tolerance(x, y, exact) : 0};
    });
}

} // namespace tessera::elementwise
