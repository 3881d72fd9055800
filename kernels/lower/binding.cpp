// SPDX-License-Identifier: MIT
#include "kernels/lower/binding.h"

#include <cstring>

namespace tessera::lower {
namespace {

using graph::Field;

/// Of a codelet's entry that vertices call.
struct Entry {
    Address address = 0;
    std::uint32_t name = 0; ///< in BoundSets::vertex_names
    bool is_known = false;
};

const Entry& entry_of(const Places& places, std::uint32_t symbol, std::vector<Entry>& entries,
                      std::vector<std::string>& names) {
    Entry& entry = entries[symbol];
    if (!entry.is_known) {
        const std::string& name = places.graph.symbols[symbol];
        entry = {places.codelets.entry(name), static_cast<std::uint32_t>(names.size()), true};
        names.push_back(name);
    }
    return entry;
}

void append_words(const Places& places, std::vector<std::uint32_t>& words, Bytes offset,
                  graph::Fields fields) {
    auto at = static_cast<std::size_t>(offset / kStateWordBytes);
    for (const Field& field : places.graph.fields_of(fields)) {
        switch (field.kind) {
        case Field::Kind::Word:
            words[at++] = field.word;
            break;
        case Field::Kind::Pointer:
            words[at++] = places.of(field.place);
            break;
        case Field::Kind::Table: {
            const Bytes table = places.state.of_table[field.word];
            words[at++] = places.state_begin + static_cast<Address>(table);
            append_words(places, words, table, places.graph.tables[field.word].fields);
            break;
        }
        case Field::Kind::Use:
            break;
        }
    }
}

program::SharedBytes relocated(const Places& places, const graph::Held& held) {
    std::vector<std::byte> bytes = *held.contents;
    for (const graph::Relocation& relocation : *held.relocations) {
        const Address value =
            relocation.is_symbol
                ? places.codelets.entry(places.graph.symbols[relocation.symbol])
                : places.of({graph::BufferId{relocation.buffer}, relocation.offset});
        std::memcpy(bytes.data() + relocation.at, &value, sizeof value);
    }
    return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

} // namespace

BoundSets bound_sets(const Places& places, const Steps& steps, std::size_t tiles) {
    BoundSets bound;
    std::vector<Entry> entries(places.graph.symbols.size());
    for (const std::uint32_t number : steps.sets) {
        const graph::ComputeSet& set = places.graph.compute_sets[number];
        program::ComputeSet& made = bound.sets.emplace_back();
        made.name = set.name;
        made.role = set.role;
        made.owner = set.owner;
        made.tiles.resize(tiles);
        auto offset = places.state.of_vertex.begin() +
                      static_cast<std::ptrdiff_t>(places.state.first_vertex[number]);
        for (const graph::Vertex& vertex : set.vertices) {
            const Entry& entry = entry_of(places, vertex.symbol, entries, bound.vertex_names);
            made.tiles[vertex.tile].vertices.push_back(
                {entry.address, vertex.kind, places.state_begin + static_cast<Address>(*offset++),
                 entry.name});
        }
    }
    return bound;
}

std::vector<program::Transfer> bound_transfers(const Places& places,
                                               const graph::Exchange& exchange) {
    std::vector<program::Transfer> transfers;
    transfers.reserve(exchange.messages.size());
    for (const graph::Message& message : exchange.messages) {
        program::Transfer& transfer = transfers.emplace_back();
        transfer.source_tile = message.from.tile;
        transfer.source_address = places.of(message.from.place());
        transfer.bytes = message.bytes;
        transfer.paired = message.paired;
        transfer.destinations.reserve(message.receivers);
        for (std::uint32_t i = 0; i < message.receivers; ++i) {
            const graph::TilePlace& to = exchange.to[message.first_to + i];
            transfer.destinations.push_back({to.tile, places.of(to.place())});
        }
    }
    return transfers;
}

std::map<TileId, std::vector<std::uint32_t>> state_words(const Places& places) {
    std::map<TileId, std::vector<std::uint32_t>> words;
    for (const auto& [tile, bytes] : places.state.bytes) {
        words[tile].resize(static_cast<std::size_t>(bytes / kStateWordBytes));
    }
    auto offset = places.state.of_vertex.begin();
    for (const graph::ComputeSet& set : places.graph.compute_sets) {
        for (const graph::Vertex& vertex : set.vertices) {
            append_words(places, words[vertex.tile], *offset++, vertex.fields);
        }
    }
    return words;
}

Relocated relocated_contents(const Places& places) {
    Relocated all;
    for (const graph::Buffer& buffer : places.graph.buffers) {
        for (const graph::Held& held : buffer.held) {
            if (held.relocations == nullptr) {
                continue;
            }
            auto& known = all[{held.contents.get(), held.relocations.get()}];
            if (known == nullptr) {
                known = relocated(places, held);
            }
        }
    }
    return all;
}

program::Tensor bound_tensor(const Places& places, graph::Tensor tensor) {
    program::Tensor made{tensor.name, tensor.type, tensor.shape, {}, tensor.wanted};
    made.pieces.reserve(tensor.pieces.size());
    for (graph::Piece& piece : tensor.pieces) {
        made.pieces.push_back(
            {piece.tile, places.of(piece.place), piece.host_offset, std::move(piece.dims)});
    }
    return made;
}

program::StreamCopy bound_copy(const Places& places, const graph::StreamCopy& copy) {
    program::StreamCopy made{copy.name, copy.remote_buffer, copy.direction, copy.rows, {}};
    made.role = program::Role::Stream;
    made.owner = copy.owner;
    for (const graph::StreamPiece& piece : copy.pieces) {
        made.pieces.push_back({piece.tile, places.of(piece.place), piece.bytes, piece.offset});
    }
    return made;
}

} // namespace tessera::lower
