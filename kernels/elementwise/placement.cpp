// SPDX-License-Identifier: MIT
#include "kernels/elementwise/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace tessera::elementwise {
namespace {

constexpr Bytes kGrainBytes = 32;

constexpr Bytes unit_begin(Bytes at) {
    return at / kUnitBytes * kUnitBytes;
}
constexpr Bytes unit_end(Bytes at) {
    return units_of(at) * kUnitBytes;
}

/// The runs of elements of one piece, in any order.
void add_piece(std::vector<Run>& runs, const graph::Piece& piece, Bytes element_bytes) {
    Bytes begin = piece.place.offset;
    std::vector<program::PieceDim> dims;
    for (program::PieceDim dim : piece.dims) {
        if (dim.count <= 0) {
            return;
        }
        if (dim.tile_stride < 0) {
            begin += (dim.count - 1) * dim.tile_stride;
            dim.tile_stride = -dim.tile_stride;
        }
        if (dim.count > 1 && dim.tile_stride != 0) {
            dims.push_back(dim);
        }
    }
    std::sort(dims.begin(), dims.end(), [](const auto& left, const auto& right) {
        return left.tile_stride > right.tile_stride;
    });
    Bytes bytes = element_bytes;
    for (; !dims.empty() && dims.back().tile_stride == bytes; dims.pop_back()) {
        bytes *= dims.back().count;
    }
    const auto add = [&](const auto& self, std::size_t depth, Bytes at) -> void {
        if (depth == dims.size()) {
            runs.push_back({piece.tile, piece.place.buffer.index, at, at + bytes});
            return;
        }
        for (std::int64_t i = 0; i < dims[depth].count; ++i) {
            self(self, depth + 1, at + i * dims[depth].tile_stride);
        }
    };
    add(add, 0, begin);
}

bool same_memory(const Run& left, const Run& right) {
    return left.tile == right.tile && left.buffer == right.buffer;
}

/// Sorted; runs that touch are one.
std::vector<Run> runs_of(const graph::Tensor& tensor) {
    std::vector<Run> all;
    for (const graph::Piece& piece : tensor.pieces) {
        add_piece(all, piece, bytes_of(tensor.type));
    }
    std::sort(all.begin(), all.end(), [](const Run& left, const Run& right) {
        return std::tie(left.tile, left.buffer, left.begin) <
               std::tie(right.tile, right.buffer, right.begin);
    });
    std::vector<Run> runs;
    for (const Run& run : all) {
        if (!runs.empty() && same_memory(runs.back(), run) && run.begin <= runs.back().end) {
            runs.back().end = std::max(runs.back().end, run.end);
        } else {
            runs.push_back(run);
        }
    }
    return runs;
}

graph::BufferId add_buffer(graph::Graph& graph, const std::string& name) {
    return graph.add_buffer({.name = name});
}

} // namespace

Placement placement_of(const graph::Tensor& tensor) {
    Placement made{runs_of(tensor), {}};
    std::vector<Rows> singles; // one row each
    for (std::size_t i = 0; i < made.runs.size(); ++i) {
        const Run& run = made.runs[i];
        const Bytes begin = unit_begin(run.begin);
        if (i > 0 && same_memory(made.runs[i - 1], run) &&
            begin <= unit_end(made.runs[i - 1].end)) {
            Rows& row = singles.back();
            row.units = (unit_end(run.end) - row.first.offset) / kUnitBytes;
            ++row.runs;
            continue;
        }
        const std::int64_t units = (unit_end(run.end) - begin) / kUnitBytes;
        singles.push_back({run.tile, {{run.buffer}, begin}, 1, units, units * kUnitBytes, i, 1});
    }
    for (const Rows& row : singles) {
        Rows* before = made.rows.empty() ? nullptr : &made.rows.back();
        const bool fits = before != nullptr && before->tile == row.tile &&
                          before->first.buffer == row.first.buffer && before->units == row.units;
        const Bytes step =
            fits ? row.first.offset - before->first.offset - (before->rows - 1) * before->stride
                 : 0;
        if (fits && (before->rows == 1 || step == before->stride)) {
            before->stride = step;
            ++before->rows;
            before->runs += row.runs;
        } else {
            made.rows.push_back(row);
        }
    }
    return made;
}

bool is_on(const family::Site& site, const graph::Tensor& tensor) {
    return std::all_of(tensor.pieces.begin(), tensor.pieces.end(), [&](const graph::Piece& piece) {
        return piece.tile >= site.first_tile &&
               piece.tile - site.first_tile < static_cast<TileId>(site.machine.chip.tiles);
    });
}

std::optional<Buffers> alike(const graph::Tensor& one, const graph::Tensor& other) {
    if (one.pieces.size() != other.pieces.size()) {
        return std::nullopt;
    }
    const Bytes from = bytes_of(one.type);
    const Bytes to = bytes_of(other.type);
    Buffers buffers;
    for (std::size_t i = 0; i < one.pieces.size(); ++i) {
        const graph::Piece& left = one.pieces[i];
        const graph::Piece& right = other.pieces[i];
        const auto added = buffers.emplace(left.place.buffer.index, right.place.buffer);
        const bool same_dims =
            std::equal(left.dims.begin(), left.dims.end(), right.dims.begin(), right.dims.end(),
                       [&](const program::PieceDim& a, const program::PieceDim& b) {
                           return a.count == b.count && a.host_stride == b.host_stride &&
                                  a.tile_stride * to == b.tile_stride * from;
                       });
        if (left.tile != right.tile || left.host_offset != right.host_offset || !same_dims ||
            left.place.offset * to != right.place.offset * from ||
            added.first->second != right.place.buffer) {
            return std::nullopt;
        }
    }
    return buffers;
}

graph::TensorId add_alike(graph::Graph& graph, const std::string& name, ElementType type,
                          graph::TensorId model) {
    graph::Tensor made = graph.tensors.at(model.index);
    const Placement placement = placement_of(made);
    const Bytes from = bytes_of(made.type);
    const Bytes to = bytes_of(type);
    made.name = name;
    made.type = type;
    made.given = made.wanted = false;
    Buffers buffers;
    for (graph::Piece& piece : made.pieces) {
        const auto known = buffers.find(piece.place.buffer.index);
        const graph::BufferId buffer =
            known == buffers.end() ? add_buffer(graph, name) : known->second;
        buffers.emplace(piece.place.buffer.index, buffer);
        piece.place = {buffer, piece.place.offset * to / from};
        for (program::PieceDim& dim : piece.dims) {
            dim.tile_stride = dim.tile_stride * to / from;
        }
    }
    std::map<std::pair<TileId, std::uint32_t>, Bytes> ends;
    for (const Rows& rows : placement.rows) {
        Bytes& end = ends[{rows.tile, rows.first.buffer.index}];
        end = std::max(end,
                       rows.first.offset + (rows.rows - 1) * rows.stride + rows.units * kUnitBytes);
    }
    for (const auto& [key, end] : ends) {
        graph.hold(buffers.at(key.second), key.first, end * to / from);
    }
    return graph.add_tensor(std::move(made));
}

graph::TensorId add_runs(graph::Graph& graph, const family::Site& site, const std::string& name,
                         const family::TensorType& type) {
    graph::Tensor made{.name = name, .type = type.type, .shape = type.shape};
    const graph::BufferId buffer = add_buffer(graph, name);
    const std::int64_t grain = kGrainBytes / bytes_of(type.type);
    const std::int64_t grains = (type.elements() + grain - 1) / grain;
    const std::int64_t tiles = site.machine.chip.tiles;
    for (std::int64_t i = 0; i < tiles; ++i) {
        const std::int64_t first = grains * i / tiles * grain;
        const std::int64_t last = std::min(grains * (i + 1) / tiles * grain, type.elements());
        if (first < last) {
            const TileId tile = site.first_tile + static_cast<TileId>(i);
            graph.hold(buffer, tile, unit_end((last - first) * bytes_of(type.type)));
            made.pieces.push_back(graph::run_of(tile, {buffer}, first, last - first, type.type));
        }
    }
    return graph.add_tensor(std::move(made));
}

graph::TensorId add_rows(graph::Graph& graph, const family::Site& site, const std::string& name,
                         const family::TensorType& type) {
    graph::Tensor made{.name = name, .type = type.type, .shape = type.shape};
    const graph::BufferId buffer = add_buffer(graph, name);
    const std::int64_t columns = type.shape[1];
    const Bytes row_bytes = unit_end(columns * bytes_of(type.type));
    const std::int64_t tiles = site.machine.chip.tiles;
    for (std::int64_t i = 0; i < tiles; ++i) {
        const std::int64_t first = type.shape[0] * i / tiles;
        const std::int64_t rows = type.shape[0] * (i + 1) / tiles - first;
        if (rows > 0) {
            const TileId tile = site.first_tile + static_cast<TileId>(i);
            graph.hold(buffer, tile, rows * row_bytes);
            made.pieces.push_back(
                {tile,
                 {buffer},
                 first * columns,
                 {{rows, columns, row_bytes}, {columns, 1, bytes_of(type.type)}}});
        }
    }
    return graph.add_tensor(std::move(made));
}

void align(graph::Graph& graph, graph::TensorId tensor) {
    for (const graph::Piece& piece : graph.tensors.at(tensor.index).pieces) {
        graph::Buffer& buffer = graph.buffers.at(piece.place.buffer.index);
        buffer.alignment = std::max(buffer.alignment, kUnitBytes);
    }
}

} // namespace tessera::elementwise
