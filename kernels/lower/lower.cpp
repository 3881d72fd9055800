// SPDX-License-Identifier: MIT
#include "kernels/lower/lower.h"

#include "kernels/lower/binding.h"
#include "kernels/lower/check.h"
#include "kernels/lower/code_zone.h"
#include "kernels/lower/codelet_library.h"
#include "kernels/lower/images.h"
#include "kernels/lower/lifetimes.h"
#include "kernels/lower/placing.h"
#include "kernels/lower/rows.h"
#include "kernels/lower/state.h"
#include "kernels/lower/stub.h"
#include "kernels/lower/uses.h"
#include "kernels/plan/exchange_cost.h"

#include <algorithm>
#include <utility>

namespace tessera::lower {
namespace {

constexpr const char* kStateName = "vertex state";

/// Is there anything that a supervisor fetches? Copies and barriers alone leave all memory to data.
bool has_code(const graph::Graph& graph) {
    const auto any = [](const auto& steps, const auto& is_used) {
        return std::any_of(steps.begin(), steps.end(), is_used);
    };
    return any(graph.compute_sets, [](const auto& set) { return !set.vertices.empty(); }) ||
           any(graph.exchanges, [](const auto& exchange) { return !exchange.messages.empty(); });
}

/// The last buffer of the graph.
void add_state_buffer(graph::Graph& graph, const State& state) {
    const auto buffer = graph.add_buffer(
        {.name = kStateName, .kind = program::SegmentKind::VertexState, .alignment = 16});
    for (const auto& [tile, bytes] : state.bytes) {
        graph.hold(buffer, tile, bytes);
    }
}

/// What runs, at the places of the buffers; where its code stands is said by `zone`.
struct Bound {
    std::vector<program::Exchange> exchanges;
    std::vector<plan::ExchangeStats> stats;
    RowHomes rows;
    BoundSets sets;
    Stubs stubs;
    CodeZone zone;
};

Bound bind(const spec::MachineSpec& machine, const Places& places, const Steps& steps) {
    Bound bound;
    for (const std::uint32_t number : steps.exchanges) {
        const graph::Exchange& exchange = places.graph.exchanges[number];
        auto planned = plan::plan_exchange_with_stats(machine, exchange.name,
                                                      bound_transfers(places, exchange));
        planned.exchange.role = exchange.role;
        planned.exchange.owner = exchange.owner;
        bound.exchanges.push_back(std::move(planned.exchange));
        bound.stats.push_back(planned.stats);
    }
    bound.rows = find_row_homes(bound.exchanges);
    bound.sets = bound_sets(places, steps, static_cast<std::size_t>(machine.chip.tiles));
    bound.stubs = make_stubs(bound.sets.sets, machine.memory.region0_begin());
    bound.zone =
        lay_out_code(machine, places.codelets.bytes(), bound.stubs.bytes, bound.rows.bytes);
    return bound;
}

/// Tells stubs and rows where they stand.
void place_code(const Bound& from, program::Program& program) {
    for (std::size_t set = 0; set < program.compute_sets.size(); ++set) {
        auto& tiles = program.compute_sets[set].tiles;
        for (std::size_t tile = 0; tile < tiles.size(); ++tile) {
            tiles[tile].stub = from.stubs.code[set][tile] == nullptr ? 0 : from.zone.stubs[set];
        }
    }
    for (std::size_t exchange = 0; exchange < program.exchanges.size(); ++exchange) {
        auto& rows = program.exchanges[exchange].rows;
        for (std::size_t row = 0; row < rows.size(); ++row) {
            rows[row].address = from.zone.rows[from.rows.of_row[exchange][row]];
        }
    }
}

/// Takes the graph's tensors.
Lowered finish(const spec::MachineSpec& machine, graph::Graph& graph, const Places& places,
               Steps steps, Bound bound) {
    Lowered lowered;
    program::Program& program = lowered.program;
    program.name = graph.name;
    program.compute_sets = std::move(bound.sets.sets);
    program.vertex_names = std::move(bound.sets.vertex_names);
    program.exchanges = std::move(bound.exchanges);
    place_code(bound, program);
    make_images(program, places, bound.zone, bound.stubs, bound.rows,
                static_cast<std::size_t>(machine.chip.tiles));
    program.codelets.push_back(places.codelets.codelet());
    for (graph::Tensor& tensor : graph.tensors) {
        program.tensors.push_back(bound_tensor(places, std::move(tensor)));
    }
    program.control = renumbered(graph, steps, graph.control);
    program.remote_buffers = graph.remote_buffers;
    program.io_tiles = graph.io_tiles;
    for (const graph::StreamCopy& copy : graph.stream_copies) {
        program.stream_copies.push_back(bound_copy(places, copy));
    }
    lowered.exchanges = std::move(bound.stats);
    lowered.steps = std::move(steps);
    lowered.bytes_by_buffer = places.placing.bytes_by_buffer;
    lowered.bytes_used = places.placing.bytes_used;
    return lowered;
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
    const State state = lay_out_state(graph);
    add_state_buffer(graph, state);
    const auto needs = needs_of(graph, Uses(graph));
    const auto names = step_names(graph);
    const CodeletLibrary codelets(machine, graph);
    check_symbols(graph, codelets.codelet());
    Steps steps = number_steps(graph);
    const bool runs_code = has_code(graph);
    CodeRoom code;
    if (runs_code) {
        code = lay_out_code(machine, codelets.bytes(), stub_bytes(graph, steps), {}).room;
    }
    Placing placing = first_place(machine, graph, needs, code, names);
    while (true) {
        // Also of vertices without words: there may be none with words.
        const Places places{graph, placing, state,
                            std::max(placing.buffers.back().begin, machine.memory.region0_begin()),
                            codelets};
        Bound bound = bind(machine, places, steps);
        const CodeRoom& needed = bound.zone.room;
        if (!runs_code || needed.rows <= placing.code.rows) {
            return finish(machine, graph, places, std::move(steps), std::move(bound));
        }
        code.rows = std::max(code.rows, needed.rows);
        placing = place(machine, graph, needs, code, names);
    }
}

} // namespace tessera::lower
