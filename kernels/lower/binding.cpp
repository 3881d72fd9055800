// SPDX-License-Identifier: MIT
#include "kernels/lower/binding.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace tessera::lower {
namespace {

using graph::Field;

/// Of a codelet's entry that vertices call.
struct Entry {
    Address address = 0;
    std::uint32_t name = 0; ///< in BoundSets::vertex_names
    bool scatters = false;
    bool is_known = false;
};

const Entry& entry_of(const Places& places, std::uint32_t symbol, std::vector<Entry>& entries,
                      std::vector<std::string>& names) {
    Entry& entry = entries[symbol];
    if (!entry.is_known) {
        const std::string& name = places.graph.symbols[symbol];
        entry = {places.codelets.entry(name), static_cast<std::uint32_t>(names.size()),
                 places.codelets.codelet().symbol_info.at(name).scatters, true};
        names.push_back(name);
    }
    return entry;
}

void write_words(const Places& places, StateWords& all, TileId tile, graph::Place place,
                 graph::Fields fields) {
    const auto buffer = place.buffer.index - places.state.buffers.front().index;
    auto at = static_cast<std::size_t>(place.offset / kStateWordBytes);
    const auto put = [&](std::uint32_t value) { all[buffer][tile][at++] = value; };
    for (const Field& field : places.graph.fields_of(fields)) {
        switch (field.kind) {
        case Field::Kind::Word:
            put(field.word);
            break;
        case Field::Kind::Pointer:
            put(places.of(tile, field.place));
            break;
        case Field::Kind::Table: {
            const graph::Place table = places.state.of_table[field.word];
            put(places.of_state(tile, table));
            write_words(places, all, tile, table, places.graph.tables[field.word].fields);
            break;
        }
        case Field::Kind::Use:
            break;
        }
    }
}

constexpr Bytes kWordBytes = 4;

/// What a vertex may write, by its fields: whole words.
void add_written(const Places& places, TileId tile, graph::Fields fields,
                 std::vector<program::ByteRange>& ranges) {
    for (const Field& field : places.graph.fields_of(fields)) {
        if (field.kind == Field::Kind::Table) {
            add_written(places, tile, places.graph.tables[field.word].fields, ranges);
        } else if (field.kind != Field::Kind::Word && field.access != graph::Access::Read) {
            const Address begin = places.of(tile, field.place);
            const Address first = begin - begin % static_cast<Address>(kWordBytes);
            const Bytes bytes = field.bytes + (begin - first);
            ranges.push_back({first, (bytes + kWordBytes - 1) / kWordBytes * kWordBytes});
        }
    }
    std::ranges::sort(ranges);
}

program::SharedBytes relocated(const Places& places, const graph::Held& held) {
    std::vector<std::byte> bytes = *held.contents;
    for (const graph::Relocation& relocation : *held.relocations) {
        const Address value =
            relocation.is_symbol
                ? places.codelets.entry(places.graph.symbols[relocation.symbol])
                : places.of(held.tile, {graph::BufferId{relocation.buffer}, relocation.offset});
        std::memcpy(bytes.data() + relocation.at, &value, sizeof value);
    }
    return std::make_shared<const std::vector<std::byte>>(std::move(bytes));
}

} // namespace

BoundSets bound_sets(const Places& places, const Steps& steps, std::size_t tiles) {
    BoundSets bound;
    std::vector<Entry> entries(places.graph.symbols.size());
    std::map<std::vector<program::ByteRange>, std::uint32_t> scattered;
    for (const std::uint32_t number : steps.sets) {
        const graph::ComputeSet& set = places.graph.compute_sets[number];
        program::ComputeSet& made = bound.sets.emplace_back();
        made.name = set.name;
        made.role = set.role;
        made.owner = set.owner;
        made.work = set.work;
        made.work_unit = set.work_unit;
        made.items = set.items;
        made.item_word = set.item_word;
        made.tiles.resize(tiles);
        auto place = places.state.of_vertex.begin() +
                     static_cast<std::ptrdiff_t>(places.state.first_vertex[number]);
        for (const graph::Vertex& vertex : set.vertices) {
            const Entry& entry = entry_of(places, vertex.symbol, entries, bound.vertex_names);
            made.tiles[vertex.tile].vertices.push_back(
                {entry.address, vertex.kind, places.of_state(vertex.tile, *place++), entry.name});
            if (entry.scatters) {
                std::vector<program::ByteRange> ranges;
                add_written(places, vertex.tile, vertex.fields, ranges);
                const auto next = static_cast<std::uint32_t>(bound.scattered.size());
                const auto [known, is_new] = scattered.try_emplace(ranges, next);
                if (is_new) {
                    bound.scattered.push_back(std::move(ranges));
                }
                made.tiles[vertex.tile].vertices.back().scatters = known->second;
            }
        }
    }
    return bound;
}

std::vector<program::Transfer> bound_transfers(const Places& places,
                                               const graph::Exchange& exchange) {
    std::vector<program::Transfer> transfers(exchange.messages.size());
    auto next = transfers.begin();
    for (const graph::Message& message : exchange.messages) {
        program::Transfer& transfer = *next++;
        transfer.source_tile = message.from.tile;
        transfer.source_address = places.of(message.from.tile, message.from.place());
        transfer.bytes = message.bytes;
        transfer.paired = message.paired;
        const auto to = std::span(exchange.to).subspan(message.first_to, message.receivers);
        transfer.destinations.resize(to.size());
        std::ranges::transform(to, transfer.destinations.begin(), [&](const auto& one) {
            return program::Destination{one.tile, places.of(one.tile, one.place())};
        });
    }
    return transfers;
}

StateWords state_words(const Places& places) {
    StateWords words;
    for (const graph::BufferId buffer : places.state.buffers) {
        auto& of_tile = words.emplace_back();
        for (const graph::Held& held : places.graph.buffers[buffer.index].held) {
            while (held.tile >= of_tile.size()) {
                of_tile.emplace_back();
            }
            of_tile[held.tile].resize(static_cast<std::size_t>(held.bytes / kStateWordBytes));
        }
    }
    auto place = places.state.of_vertex.begin();
    for (const graph::ComputeSet& set : places.graph.compute_sets) {
        for (const graph::Vertex& vertex : set.vertices) {
            write_words(places, words, vertex.tile, *place++, vertex.fields);
        }
    }
    return words;
}

const program::SharedBytes& Relocated::of(const graph::Held& held) {
    if (held.relocations == nullptr) {
        return held.contents;
    }
    auto& known =
        known_[{places_.placing.group_of(held.tile), held.contents.get(), held.relocations.get()}];
    if (known == nullptr) {
        known = relocated(places_, held);
    }
    return known;
}

program::Tensor bound_tensor(const Places& places, graph::Tensor tensor) {
    program::Tensor made{tensor.name, tensor.type, tensor.shape, {}, tensor.wanted, tensor.known};
    made.pieces.reserve(tensor.pieces.size());
    for (graph::Piece& piece : tensor.pieces) {
        made.pieces.push_back({piece.tile, places.of(piece.tile, piece.place), piece.host_offset,
                               std::move(piece.dims)});
    }
    return made;
}

program::LinkExchange bound_link_exchange(const Places& places,
                                          const graph::LinkExchange& exchange) {
    program::LinkExchange made{exchange.name, exchange.zone, {}, {}};
    made.owner = exchange.owner;
    const auto bind = [&](const std::vector<graph::LinkMessage>& messages,
                          std::vector<program::LinkMessage>& bound) {
        for (const graph::LinkMessage& message : messages) {
            program::LinkPlace place{message.tile, places.of(message.tile, message.place),
                                     message.bytes};
            if (const auto& index = message.indexed) {
                place.indexed =
                    program::LinkIndex{places.of(message.tile, index->word), index->sign,
                                       index->stride, index->count, index->shift};
            }
            bound.push_back({message.channel, message.index, place});
        }
    };
    bind(exchange.sends, made.sends);
    bind(exchange.receives, made.receives);
    return made;
}

program::StreamCopy bound_copy(const Places& places, const graph::StreamCopy& copy) {
    program::StreamCopy made{copy.name, copy.remote_buffer, copy.direction, copy.rows, {}};
    made.owner = copy.owner;
    for (const graph::RowNumbers& one : copy.rows_from) {
        made.rows_from.push_back(
            {one.tile, places.of(one.tile, one.place), one.first, one.count, one.base, one.below});
    }
    for (const graph::StreamPiece& piece : copy.pieces) {
        made.pieces.push_back(
            {piece.tile, places.of(piece.tile, piece.place), piece.bytes, piece.offset});
    }
    return made;
}

} // namespace tessera::lower
