// SPDX-License-Identifier: MIT
#include "kernels/graph/cells.h"

#include <algorithm>

namespace tessera::graph {
namespace {

using program::PieceDim;

/// Rows [row, row + rows) of groups [group, group + groups), all groups with `valid` elements.
void add_rectangle(Tensor& tensor, TileId tile, Place place, const CellGrid& grid,
                   std::int64_t group, std::int64_t groups, std::int64_t row, std::int64_t rows) {
    const std::int64_t at = (grid.first_group + group) * grid.group;
    const std::int64_t valid = std::min(grid.group, grid.host_inner - at);
    rows = std::min(rows, grid.host_rows - grid.first_row - row);
    if (valid <= 0 || rows <= 0) {
        return;
    }
    Piece piece;
    piece.tile = tile;
    piece.place = place;
    piece.host_offset = (grid.first_row + row) * grid.host_row_stride + at * grid.host_inner_stride;
    if (groups > 1) {
        piece.dims.push_back(
            {groups, grid.group * grid.host_inner_stride, grid.rows * grid.cell_bytes});
    }
    piece.dims.push_back({rows, grid.host_row_stride, grid.cell_bytes});
    if (valid > 1) { // there may be as many pieces as rows: loops of one round are left out
        piece.dims.push_back({valid, grid.host_inner_stride, grid.element_bytes});
    }
    tensor.pieces.push_back(std::move(piece));
}

} // namespace

void add_cells(Tensor& tensor, TileId tile, Place place, const CellGrid& grid, std::int64_t first,
               std::int64_t last) {
    for (std::int64_t at = first; at < last;) {
        const std::int64_t group = at / grid.rows;
        const std::int64_t row = at % grid.rows;
        const Place here = place + (at - first) * grid.cell_bytes;
        const std::int64_t full = (grid.host_inner / grid.group) - (grid.first_group + group);
        const std::int64_t whole = std::min((last - at) / grid.rows, full);
        if (row == 0 && whole > 0) {
            add_rectangle(tensor, tile, here, grid, group, whole, 0, grid.rows);
            at += whole * grid.rows;
        } else {
            const std::int64_t rows = std::min(grid.rows - row, last - at);
            add_rectangle(tensor, tile, here, grid, group, 1, row, rows);
            at += rows;
        }
    }
}

void add_weights(Tensor& tensor, TileId tile, Place place, const WeightGrid& grid,
                 std::int64_t first, std::int64_t last) {
    const auto& [inputs, channels, by_channels, by_sets, element_bytes] = grid;
    const WeightGrid::Side& outer = by_channels ? channels : inputs;
    const WeightGrid::Side& inner = by_channels ? inputs : channels;
    const Bytes row = inputs.group * element_bytes;
    const std::int64_t stride = channels.host_stride;
    for (std::int64_t at = first; at < last;) {
        const std::int64_t across = at % inner.groups.size();
        const std::int64_t far = (outer.groups.first + at / inner.groups.size()) * outer.group;
        const std::int64_t near = (inner.groups.first + across) * inner.group;
        const std::int64_t blocks =
            std::clamp<std::int64_t>((inner.host - near) / inner.group, 1,
                                     std::min(inner.groups.size() - across, last - at));
        Piece piece{tile,
                    place + (at - first) * channels.group * row,
                    far * outer.host_stride + near * inner.host_stride,
                    {{blocks, inner.group * inner.host_stride, channels.group * row}}};
        const PieceDim of_row{std::min(inputs.group, inputs.host - (by_channels ? near : far)),
                              inputs.host_stride, element_bytes};
        const std::int64_t rows =
            std::min(channels.group, channels.host - (by_channels ? far : near));
        at += blocks;
        if (by_sets && rows < channels.group) {
            piece.dims.push_back(of_row);
            for (std::int64_t c = 0; c < rows; ++c) {
                Piece one = piece;
                one.host_offset += c * stride;
                one.place.offset += (8 * (c >> 1 & 1) + 2 * (c >> 2) + (c & 1)) * row;
                tensor.pieces.push_back(std::move(one));
            }
            continue;
        }
        const std::vector<PieceDim> of_block = by_sets
                                                   ? std::vector<PieceDim>{{4, 4 * stride, 2 * row},
                                                                           {2, 2 * stride, 8 * row},
                                                                           {2, stride, row}}
                                                   : std::vector<PieceDim>{{rows, stride, row}};
        piece.dims.insert(piece.dims.end(), of_block.begin(), of_block.end());
        piece.dims.push_back(of_row);
        tensor.pieces.push_back(std::move(piece));
    }
}

} // namespace tessera::graph
