// SPDX-License-Identifier: MIT
#include "kernels/graph/unit_rows.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <set>
#include <tuple>

namespace tessera::graph {
namespace {

/// Adds the runs of one piece, in any order.
void add_runs(std::vector<ByteRun>& runs, const Piece& piece, Bytes element_bytes) {
    Place begin = piece.place;
    std::vector<program::PieceDim> dims;
    for (program::PieceDim dim : piece.dims) {
        if (dim.count <= 0) {
            return;
        }
        if (dim.tile_stride < 0) {
            begin = begin + (dim.count - 1) * dim.tile_stride;
            dim.tile_stride = -dim.tile_stride;
        }
        if (dim.count > 1 && dim.tile_stride != 0) { // elements that repeat are one run
            dims.push_back(dim);
        }
    }
    std::ranges::sort(dims, std::ranges::greater{}, &program::PieceDim::tile_stride);
    Bytes bytes = element_bytes;
    for (; !dims.empty() && dims.back().tile_stride == bytes; dims.pop_back()) {
        bytes *= dims.back().count;
    }
    const auto add = [&](const auto& self, std::size_t depth, Place at) -> void {
        if (depth == dims.size()) {
            runs.push_back({piece.tile, at, bytes});
            return;
        }
        for (std::int64_t i = 0; i < dims[depth].count; ++i) {
            self(self, depth + 1, at + i * dims[depth].tile_stride);
        }
    };
    add(add, 0, begin);
}

/// In the order of memory.
std::vector<ByteRun> runs_of(const Tensor& tensor) {
    std::vector<ByteRun> runs;
    for (const Piece& piece : tensor.pieces) {
        add_runs(runs, piece, bytes_of(tensor.type));
    }
    const auto key = [](const ByteRun& run) {
        return std::tuple(run.tile, run.place.buffer.index, run.place.offset);
    };
    std::ranges::sort(runs, {}, key);
    return runs;
}

/// The row in which the run is by itself.
UnitRows row_of(const ByteRun& run) {
    const Bytes first = run.place.offset / kUnitBytes * kUnitBytes;
    const std::int64_t units = units_of(run.place.offset + run.bytes - first);
    return {run.tile, {run.place.buffer, first}, 1, units, units * kUnitBytes, {run}};
}

bool same_memory(const UnitRows& left, const UnitRows& right) {
    return left.tile == right.tile && left.first.buffer == right.first.buffer;
}

/// Joins runs that meet in a unit, or one behind the other, to one row.
std::vector<UnitRows> single_rows(const Tensor& tensor) {
    std::vector<UnitRows> rows;
    for (const ByteRun& run : runs_of(tensor)) {
        UnitRows next = row_of(run);
        if (rows.empty() || !same_memory(rows.back(), next) ||
            next.first.offset > rows.back().first.offset + rows.back().stride) {
            rows.push_back(std::move(next));
            continue;
        }
        UnitRows& row = rows.back();
        row.stride = std::max(row.stride, next.first.offset - row.first.offset + next.stride);
        row.units = row.stride / kUnitBytes;
        ByteRun& last = row.runs.back();
        const Bytes reach = run.place.offset - last.place.offset;
        if (reach <= last.bytes) {
            last.bytes = std::max(last.bytes, reach + run.bytes);
        } else {
            row.runs.push_back(run);
        }
    }
    return rows;
}

bool is_full(const UnitRows& row) {
    const Bytes bytes =
        std::accumulate(row.runs.begin(), row.runs.end(), Bytes{0},
                        [](Bytes sum, const ByteRun& run) { return sum + run.bytes; });
    return bytes == row.units * kUnitBytes;
}

} // namespace

std::vector<UnitRows> unit_rows_of(const Tensor& tensor) {
    std::vector<UnitRows> made;
    for (UnitRows& row : single_rows(tensor)) {
        UnitRows* before = made.empty() ? nullptr : &made.back();
        const bool fits =
            before != nullptr && same_memory(*before, row) && before->units == row.units;
        const Bytes step = fits ? row.first.offset - before->first.offset : 0;
        if (fits && (before->rows == 1 || step == before->rows * before->stride)) {
            before->stride = step / before->rows;
            ++before->rows;
            before->runs.insert(before->runs.end(), row.runs.begin(), row.runs.end());
        } else {
            made.push_back(std::move(row));
        }
    }
    return made;
}

bool has_whole_units(const Graph& graph, TensorId id) {
    const Tensor& tensor = graph.tensors.at(id.index);
    const auto rows = single_rows(tensor);
    const std::int64_t elements = std::accumulate(tensor.shape.begin(), tensor.shape.end(),
                                                  std::int64_t{1}, std::multiplies<>());
    return std::all_of(rows.begin(), rows.end(), is_full) &&
           std::accumulate(rows.begin(), rows.end(), Bytes{0}, [](Bytes sum, const UnitRows& row) {
               return sum + row.units * kUnitBytes;
           }) == elements * bytes_of(tensor.type);
}

bool has_own_units(const Graph& graph, TensorId id) {
    const Tensor& tensor = graph.tensors.at(id.index);
    const auto rows = single_rows(tensor);
    if (std::all_of(rows.begin(), rows.end(), is_full)) {
        return true;
    }
    std::set<std::uint32_t> buffers;
    for (const Piece& piece : tensor.pieces) {
        buffers.insert(piece.place.buffer.index);
    }
    const bool reads_between = std::any_of(buffers.begin(), buffers.end(), [&](std::uint32_t one) {
        return graph.buffers.at(one).padded || graph.buffers.at(one).zeroed;
    });
    return !reads_between &&
           std::all_of(graph.tensors.begin(), graph.tensors.end(), [&](const Tensor& other) {
               return &other == &tensor ||
                      std::none_of(other.pieces.begin(), other.pieces.end(),
                                   [&](const Piece& piece) {
                                       return buffers.contains(piece.place.buffer.index);
                                   });
           });
}

void align_to_units(Graph& graph, TensorId tensor) {
    for (const Piece& piece : graph.tensors.at(tensor.index).pieces) {
        Buffer& buffer = graph.buffers.at(piece.place.buffer.index);
        buffer.alignment = std::max(buffer.alignment, kUnitBytes);
    }
}

} // namespace tessera::graph
