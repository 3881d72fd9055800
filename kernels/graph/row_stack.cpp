// SPDX-License-Identifier: MIT
#include "kernels/graph/row_stack.h"

#include "base/error.h"
#include "kernels/graph/places.h"
#include "models/isa/machine_target.h"

#include <algorithm>

namespace tessera::graph {
namespace {

constexpr Bytes kSlotGrain = 8;
constexpr Bytes kRowWord = 4;
constexpr std::int64_t kMostShares = 2; ///< even shares on one tile

constexpr Bytes slot_of(Bytes bytes) {
    return (bytes + kSlotGrain - 1) / kSlotGrain * kSlotGrain;
}

std::int64_t element_count(const Piece& piece) {
    std::int64_t elements = 1;
    for (const program::PieceDim& dim : piece.dims) {
        elements *= dim.count;
    }
    return elements;
}

std::int64_t element_count(const Tensor& tensor) {
    std::int64_t elements = 1;
    for (const std::int64_t size : tensor.shape) {
        elements *= size;
    }
    return elements;
}

/// A tile's bytes of a buffer that has elements of the tensor.
struct Extent {
    Bytes first = 0;
    Bytes end = 0;
    Bytes elements = 0; ///< bytes of them all
};
using Extents = std::map<std::pair<TileId, std::uint32_t>, Extent>;

Extents extents_of(const Tensor& tensor) {
    const Bytes element = bytes_of(tensor.type);
    Extents extents;
    for (const Piece& piece : tensor.pieces) {
        Bytes first = piece.place.offset;
        Bytes end = first + element;
        for (const program::PieceDim& dim : piece.dims) {
            const Bytes reach = (dim.count - 1) * dim.tile_stride;
            (reach < 0 ? first : end) += reach;
        }
        const auto [found, is_new] =
            extents.try_emplace({piece.tile, piece.place.buffer.index}, Extent{first, end, 0});
        Extent& extent = found->second;
        extent.first = std::min(extent.first, first);
        extent.end = std::max(extent.end, end);
        extent.elements += element_count(piece) * element;
    }
    return extents;
}

/// Where the row of round 0 stands in a tile's part of the stack, and how far the next one is.
struct Slots {
    Place first;
    Bytes step = 0;
    Place all; ///< of all rows
    Bytes all_bytes = 0;
};

class RowMover {
public:
    RowMover(Graph& graph, const spec::MachineSpec& machine, const RowStack& stack, TensorId row,
             const RowOfRound& which)
        : graph_(graph), machine_(machine), stack_(stack), which_(which),
          rows_(graph.tensors.at(stack.rows.index).shape.front()) {
        auto pairs = alike(graph.tensors.at(stack.model.index), graph.tensors.at(row.index));
        TESSERA_ASSERT(pairs.has_value()); // the caller has brought it there
        row_buffers_ = std::move(*pairs);
        graph.need_codelet(which.round ? "copy_row" : "copy");
    }

    Step move(bool loads, const std::string& owner) {
        const ComputeSetId set = graph_.add_compute_set(
            {loads ? "load row" : "store row", program::Role::Rearrange, owner});
        for (const auto& [key, bytes] : stack_.bytes) {
            const auto& [tile, buffer] = key;
            const Bytes slot = slot_of(bytes);
            const BufferId rows = stack_.buffers.at(buffer);
            const Slots slots{{rows, which_.row * slot},
                              which_.round ? which_.row_a_round * slot : 0,
                              {rows},
                              (rows_ - 1) * slot + bytes};
            add(set, tile, slots, {row_buffers_.at(buffer)}, bytes, loads);
        }
        return run(set);
    }

private:
    void add(ComputeSetId set, TileId tile, const Slots& slots, Place row, Bytes bytes,
             bool loads) {
        const Bytes word_bytes = bytes % kSlotGrain == 0 ? kSlotGrain : kRowWord;
        const std::int64_t workers = machine_.tile.workers;
        const std::int64_t most = workers * isa::target_of(machine_).repeat_count_mask();
        const std::int64_t words = bytes / word_bytes;
        for (std::int64_t first = 0; first < words; first += most) {
            const std::int64_t some = std::min(words - first, most);
            const Bytes offset = first * word_bytes;
            // rows of other rounds are elsewhere in the stack: all of it may be meant
            const Field in_stack = pointer(slots.first + offset, 0, Access::Read);
            const Field in_row =
                pointer(row + offset, some * word_bytes, loads ? Access::Write : Access::Read);
            std::vector<Field> state{loads ? in_stack : in_row, loads ? in_row : in_stack};
            if (which_.round) {
                graph_.hold(*which_.round, tile, kRowWord);
                state.push_back(round_of(*which_.round));
            }
            state.push_back(word(some / workers));
            state.push_back(word(some % workers));
            if (which_.round) {
                state.push_back(word(loads ? slots.step : 0));
                state.push_back(word(loads ? 0 : slots.step));
            }
            state.push_back(
                use(slots.all, slots.all_bytes, loads ? Access::Read : Access::WritePart));
            graph_.add_vertex(set, tile,
                              which_.round
                                  ? (word_bytes == kSlotGrain ? "copy_row64" : "copy_row32")
                                  : (word_bytes == kSlotGrain ? "copy64" : "copy32"),
                              program::VertexKind::MultiWorker, state);
        }
    }

    Graph& graph_;
    const spec::MachineSpec& machine_;
    const RowStack& stack_;
    const RowOfRound& which_;
    std::int64_t rows_;
    BufferPairs row_buffers_;
};

} // namespace

bool can_stack(const Graph& graph, TensorId model, std::int64_t tiles) {
    const Tensor& tensor = graph.tensors.at(model.index);
    std::int64_t placed = 0;
    for (const Piece& piece : tensor.pieces) {
        placed += element_count(piece);
    }
    if (placed != element_count(tensor)) {
        return false;
    }
    std::map<TileId, Bytes> by_tile;
    for (const auto& [key, extent] : extents_of(tensor)) {
        if (extent.first != 0 || extent.end != extent.elements || extent.end % kRowWord != 0) {
            return false;
        }
        by_tile[key.first] += extent.end;
    }
    const Bytes all = element_count(tensor) * bytes_of(tensor.type);
    return std::ranges::all_of(by_tile, [&](const auto& tile) {
        return tile.second <= std::max(kSlotGrain, kMostShares * ((all + tiles - 1) / tiles));
    });
}

RowStack add_row_stack(Graph& graph, const std::string& name, std::int64_t rows, TensorId model) {
    Tensor made = graph.tensors.at(model.index);
    RowStack stack{{}, model, {}, {}};
    for (const auto& [key, extent] : extents_of(made)) {
        const auto& [tile, buffer] = key;
        const auto [own, is_new] = stack.buffers.try_emplace(buffer);
        if (is_new) {
            own->second = graph.add_buffer({.name = name});
        }
        stack.bytes[key] = extent.end;
        graph.hold(own->second, tile, rows * slot_of(extent.end));
    }
    const std::int64_t elements = element_count(made);
    for (Piece& piece : made.pieces) {
        const Bytes bytes = stack.bytes.at({piece.tile, piece.place.buffer.index});
        piece.place.buffer = stack.buffers.at(piece.place.buffer.index);
        piece.dims.insert(piece.dims.begin(), {rows, elements, slot_of(bytes)});
    }
    made.name = name;
    made.shape.insert(made.shape.begin(), rows);
    made.given = made.wanted = made.known = false;
    stack.rows = graph.add_tensor(std::move(made));
    return stack;
}

Step store_row(Graph& graph, const spec::MachineSpec& machine, const RowStack& stack, TensorId row,
               const RowOfRound& which, const std::string& owner) {
    return RowMover(graph, machine, stack, row, which).move(false, owner);
}

Step load_row(Graph& graph, const spec::MachineSpec& machine, const RowStack& stack, TensorId row,
              const RowOfRound& which, const std::string& owner) {
    return RowMover(graph, machine, stack, row, which).move(true, owner);
}

} // namespace tessera::graph
