// SPDX-License-Identifier: MIT
#include "kernels/family/two_matrices.h"

#include "kernels/graph/unit_rows.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace tessera::family {
namespace {

using graph::RowBlock;

bool same_rows(const std::vector<RowBlock>& one, const std::vector<RowBlock>& other) {
    return std::ranges::equal(one, other, [](const RowBlock& a, const RowBlock& b) {
        return a.tile == b.tile && a.first_row == b.first_row && a.rows == b.rows &&
               (a.rows == 1 || a.row_stride == b.row_stride);
    });
}

} // namespace

std::array<graph::InRows, 2> two_matrices(graph::Graph& graph, const Site& site,
                                          const TensorType& type, std::array<const char*, 2> names,
                                          std::span<const std::optional<graph::TensorId>> where) {
    const graph::TileRange tiles{site.first_tile, site.machine.chip.tiles};
    const auto named = [&](std::size_t input) {
        return graph::Tensor{
            .name = site.owner + ": " + names[input], .type = type.type, .shape = type.shape};
    };
    std::array<std::optional<graph::InRows>, 2> inputs;
    for (const std::size_t i : {0U, 1U}) {
        auto blocks =
            where[i] ? graph::rows_of(graph, *where[i], graph::kUnitBytes, tiles) : std::nullopt;
        if (blocks && (!inputs[0] || same_rows(inputs[0]->blocks, *blocks))) {
            inputs[i] = {*where[i], std::move(*blocks)};
        }
    }
    if (!inputs[0]) {
        inputs[0] = inputs[1] ? graph::add_rows_beside(graph, named(0), inputs[1]->blocks)
                              : graph::add_rows(graph, named(0), tiles);
    }
    if (!inputs[1]) {
        inputs[1] = graph::add_rows_beside(graph, named(1), inputs[0]->blocks);
    }
    return {std::move(*inputs[0]), std::move(*inputs[1])};
}

} // namespace tessera::family
