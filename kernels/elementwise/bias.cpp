// SPDX-License-Identifier: MIT
#include "kernels/elementwise/backward.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/map.h"
#include "kernels/family/numbers.h"
#include "kernels/graph/blocks.h"
#include "kernels/graph/copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace tessera::elementwise {
namespace {

using family::TensorType;
using graph::Block;
using graph::TensorId;

/// Every row of every block begins a unit, and then no unit has elements of two blocks.
std::optional<std::vector<Block>> blocks_of_units(const graph::Tensor& tensor) {
    auto blocks = graph::blocks_of(tensor);
    const bool fits = blocks && std::all_of(blocks->begin(), blocks->end(), [](const Block& block) {
                          return block.place.offset % graph::kUnitBytes == 0 &&
                                 (block.rows == 1 || block.row_stride % graph::kUnitBytes == 0);
                      });
    return fits ? blocks : std::nullopt;
}

/// x plus one row in each of its rows. Each tile has the elements of `bias` that its blocks of x
/// need.
///
///     bias, where it stands  --"bring"-->  slices of it  --"bias"-->  x, block by block, plus its slice
class Bias final : public Map {
public:
    using Map::Map;

    [[nodiscard]] family::Emitted emit(graph::Graph& graph, const family::Site& site,
                                       std::span<const std::optional<TensorId>> where) override {
        const bool reads_x = where[0] &&
                             graph::is_on(tiles_of(site), graph.tensors.at(where[0]->index)) &&
                             blocks_of_units(graph.tensors[where[0]->index]);
        family::Emitted made;
        made.inputs = {reads_x ? *where[0]
                               : graph::add_rows(graph, tensor_of(0), tiles_of(site)).tensor,
                       where[1] ? *where[1] : add_input(graph, 1, site)};
        graph::align_to_units(graph, made.inputs[0]);
        made.outputs = {add_output(graph, site, made.inputs)};
        const auto blocks = *blocks_of_units(graph.tensors.at(made.inputs[0].index));
        const Slices slices = add_slices(graph, blocks);
        made.steps = graph::add_copy(graph, site.machine, made.inputs[1], slices.tensor,
                                     program::Role::Bring, site.owner, "bring");
        graph.tensors
            .pop_back(); // slices are the vertices' business alone: no tensor of the program
        const auto set = add_work(graph, site);
        const auto buffers = *graph::alike(graph.tensors.at(made.inputs[0].index),
                                           graph.tensors.at(made.outputs[0].index));
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            add_block(graph, site, set, blocks[i], slices.of_block[i],
                      {buffers.at(blocks[i].place.buffer.index), blocks[i].place.offset});
        }
        made.steps = graph::sequence({std::move(made.steps), graph::run(set)});
        return made;
    }

private:
    [[nodiscard]] Bytes row_bytes(const Block& block) const {
        return block.columns * bytes_of(output_type().type);
    }

    /// The elements of the bias that each tile needs.
    struct Slices {
        TensorId tensor;
        std::vector<graph::Place> of_block;
    };
    Slices add_slices(graph::Graph& graph, const std::vector<Block>& blocks) const {
        Slices slices;
        graph::Tensor made = tensor_of(1);
        made.name = "slices of " + made.name;
        const graph::BufferId buffer = graph.add_buffer({.name = made.name});
        std::map<TileId, Bytes> ends;
        std::map<std::tuple<TileId, std::int64_t, std::int64_t>, graph::Place> known;
        for (const Block& block : blocks) {
            Bytes& end = ends[block.tile];
            const auto [slice, added] = known.try_emplace(
                {block.tile, block.first_column, block.columns}, graph::Place{buffer, end});
            slices.of_block.push_back(slice->second);
            if (added) {
                made.pieces.push_back(graph::run_of(block.tile, slice->second, block.first_column,
                                                    block.columns, made.type));
                end += graph::units_of(row_bytes(block)) * graph::kUnitBytes;
            }
        }
        for (const auto& [tile, end] : ends) {
            graph.hold(buffer, tile, end);
        }
        slices.tensor = graph.add_tensor(std::move(made));
        return slices;
    }

    void add_block(graph::Graph& graph, const family::Site& site, graph::ComputeSetId set,
                   const Block& block, graph::Place slice, graph::Place out) const {
        const graph::UnitRows rows{block.tile, block.place, block.rows,
                                   graph::units_of(row_bytes(block)), block.row_stride};
        const function::Side sides[] = {
            {block.place, block.row_stride}, {slice, 0}, {out, block.row_stride}};
        std::vector<graph::Field> reads = {
            graph::use(slice, row_bytes(block), graph::Access::Read)};
        function::add_uses(reads, rows, sides[0], row_bytes(block), graph::Access::Read);
        function::add_vertices(graph, site.machine, set, function(), rows, sides, reads);
    }
};

std::unique_ptr<family::Step> make_bias(const family::Request& request) {
    family::require_numbers(request, 0, "x");
    family::require_numbers(request, 1, "bias");
    const TensorType& x = request.inputs[0];
    const TensorType& vector = request.inputs[1];
    family::require_dense(request, 0, "x");
    family::require_dense(request, 1, "bias");
    family::require_same_type(request);
    if (x.shape.size() < 2) {
        throw family::Refused(
            0, "", fmt::format("got {}, expected rows and columns", family::shape_text(x)));
    }
    if (vector.shape.empty() || vector.shape.back() != x.shape.back() ||
        vector.elements() != x.shape.back()) {
        throw family::Refused(1, "",
                              fmt::format("got {} and {}, expected an element for each column",
                                          family::shape_text(x), family::shape_text(vector)));
    }
    function::Function function = function::add(x.type);
    function.name = "bias";
    return std::make_unique<Bias>(std::move(function), request.inputs, x, std::vector{"x", "bias"});
}

} // namespace

const family::Family& bias() {
    static const family::Family family = family::with_gradient(
        family::Family{"bias", "x + bias, a vector, in every row", {"x", "bias"}, {}, make_bias},
        bias_backward);
    return family;
}

} // namespace tessera::elementwise
