// SPDX-License-Identifier: MIT
#include "kernels/layer_norm/operands.h"

#include "kernels/family/numbers.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/places.h"
#include "kernels/graph/unit_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tessera::layer_norm {
namespace {

using graph::RowBlock;
using graph::TensorId;

/// A vector that stands nowhere yet is placed in runs of so many bytes.
constexpr Bytes kGrainBytes = 32;

/// The rows' numbers where a tensor has them, piece by piece as add_rows_beside() makes them.
std::optional<std::vector<RowBlock>> standing_beside(const graph::Graph& graph, TensorId tensor,
                                                     std::span<const RowBlock> rows) {
    constexpr Bytes kBytes = bytes_of(ElementType::F32);
    const auto& pieces = graph.tensors.at(tensor.index).pieces;
    if (pieces.size() != rows.size()) {
        return std::nullopt;
    }
    std::vector<RowBlock> blocks;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const graph::Piece& piece = pieces[i];
        const bool is_beside =
            piece.tile == rows[i].tile && piece.host_offset == rows[i].first_row &&
            piece.place.offset % kBytes == 0 && piece.dims.size() == 1 &&
            piece.dims[0].count == rows[i].rows &&
            (rows[i].rows == 1 || (piece.dims[0].host_stride == rows[i].row_stride &&
                                   piece.dims[0].tile_stride == kBytes));
        if (!is_beside) {
            return std::nullopt;
        }
        RowBlock block = rows[i];
        block.place = piece.place;
        block.step = kBytes;
        blocks.push_back(block);
    }
    return blocks;
}

} // namespace

EveryTile bring(graph::Graph& graph, const family::Site& site, graph::Tensor vector,
                std::optional<TensorId> where, std::span<const RowBlock> blocks) {
    const graph::TileRange tiles{site.first_tile, site.machine.chip.tiles};
    graph::Tensor copies = vector;
    copies.name = "copies of " + vector.name;
    const TensorId from = where ? *where : graph::add_runs(graph, tiles, vector, kGrainBytes);
    graph::align_to_units(graph, from);
    const graph::BufferId buffer = graph.add_buffer({.name = copies.name});
    const std::int64_t elements = vector.shape.front();
    const Bytes bytes = graph::units_of(elements * bytes_of(vector.type)) * graph::kUnitBytes;
    std::set<TileId> added;
    for (const RowBlock& block : blocks) {
        if (added.insert(block.tile).second) {
            copies.pieces.push_back(graph::run_of(block.tile, {buffer}, 0, elements, vector.type));
            graph.hold(buffer, block.tile, bytes);
        }
    }
    const TensorId to = graph.add_tensor(std::move(copies));
    graph::Step steps =
        graph::add_copy(graph, site.machine, from, to, program::Role::Bring, site.owner, "bring");
    graph.tensors.pop_back(); // copies are the vertices' business alone: no tensor of the program
    return {from, buffer, std::move(steps)};
}

OfRows add_of_rows(graph::Graph& graph, const graph::Tensor& of, std::span<const RowBlock> rows) {
    graph::Tensor vector = of;
    std::int64_t elements = 1;
    for (const std::int64_t size : of.shape) {
        elements *= size;
    }
    vector.shape = {elements};
    auto made = graph::add_rows_beside(graph, std::move(vector), rows);
    graph.tensors[made.tensor.index].shape = of.shape;
    return {made.tensor, std::move(made.blocks)};
}

OfRows of_rows(graph::Graph& graph, const graph::Tensor& of, std::optional<TensorId> where,
               std::span<const RowBlock> rows) {
    if (where) {
        if (auto blocks = standing_beside(graph, *where, rows)) {
            return {*where, std::move(*blocks)};
        }
    }
    return add_of_rows(graph, of, rows);
}

family::TensorType row_type(const family::TensorType& x) {
    return {ElementType::F32, {x.shape.begin(), x.shape.end() - 1}};
}

void require_columns(const family::Request& request, std::size_t number, const char* name) {
    const family::TensorType& x = request.inputs[0];
    const family::TensorType& vector = request.inputs[number];
    const int input = static_cast<int>(number);
    family::require_dense(request, input, name);
    if (vector.type != x.type) {
        throw family::Refused(input, {},
                              fmt::format("{}: got {} and {}, expected equal types", name,
                                          name_of(x.type), name_of(vector.type)));
    }
    if (vector.shape.size() != 1 || vector.shape[0] != x.shape.back()) {
        throw family::Refused(input, {},
                              fmt::format("{}: got {} and {}, expected an element for each column",
                                          name, family::shape_text(x), family::shape_text(vector)));
    }
}

} // namespace tessera::layer_norm
