// SPDX-License-Identifier: MIT
#include "kernels/lower/state.h"

#include <algorithm>
#include <utility>

namespace tessera::lower {
namespace {

using graph::Field;

constexpr Bytes kNowhere = -1;

Bytes take(const graph::Graph& graph, State& state, TileId tile, graph::Fields fields) {
    const auto all = graph.fields_of(fields);
    const auto words = std::count_if(
        all.begin(), all.end(), [](const Field& field) { return field.kind != Field::Kind::Use; });
    Bytes& used = state.bytes[tile];
    return std::exchange(used, used + kStateWordBytes * words);
}

void place_tables(const graph::Graph& graph, State& state, graph::Fields fields) {
    for (const Field& field : graph.fields_of(fields)) {
        if (field.kind == Field::Kind::Table && state.of_table.at(field.word) == kNowhere) {
            const graph::Table& table = graph.tables[field.word];
            place_tables(graph, state, table.fields);
            state.of_table[field.word] = take(graph, state, table.tile, table.fields);
        }
    }
}

} // namespace

State lay_out_state(const graph::Graph& graph) {
    State state;
    state.of_table.assign(graph.tables.size(), kNowhere);
    for (const graph::ComputeSet& set : graph.compute_sets) {
        state.first_vertex.push_back(state.of_vertex.size());
        for (const graph::Vertex& vertex : set.vertices) {
            place_tables(graph, state, vertex.fields);
            state.of_vertex.push_back(take(graph, state, vertex.tile, vertex.fields));
        }
    }
    return state;
}

} // namespace tessera::lower
