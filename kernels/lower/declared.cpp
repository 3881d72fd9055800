// SPDX-License-Identifier: MIT
#include "kernels/lower/declared.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tessera::lower {
namespace {

using graph::Access;
using graph::Field;

thread_local const DeclaredListener::Listen* listening = nullptr;

void add_words(Address begin, graph::Fields fields, const graph::Graph& graph, std::uint32_t symbol,
               std::vector<DeclaredUse>& uses) {
    const auto all = graph.fields_of(fields);
    const auto words = std::ranges::count_if(
        all, [](const Field& field) { return field.kind != Field::Kind::Use; });
    uses.push_back({{begin, kStateWordBytes * words}, Access::Read, symbol});
}

void add_fields(const Places& places, TileId tile, graph::Fields fields, std::uint32_t symbol,
                std::vector<DeclaredUse>& uses) {
    for (const Field& field : places.graph.fields_of(fields)) {
        if (field.kind == Field::Kind::Table) {
            const graph::Fields words = places.graph.tables[field.word].fields;
            add_words(places.of_state(tile, places.state.of_table[field.word]), words, places.graph,
                      symbol, uses);
            add_fields(places, tile, words, symbol, uses);
        } else if (field.kind != Field::Kind::Word) {
            uses.push_back({{places.of(tile, field.place), field.bytes}, field.access, symbol});
        }
    }
}

} // namespace

DeclaredUses declared_uses(const Places& places, const Steps& steps, std::size_t tiles) {
    DeclaredUses all;
    for (const std::uint32_t number : steps.sets) {
        auto& of_tile = all.emplace_back(tiles);
        auto place = places.state.of_vertex.begin() +
                     static_cast<std::ptrdiff_t>(places.state.first_vertex[number]);
        for (const graph::Vertex& vertex : places.graph.compute_sets[number].vertices) {
            std::vector<DeclaredUse>& uses = of_tile[vertex.tile];
            const auto before = static_cast<std::ptrdiff_t>(uses.size());
            add_words(places.of_state(vertex.tile, *place++), vertex.fields, places.graph,
                      vertex.symbol, uses);
            add_fields(places, vertex.tile, vertex.fields, vertex.symbol, uses);
            std::stable_partition(uses.begin() + before, uses.end(), [](const DeclaredUse& use) {
                return use.access == Access::Read || use.access == Access::Update;
            });
        }
    }
    return all;
}

DeclaredListener::DeclaredListener(Listen listen) : listen_(std::move(listen)) {
    listening = &listen_;
}

DeclaredListener::~DeclaredListener() {
    listening = nullptr;
}

void DeclaredListener::tell(const program::Program& program, const Places& places,
                            const Steps& steps, std::size_t tiles) {
    if (listening != nullptr) {
        (*listening)(program, declared_uses(places, steps, tiles));
    }
}

} // namespace tessera::lower
