// SPDX-License-Identifier: MIT
#include "kernels/lower/lower.h"

#include "kernels/lower/check.h"
#include "kernels/lower/codelet_library.h"
#include "kernels/lower/image_builder.h"
#include "kernels/lower/lifetimes.h"
#include "kernels/lower/placing.h"
#include "kernels/lower/uses.h"
#include "kernels/plan/exchange_cost.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

namespace tessera::lower {
namespace {

using graph::Field;
using program::Step;

constexpr Bytes kWordBytes = 4;
constexpr const char* kStateName = "vertex state";

/// Words of vertex state: of every vertex and table in the order of its tile.
class State {
public:
    explicit State(const graph::Graph& graph) : graph_(graph) {
        for (const graph::ComputeSet& set : graph.compute_sets) {
            for (const graph::Vertex& vertex : set.vertices) {
                place_tables(vertex.fields);
                offsets_.push_back(take(vertex.tile, vertex.fields));
            }
        }
    }

    /// Where the state of the vertices begins, in the order of compute sets and vertices.
    [[nodiscard]] const std::vector<Bytes>& offsets() const { return offsets_; }
    [[nodiscard]] Bytes offset_of_table(std::uint32_t table) const {
        return table_offsets_.at(table);
    }
    [[nodiscard]] const std::map<TileId, Bytes>& bytes() const { return bytes_; }

private:
    void place_tables(graph::Fields fields) {
        for (const Field& field : graph_.fields_of(fields)) {
            if (field.kind == Field::Kind::Table && !table_offsets_.contains(field.word)) {
                const graph::Table& table = graph_.tables.at(field.word);
                place_tables(table.fields);
                table_offsets_.emplace(field.word, take(table.tile, table.fields));
            }
        }
    }
    Bytes take(TileId tile, graph::Fields fields) {
        const auto all = graph_.fields_of(fields);
        const auto words = std::count_if(all.begin(), all.end(), [](const Field& field) {
            return field.kind != Field::Kind::Use;
        });
        return std::exchange(bytes_[tile], bytes_[tile] + kWordBytes * words);
    }

    const graph::Graph& graph_;
    std::map<TileId, Bytes> bytes_;
    std::map<std::uint32_t, Bytes> table_offsets_;
    std::vector<Bytes> offsets_;
};

/// A graph at the places of its buffers.
class Binder {
public:
    Binder(const spec::MachineSpec& machine, const graph::Graph& graph, const State& state,
           const CodeletLibrary& library, const Placing& placing)
        : machine_(machine), graph_(graph), state_(state), library_(library), placing_(placing),
          images_(machine, library, graph.name) {}

    /// False where rows and stubs take more room than the code zone has.
    [[nodiscard]] bool bind() {
        bind_leaves();
        hold_buffers();
        hold_state();
        return images_.code_room().bytes() <= placing_.code_zone_bytes;
    }
    [[nodiscard]] CodeRoom code_room() const { return images_.code_room(); }

    /// Takes the graph's tensors, which have most pieces of all that there is.
    [[nodiscard]] Lowered finish(std::vector<graph::Tensor> tensors) {
        Lowered lowered;
        for (graph::Tensor& tensor : tensors) {
            images_.add_tensor(bound(std::move(tensor)));
        }
        lowered.program = images_.build();
        lowered.program.control = renumbered(graph_.control);
        lowered.program.remote_buffers = graph_.remote_buffers;
        lowered.program.io_tiles = graph_.io_tiles;
        for (const graph::StreamCopy& copy : graph_.stream_copies) {
            lowered.program.stream_copies.push_back(bound(copy));
        }
        lowered.exchanges = std::move(stats_);
        lowered.set_numbers = std::move(set_numbers_);
        lowered.exchange_numbers = std::move(exchange_numbers_);
        lowered.bytes_by_buffer = placing_.bytes_by_buffer;
        lowered.bytes_used = placing_.bytes_used;
        return lowered;
    }

private:
    [[nodiscard]] Address address(graph::Place place) const {
        return placing_.buffers[place.buffer.index].begin + static_cast<Address>(place.offset);
    }
    /// Also of vertices without words: there may be none with words.
    [[nodiscard]] Address state_address() const {
        return std::max(placing_.buffers.back().begin, machine_.memory.region0_begin());
    }

    /// Steps stand in memory in the order in which they first run.
    void bind_leaves() {
        set_numbers_.assign(graph_.compute_sets.size(), Lowered::kLeftOut);
        exchange_numbers_.assign(graph_.exchanges.size(), Lowered::kLeftOut);
        vertices_before_.assign(1, 0);
        for (const graph::ComputeSet& set : graph_.compute_sets) {
            vertices_before_.push_back(vertices_before_.back() + set.vertices.size());
        }
        bind_leaves_of(graph_.control);
    }
    void bind_leaves_of(const Step& step) {
        if (step.kind == Step::Kind::ComputeSet && !is_empty(graph_, step) &&
            set_numbers_[step.index] == Lowered::kLeftOut) {
            set_numbers_[step.index] = sets_++;
            bind_set(step.index);
        }
        if (step.kind == Step::Kind::Exchange && !is_empty(graph_, step) &&
            exchange_numbers_[step.index] == Lowered::kLeftOut) {
            exchange_numbers_[step.index] = static_cast<std::uint32_t>(stats_.size());
            bind_exchange(graph_.exchanges[step.index]);
        }
        for (const Step& child : step.children) {
            bind_leaves_of(child);
        }
    }

    void bind_set(std::uint32_t index) {
        const graph::ComputeSet& set = graph_.compute_sets[index];
        std::vector<std::vector<program::Vertex>> of_tile(
            static_cast<std::size_t>(machine_.chip.tiles));
        for (std::size_t i = 0; i < set.vertices.size(); ++i) {
            const graph::Vertex& vertex = set.vertices[i];
            const std::string& symbol = graph_.symbols[vertex.symbol];
            program::Vertex made;
            made.entry = library_.entry(symbol);
            made.kind = vertex.kind;
            made.state_address =
                state_address() +
                static_cast<Address>(state_.offsets()[vertices_before_[index] + i]);
            made.name = images_.vertex_name(symbol);
            of_tile.at(vertex.tile).push_back(made);
        }
        images_.add_compute_set(set.name, set.role, set.owner, std::move(of_tile));
    }

    void bind_exchange(const graph::Exchange& exchange) {
        std::vector<program::Transfer> transfers;
        transfers.reserve(exchange.messages.size());
        for (const graph::Message& message : exchange.messages) {
            program::Transfer transfer{message.from.tile,
                                       address(message.from.place()),
                                       message.bytes,
                                       message.paired,
                                       {}};
            transfer.destinations.reserve(message.receivers);
            for (std::uint32_t i = 0; i < message.receivers; ++i) {
                const graph::TilePlace& to = exchange.to[message.first_to + i];
                transfer.destinations.push_back({to.tile, address(to.place())});
            }
            transfers.push_back(std::move(transfer));
        }
        auto planned =
            plan::plan_exchange_with_stats(machine_, exchange.name, std::move(transfers));
        stats_.push_back(planned.stats);
        planned.exchange.role = exchange.role;
        planned.exchange.owner = exchange.owner;
        images_.add_exchange(std::move(planned.exchange));
    }

    void hold_buffers() {
        for (std::size_t index = 0; index + 1 < graph_.buffers.size(); ++index) { // last: state
            const auto& at = placing_.buffers[index];
            for (const graph::Held& held : graph_.buffers[index].held) {
                Bytes there = 0;
                if (held.contents != nullptr) {
                    there = static_cast<Bytes>(held.contents->size());
                    images_.add_bytes(held.tile, at.kind, at.name, at.begin, relocated(held),
                                      at.lifetime);
                }
                const Bytes behind = held.bytes + graph_.buffers[index].read_beyond - there;
                images_.add_zero(held.tile, at.kind, at.name,
                                 at.begin + static_cast<Address>(there), behind, at.lifetime);
            }
        }
    }

    /// Contents that tiles share are patched once.
    program::SharedBytes relocated(const graph::Held& held) {
        if (held.relocations == nullptr) {
            return held.contents;
        }
        auto& known = relocated_[{held.contents.get(), held.relocations.get()}];
        if (known == nullptr) {
            std::vector<std::byte> bytes = *held.contents;
            for (const graph::Relocation& relocation : *held.relocations) {
                const Address value =
                    relocation.is_symbol
                        ? library_.entry(graph_.symbols[relocation.symbol])
                        : address({graph::BufferId{relocation.buffer}, relocation.offset});
                std::memcpy(bytes.data() + relocation.at, &value, sizeof value);
            }
            known = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
        }
        return known;
    }

    void append_words(std::vector<std::uint32_t>& words, Bytes offset, graph::Fields fields) const {
        auto at = static_cast<std::size_t>(offset / kWordBytes);
        for (const Field& field : graph_.fields_of(fields)) {
            switch (field.kind) {
            case Field::Kind::Word:
                words[at++] = field.word;
                break;
            case Field::Kind::Pointer:
                words[at++] = address(field.place);
                break;
            case Field::Kind::Table:
                words[at++] =
                    state_address() + static_cast<Address>(state_.offset_of_table(field.word));
                append_words(words, state_.offset_of_table(field.word),
                             graph_.tables[field.word].fields);
                break;
            case Field::Kind::Use:
                break;
            }
        }
    }
    void hold_state() {
        std::map<TileId, std::vector<std::uint32_t>> words;
        for (const auto& [tile, bytes] : state_.bytes()) {
            words[tile].resize(static_cast<std::size_t>(bytes / kWordBytes));
        }
        auto offset = state_.offsets().begin();
        for (const graph::ComputeSet& set : graph_.compute_sets) {
            for (const graph::Vertex& vertex : set.vertices) {
                append_words(words[vertex.tile], *offset++, vertex.fields);
            }
        }
        for (const auto& [tile, of_tile] : words) {
            images_.add_words(tile, program::SegmentKind::VertexState, kStateName, state_address(),
                              of_tile);
        }
    }

    [[nodiscard]] program::Tensor bound(graph::Tensor tensor) const {
        program::Tensor made{tensor.name, tensor.type, tensor.shape, {}};
        made.pieces.reserve(tensor.pieces.size());
        for (graph::Piece& piece : tensor.pieces) {
            made.pieces.push_back(
                {piece.tile, address(piece.place), piece.host_offset, std::move(piece.dims)});
        }
        return made;
    }
    [[nodiscard]] program::StreamCopy bound(const graph::StreamCopy& copy) const {
        program::StreamCopy made{copy.name, copy.remote_buffer, copy.direction, copy.rows, {}};
        made.role = program::Role::Stream;
        made.owner = copy.owner;
        for (const graph::StreamPiece& piece : copy.pieces) {
            made.pieces.push_back({piece.tile, address(piece.place), piece.bytes, piece.offset});
        }
        return made;
    }

    [[nodiscard]] Step renumbered(const Step& step) const {
        if (is_empty(graph_, step)) {
            return {};
        }
        Step made = step;
        made.children.clear();
        for (const Step& child : step.children) {
            // which child of an if is meant is told by its place
            if (step.kind == Step::Kind::If || !is_empty(graph_, child)) {
                made.children.push_back(renumbered(child));
            }
        }
        if (step.kind == Step::Kind::ComputeSet) {
            made.index = set_numbers_[step.index];
        } else if (step.kind == Step::Kind::Exchange) {
            made.index = exchange_numbers_[step.index];
        }
        return made;
    }

    const spec::MachineSpec& machine_;
    const graph::Graph& graph_;
    const State& state_;
    const CodeletLibrary& library_;
    const Placing& placing_;
    ImageBuilder images_;
    std::vector<plan::ExchangeStats> stats_;
    std::vector<std::uint32_t> set_numbers_;      ///< of the program, by compute set of the graph
    std::vector<std::uint32_t> exchange_numbers_; ///< the same of exchanges
    std::uint32_t sets_ = 0;
    std::vector<std::size_t> vertices_before_; ///< by compute set
    std::map<std::pair<const void*, const void*>, program::SharedBytes> relocated_;
};

/// Is there anything that a supervisor fetches? Copies and barriers alone leave all memory to data.
bool has_code(const graph::Graph& graph) {
    const auto any = [](const auto& steps, const auto& is_used) {
        return std::any_of(steps.begin(), steps.end(), is_used);
    };
    return any(graph.compute_sets, [](const auto& set) { return !set.vertices.empty(); }) ||
           any(graph.exchanges, [](const auto& exchange) { return !exchange.messages.empty(); });
}

} // namespace

plan::PredictedCycles predicted_exchanges(const spec::MachineSpec& machine,
                                          const Lowered& lowered) {
    plan::PredictedCycles predicted;
    for (std::size_t i = 0; i < lowered.exchanges.size(); ++i) {
        const Cycles rows =
            plan::row_overhead(machine.exchange) + lowered.exchanges[i].longest_row_events;
        predicted.exchange += rows;
        predicted.sync += machine.sync.internal_cycles;
        if (lowered.program.exchanges[i].role == program::Role::Reduce) {
            predicted.reduction += rows + machine.sync.internal_cycles;
        }
    }
    return predicted;
}

Lowered lower(const spec::MachineSpec& machine, graph::Graph graph) {
    check_tiles(machine, graph);
    hold_once(graph);
    graph.close();
    const State state(graph);
    const auto state_buffer = graph.add_buffer(
        {.name = kStateName, .kind = program::SegmentKind::VertexState, .alignment = 16});
    for (const auto& [tile, bytes] : state.bytes()) {
        graph.hold(state_buffer, tile, bytes);
    }
    const auto lifetimes = lifetimes_of(graph, Uses(graph));
    const auto steps = step_names(graph);
    const CodeletLibrary library(machine, graph);
    check_symbols(graph, library.codelet());
    const bool runs_code = has_code(graph);
    CodeRoom code = runs_code ? ImageBuilder::first_code_room(machine, library) : CodeRoom{};
    Placing placing = first_place(machine, graph, lifetimes, code, steps);
    while (true) {
        Binder binder(machine, graph, state, library, placing);
        if (binder.bind() || !runs_code) {
            return binder.finish(std::move(graph.tensors));
        }
        code.code = std::max(code.code, binder.code_room().code);
        code.rows = std::max(code.rows, binder.code_room().rows);
        placing = place(machine, graph, lifetimes, code, steps);
    }
}

plan::PlannedProgram planned(const spec::MachineSpec& machine, graph::Graph graph,
                             plan::PlanInfo info) {
    Lowered lowered = lower(machine, std::move(graph));
    info.predicted += predicted_exchanges(machine, lowered);
    info.bytes_by_buffer = std::move(lowered.bytes_by_buffer);
    info.bytes_used = lowered.bytes_used;
    return {std::move(lowered.program), std::move(info)};
}

} // namespace tessera::lower
