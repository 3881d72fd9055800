// SPDX-License-Identifier: MIT
#include "kernels/lower/uses.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <tuple>

namespace tessera::lower {
namespace {

using graph::Access;
using graph::Field;

/// Tiles and buffers are numbered through, so that uses are dealt to them and not sorted.
using Key = std::uint32_t;

struct Found {
    Key key = 0;
    Use use;
};

/// Tiles that hold something, at least one.
std::size_t tiles_of(const graph::Graph& graph) {
    std::size_t tiles = 1;
    for (const graph::Buffer& buffer : graph.buffers) {
        for (const graph::Held& held : buffer.held) {
            tiles = std::max(tiles, std::size_t{held.tile} + 1);
        }
    }
    return tiles;
}

class Finder {
public:
    Finder(const graph::Graph& graph, std::size_t tiles)
        : graph_(graph), tiles_(tiles), held_(graph.buffers.size() * tiles) {
        for (std::size_t buffer = 0; buffer < graph.buffers.size(); ++buffer) {
            for (const graph::Held& held : graph.buffers[buffer].held) {
                Bytes& bytes = held_[buffer * tiles_ + held.tile];
                bytes = std::max(bytes, held.bytes);
            }
        }
    }

    /// By step, then by the order on a tile; exchanges read and write in turn.
    std::vector<Found> run() {
        std::size_t likely = graph_.fields.size();
        for (const graph::Exchange& exchange : graph_.exchanges) {
            likely += exchange.messages.size() + exchange.to.size();
        }
        found_.reserve(likely);
        for (std::uint32_t i = 0; i < graph_.compute_sets.size(); ++i) {
            add(graph::ComputeSetId{i}, graph_.compute_sets[i]);
        }
        for (std::uint32_t i = 0; i < graph_.exchanges.size(); ++i) {
            add(graph::ExchangeId{i}, graph_.exchanges[i]);
        }
        for (std::uint32_t i = 0; i < graph_.stream_copies.size(); ++i) {
            add(graph::CopyId{i}, graph_.stream_copies[i]);
        }
        for (std::uint32_t i = 0; i < graph_.link_exchanges.size(); ++i) {
            add(graph::LinkId{i}, graph_.link_exchanges[i]);
        }
        const auto in_control = control_uses_of(graph_);
        for (std::uint32_t i = 0; i < in_control.size(); ++i) {
            add(number_of_control_use(graph_, i), *in_control[i]);
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
        return std::move(found_);
    }

private:
    void add(graph::ComputeSetId id, const graph::ComputeSet& set) {
        for (const graph::Vertex& vertex : set.vertices) {
            if (vertex.tile >= vertices_.size()) {
                vertices_.resize(vertex.tile + std::size_t{1});
            }
            std::uint32_t& vertices = vertices_[vertex.tile];
            // what it reads, then what it writes
            add_fields(number_of(graph_, id), vertex, vertex.fields, 2 * vertices++);
        }
        for (const graph::Vertex& vertex : set.vertices) {
            vertices_[vertex.tile] = 0;
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
            add(step, message.from.tile, message.from.place(), message.bytes, Access::Read, 0,
                [] { return std::string("a message"); });
            for (std::uint32_t i = 0; i < message.receivers; ++i) {
                const graph::TilePlace& to = exchange.to[message.first_to + i];
                if (to.tile == message.from.tile) {
                    fail(step, to.tile,
                         fmt::format("a message of '{}' goes to its own tile, as '{}'",
                                     graph_.buffers.at(message.from.buffer.index).name,
                                     graph_.buffers.at(to.buffer.index).name));
                }
                add(step, to.tile, to.place(), message.bytes, Access::Write, 1,
                    [] { return std::string("a message"); });
            }
        }
    }
    void add(graph::CopyId id, const graph::StreamCopy& copy) {
        const bool read = copy.direction == program::StreamCopy::Direction::Read;
        for (const graph::RowNumbers& numbers : copy.rows_from) {
            add_words(number_of(graph_, id), numbers.tile, numbers.place, numbers.count,
                      Access::Read);
        }
        for (const graph::StreamPiece& piece : copy.pieces) {
            add(number_of(graph_, id), piece.tile, piece.place, piece.bytes,
                read ? Access::Write : Access::Read, 0, [] { return std::string("a piece"); });
        }
    }
    /// The place of an index is any of its places.
    void add(graph::LinkId id, const graph::LinkExchange& exchange) {
        const auto add_all = [&](const std::vector<graph::LinkMessage>& messages, Access access) {
            for (const graph::LinkMessage& message : messages) {
                Bytes bytes = message.bytes;
                Access one = access;
                if (message.indexed) {
                    const graph::LinkIndex& index = *message.indexed;
                    add_words(number_of(graph_, id), message.tile, index.word, 1, Access::Read);
                    bytes += index.stride * (index.count - 1);
                    one = access == Access::Write ? Access::WritePart : access;
                }
                add(number_of(graph_, id), message.tile, message.place, bytes, one, 0,
                    [] { return std::string("a message"); });
            }
        };
        add_all(exchange.sends, Access::Read);
        add_all(exchange.receives, Access::Write);
    }
    void add(StepNumber number, const graph::Step& step) {
        if (step.word) {
            add_words(number, step.word->tile, step.word->place(), 1, Access::Read);
        }
        for (const graph::BufferId round : step.rounds) {
            for (const graph::Held& held : graph_.buffers.at(round.index).held) {
                add_words(number, held.tile, {round}, 1, Access::Write);
            }
        }
    }
    void add_words(StepNumber step, TileId tile, graph::Place word, std::int64_t count,
                   Access access) {
        constexpr Bytes kWordBytes = 4;
        if (word.offset % kWordBytes != 0) {
            fail(step, tile,
                 fmt::format("the word at byte {} of '{}', expected a multiple of {}", word.offset,
                             graph_.buffers.at(word.buffer.index).name, kWordBytes));
        }
        add(step, tile, word, count * kWordBytes, access, 0,
            [] { return std::string("the word"); });
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
                    "program '{}': tile {}: contents of '{}': {}", graph_.name, from.tile,
                    buffer.name,
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
            throw ProgramError(fmt::format("program '{}': tensor '{}', tile {}: a piece is bytes "
                                           "{}..{} of '{}', of which the tile holds {}",
                                           graph_.name, tensor.name, piece.tile, begin, end - 1,
                                           graph_.buffers.at(piece.place.buffer.index).name,
                                           there));
        }
    }

    [[nodiscard]] Bytes held(graph::BufferId buffer, TileId tile) const {
        return tile < tiles_ ? held_.at(buffer.index * tiles_ + tile) : 0;
    }

    template <class What>
    void add(StepNumber step, TileId tile, graph::Place place, Bytes bytes, Access access,
             std::uint32_t order, const What& what) {
        if (bytes == 0) {
            return;
        }
        const std::size_t key = place.buffer.index * tiles_ + tile;
        const Bytes there = held(place.buffer, tile);
        if (place.offset < 0 || bytes < 0 || place.offset + bytes > there) {
            fail(step, tile,
                 fmt::format("{} uses bytes {}..{} of '{}', of which the tile holds {}", what(),
                             place.offset, place.offset + bytes - 1,
                             graph_.buffers[place.buffer.index].name, there));
        }
        const auto add_one = [&](Access one, std::uint32_t at) {
            found_.push_back({static_cast<Key>(key),
                              {step, at, static_cast<std::uint32_t>(place.offset),
                               static_cast<std::uint32_t>(place.offset + bytes), one}});
        };
        if (access == Access::Read || access == Access::Update) {
            add_one(Access::Read, order);
        }
        if (access != Access::Read) {
            add_one(access == Access::WritePart ? access : Access::Write, order + 1);
        }
    }

    [[noreturn]] void fail(StepNumber step, TileId tile, const std::string& what) const {
        throw ProgramError(fmt::format("{}: {}", place_of_fault(graph_, step, tile), what));
    }

    const graph::Graph& graph_;
    std::size_t tiles_;
    std::vector<Bytes> held_;             ///< by key
    std::vector<std::uint32_t> vertices_; ///< of the compute set so far, by tile; then 0 again
    std::vector<Found> found_;
};

bool is_before(const Use& left, const Use& right) {
    return std::tie(left.step, left.order, left.begin) <
           std::tie(right.step, right.order, right.begin);
}

void add_uses(const graph::Step& step, std::vector<const graph::Step*>& uses) {
    if (uses_memory(step)) {
        uses.push_back(&step);
    }
    for (const graph::Step& child : step.children) {
        add_uses(child, uses);
    }
}

/// What people call a step: its name, and whose it is.
struct Called {
    const std::string& name;
    const std::string& owner;
};

/// Of one that uses memory itself.
Called called(const graph::Graph& graph, const graph::Step& step) {
    static const std::string kWhile = "while";
    static const std::string kIf = "if";
    static const std::string kRepeat = "repeat";
    static const std::string kOwner = "control";
    switch (step.kind) {
    case graph::Step::Kind::While:
        return {kWhile, kOwner};
    case graph::Step::Kind::If:
        return {kIf, kOwner};
    case graph::Step::Kind::Repeat:
        return {kRepeat, kOwner};
    default:
        const graph::StreamCopy& copy = graph.stream_copies.at(step.index);
        return {copy.name, copy.owner};
    }
}

Called called(const graph::Graph& graph, StepNumber step) {
    const auto of = [](const auto& one) { return Called{one.name, one.owner}; };
    std::size_t number = step;
    if (number < graph.compute_sets.size()) {
        return of(graph.compute_sets[number]);
    }
    number -= graph.compute_sets.size();
    if (number < graph.exchanges.size()) {
        return of(graph.exchanges[number]);
    }
    number -= graph.exchanges.size();
    if (number < graph.stream_copies.size()) {
        return of(graph.stream_copies[number]);
    }
    number -= graph.stream_copies.size();
    if (number < graph.link_exchanges.size()) {
        return of(graph.link_exchanges[number]);
    }
    return called(graph, *control_uses_of(graph).at(number - graph.link_exchanges.size()));
}

/// Of one compute set, buffer and tile.
void check_overlaps(const graph::Graph& graph, std::uint32_t buffer, TileId tile,
                    std::span<const Use> uses) {
    // mostly they are few, and ascend
    std::uint32_t end = 0;
    const bool ascend = std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
        const bool behind = use.access != Access::Write || use.begin >= end;
        end = use.access == Access::Write ? use.end : end;
        return behind;
    });
    if (ascend) {
        return;
    }
    std::vector<Use> writes;
    std::copy_if(uses.begin(), uses.end(), std::back_inserter(writes),
                 [](const Use& use) { return use.access == Access::Write; });
    std::sort(writes.begin(), writes.end(), [](const Use& left, const Use& right) {
        return std::tie(left.begin, left.order) < std::tie(right.begin, right.order);
    });
    // as long as none overlap, one that does begins before the end of the write that reaches
    // furthest
    const Use* furthest = nullptr;
    for (const Use& write : writes) {
        if (furthest != nullptr && write.order != furthest->order && write.begin < furthest->end) {
            throw ProgramError(fmt::format("{}: two vertices write byte {} of '{}'",
                                           place_of_fault(graph, write.step, tile), write.begin,
                                           graph.buffers[buffer].name));
        }
        if (furthest == nullptr || write.end > furthest->end) {
            furthest = &write;
        }
    }
}

} // namespace

Uses::Uses(const graph::Graph& graph) : tiles_(graph.buffers.size()) {
    const std::size_t tiles = tiles_of(graph);
    const std::vector<Found> found = Finder(graph, tiles).run();
    std::vector<std::uint32_t> begin(graph.buffers.size() * tiles + 1);
    for (const Found& each : found) {
        ++begin[each.key + 1];
    }
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    uses_.resize(found.size());
    std::vector<std::uint32_t> next = begin;
    for (const Found& each : found) {
        uses_[next[each.key]++] = each.use;
    }
    for (std::uint32_t buffer = 0; buffer < graph.buffers.size(); ++buffer) {
        for (std::size_t tile = 0; tile < tiles; ++tile) {
            const std::size_t key = buffer * tiles + tile;
            if (begin[key] == begin[key + 1]) {
                continue;
            }
            const UsesOnTile here{static_cast<TileId>(tile), begin[key],
                                  begin[key + 1] - begin[key]};
            tiles_[buffer].push_back(here);
            const auto of_tile = std::span(uses_).subspan(here.first, here.count);
            if (!std::is_sorted(of_tile.begin(), of_tile.end(), is_before)) {
                std::sort(of_tile.begin(), of_tile.end(), is_before);
            }
            check_steps(graph, buffer, here);
        }
    }
}

void Uses::check_steps(const graph::Graph& graph, std::uint32_t buffer,
                       const UsesOnTile& here) const {
    const auto uses = of(here);
    for (std::size_t first = 0; first < uses.size();) {
        std::size_t last = first;
        while (last < uses.size() && uses[last].step == uses[first].step) {
            ++last;
        }
        if (uses[first].step < graph.compute_sets.size()) {
            check_overlaps(graph, buffer, here.tile, uses.subspan(first, last - first));
        }
        first = last;
    }
}

std::vector<const graph::Step*> control_uses_of(const graph::Graph& graph) {
    std::vector<const graph::Step*> uses;
    add_uses(graph.control, uses);
    return uses;
}

const std::string& name_of(const graph::Graph& graph, StepNumber step) {
    return called(graph, step).name;
}

std::string place_of_fault(const graph::Graph& graph, StepNumber step, TileId tile) {
    const Called one = called(graph, step);
    return fmt::format("program '{}': kernel '{}', step '{}', tile {}", graph.name, one.owner,
                       one.name, tile);
}

} // namespace tessera::lower
