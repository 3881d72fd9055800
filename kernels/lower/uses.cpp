// SPDX-License-Identifier: MIT
#include "kernels/lower/uses.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace tessera::lower {
namespace {

using graph::Access;
using graph::Field;

struct Found {
    std::uint32_t buffer = 0;
    TileId tile = 0;
    Use use;
};

class Finder {
public:
    explicit Finder(const graph::Graph& graph) : graph_(graph), held_(graph.buffers.size()) {
        for (std::size_t buffer = 0; buffer < graph.buffers.size(); ++buffer) {
            for (const graph::Held& held : graph.buffers[buffer].held) {
                Bytes& bytes = held_[buffer][held.tile];
                bytes = std::max(bytes, held.bytes);
            }
        }
    }

    std::vector<Found> run() {
        for (std::uint32_t i = 0; i < graph_.compute_sets.size(); ++i) {
            add(graph::ComputeSetId{i}, graph_.compute_sets[i]);
        }
        for (std::uint32_t i = 0; i < graph_.exchanges.size(); ++i) {
            add(graph::ExchangeId{i}, graph_.exchanges[i]);
        }
        for (std::uint32_t i = 0; i < graph_.stream_copies.size(); ++i) {
            add(graph::CopyId{i}, graph_.stream_copies[i]);
        }
        for (const graph::Buffer& buffer : graph_.buffers) {
            for (const graph::Held& held : buffer.held) {
                if (held.relocations != nullptr) {
                    check_relocations(buffer, held);
                }
            }
        }
        for (const graph::Tensor& tensor : graph_.tensors) {
            for (const graph::Piece& piece : tensor.pieces) {
                check(tensor, piece);
            }
        }
        std::sort(found_.begin(), found_.end(), [](const Found& left, const Found& right) {
            return std::tie(left.buffer, left.tile, left.use.step, left.use.order, left.use.begin) <
                   std::tie(right.buffer, right.tile, right.use.step, right.use.order,
                            right.use.begin);
        });
        return std::move(found_);
    }

private:
    void add(graph::ComputeSetId id, const graph::ComputeSet& set) {
        std::unordered_map<TileId, std::uint32_t> vertices;
        for (const graph::Vertex& vertex : set.vertices) {
            // what it reads, then what it writes
            const std::uint32_t order = 2 * vertices[vertex.tile]++;
            add_fields(number_of(graph_, id), vertex, vertex.fields, order);
        }
    }
    void add_fields(StepNumber step, const graph::Vertex& vertex, graph::Fields fields,
                    std::uint32_t order) {
        std::uint32_t number = 0;
        for (const Field& field : graph_.fields_of(fields)) {
            ++number;
            if (field.kind == Field::Kind::Table) {
                const graph::Table& table = graph_.tables.at(field.word);
                if (table.tile != vertex.tile) {
                    fail(step, vertex.tile,
                         fmt::format("field {} of '{}' points to a table on tile {}", number,
                                     graph_.symbols[vertex.symbol], table.tile));
                }
                add_fields(step, vertex, table.fields, order);
            } else if (field.kind != Field::Kind::Word) {
                add(step, vertex.tile, field.place, field.bytes, field.access, order, [&] {
                    return fmt::format("field {} of '{}'", number, graph_.symbols[vertex.symbol]);
                });
            }
        }
    }
    void add(graph::ExchangeId id, const graph::Exchange& exchange) {
        const StepNumber step = number_of(graph_, id);
        for (const graph::Message& message : exchange.messages) {
            add(step, message.tile, message.from, message.bytes, Access::Read, 0,
                [] { return std::string("a message"); });
            for (std::uint32_t i = 0; i < message.receivers; ++i) {
                const graph::Receiver& to = exchange.to[message.first_to + i];
                if (to.tile == message.tile) {
                    fail(step, to.tile,
                         fmt::format("a message of '{}' goes to its own tile, as '{}'",
                                     graph_.buffers.at(message.from.buffer.index).name,
                                     graph_.buffers.at(to.to.buffer.index).name));
                }
                add(step, to.tile, to.to, message.bytes, Access::Write, 1,
                    [] { return std::string("a message"); });
            }
        }
    }
    void add(graph::CopyId id, const graph::StreamCopy& copy) {
        const bool read = copy.direction == program::StreamCopy::Direction::Read;
        for (const graph::StreamPiece& piece : copy.pieces) {
            add(number_of(graph_, id), piece.tile, piece.place, piece.bytes,
                read ? Access::Write : Access::Read, 0, [] { return std::string("a piece"); });
        }
    }

    void check_relocations(const graph::Buffer& buffer, const graph::Held& from) const {
        constexpr Bytes kWordBytes = 4;
        const auto contents = static_cast<Bytes>(from.contents->size());
        for (const graph::Relocation& relocation : *from.relocations) {
            const bool inside = relocation.at >= 0 && relocation.at + kWordBytes <= contents;
            const graph::BufferId to{relocation.buffer};
            const Bytes there = relocation.is_symbol ? 0 : held(to, from.tile);
            if (!inside ||
                (!relocation.is_symbol && (relocation.offset < 0 || relocation.offset > there))) {
                throw ProgramError(fmt::format(
                    "{}: tile {}: contents of '{}': {}", graph_.name, from.tile, buffer.name,
                    !inside ? fmt::format("an address at byte {} of {}", relocation.at, contents)
                            : fmt::format("the address at byte {} is byte {} of '{}', of which the "
                                          "tile holds {}",
                                          relocation.at, relocation.offset,
                                          graph_.buffers[to.index].name, there)));
            }
        }
    }

    void check(const graph::Tensor& tensor, const graph::Piece& piece) const {
        Bytes begin = piece.place.offset;
        Bytes end = begin + bytes_of(tensor.type);
        for (const program::PieceDim& dim : piece.dims) {
            if (dim.count <= 0) {
                return;
            }
            const Bytes reach = (dim.count - 1) * dim.tile_stride;
            (reach < 0 ? begin : end) += reach;
        }
        const Bytes there = held(piece.place.buffer, piece.tile);
        if (begin < 0 || end > there) {
            throw ProgramError(fmt::format(
                "{}: tensor '{}', tile {}: a piece is bytes {}..{} of '{}', of which the tile "
                "holds {}",
                graph_.name, tensor.name, piece.tile, begin, end - 1,
                graph_.buffers.at(piece.place.buffer.index).name, there));
        }
    }

    [[nodiscard]] Bytes held(graph::BufferId buffer, TileId tile) const {
        const auto& tiles = held_.at(buffer.index);
        const auto found = tiles.find(tile);
        return found == tiles.end() ? 0 : found->second;
    }

    template <class What>
    void add(StepNumber step, TileId tile, graph::Place place, Bytes bytes, Access access,
             std::uint32_t order, const What& what) {
        if (bytes == 0) {
            return;
        }
        const Bytes there = held(place.buffer, tile);
        if (place.offset < 0 || bytes < 0 || place.offset + bytes > there) {
            fail(step, tile,
                 fmt::format("{} uses bytes {}..{} of '{}', of which the tile holds {}", what(),
                             place.offset, place.offset + bytes - 1,
                             graph_.buffers[place.buffer.index].name, there));
        }
        const auto add_one = [&](Access one, std::uint32_t at) {
            found_.push_back(
                {place.buffer.index, tile, {step, at, place.offset, place.offset + bytes, one}});
        };
        if (access == Access::Read || access == Access::Update) {
            add_one(Access::Read, order);
        }
        if (access != Access::Read) {
            add_one(access == Access::WritePart ? access : Access::Write, order + 1);
        }
    }

    [[noreturn]] void fail(StepNumber step, TileId tile, const std::string& what) const {
        throw ProgramError(fmt::format("{}: step '{}', tile {}: {}", graph_.name,
                                       name_of(graph_, step), tile, what));
    }

    const graph::Graph& graph_;
    std::vector<std::unordered_map<TileId, Bytes>> held_; ///< by buffer
    std::vector<Found> found_;
};

/// Of one compute set, buffer and tile: all of them written whole, ascending orders.
void check_overlaps(const graph::Graph& graph, std::span<const Found> found) {
    std::vector<Use> writes;
    for (const Found& each : found) {
        if (each.use.access == Access::Write) {
            writes.push_back(each.use);
        }
    }
    std::sort(writes.begin(), writes.end(), [](const Use& left, const Use& right) {
        return std::tie(left.begin, left.order) < std::tie(right.begin, right.order);
    });
    // the write that reaches furthest so far, and the one of another vertex that does
    const Use* furthest = nullptr;
    const Use* other = nullptr;
    for (const Use& write : writes) {
        const bool same = furthest != nullptr && furthest->order == write.order;
        const Use* const met = same ? other : furthest;
        if (met != nullptr && write.begin < met->end) {
            throw ProgramError(
                fmt::format("{}: step '{}', tile {}: two vertices write byte {} of '{}'",
                            graph.name, name_of(graph, write.step), found.front().tile, write.begin,
                            graph.buffers[found.front().buffer].name));
        }
        if (furthest == nullptr || write.end > furthest->end) {
            other = same ? other : furthest;
            furthest = &write;
        } else if (!same && (other == nullptr || write.end > other->end)) {
            other = &write;
        }
    }
}

} // namespace

Uses::Uses(const graph::Graph& graph) : tiles_(graph.buffers.size()) {
    const std::vector<Found> found = Finder(graph).run();
    uses_.reserve(found.size());
    std::size_t step_begin = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const Found& each = found[i];
        auto& tiles = tiles_[each.buffer];
        if (tiles.empty() || tiles.back().tile != each.tile) {
            tiles.push_back({each.tile, static_cast<std::uint32_t>(i), 0});
        }
        ++tiles.back().count;
        uses_.push_back(each.use);
        const bool ends = i + 1 == found.size() || found[i + 1].buffer != each.buffer ||
                          found[i + 1].tile != each.tile || found[i + 1].use.step != each.use.step;
        if (ends) {
            if (each.use.step < graph.compute_sets.size()) {
                check_overlaps(graph, std::span(found).subspan(step_begin, i + 1 - step_begin));
            }
            step_begin = i + 1;
        }
    }
}

const std::string& name_of(const graph::Graph& graph, StepNumber step) {
    std::size_t number = step;
    if (number < graph.compute_sets.size()) {
        return graph.compute_sets[number].name;
    }
    number -= graph.compute_sets.size();
    if (number < graph.exchanges.size()) {
        return graph.exchanges[number].name;
    }
    return graph.stream_copies.at(number - graph.exchanges.size()).name;
}

} // namespace tessera::lower
