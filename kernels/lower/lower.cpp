// SPDX-License-Identifier: MIT
#include "kernels/lower/lower.h"

#include "base/error.h"
#include "kernels/exchange_plan/search_effort.h"
#include "kernels/lower/binding.h"
#include "kernels/lower/check.h"
#include "kernels/lower/code_zone.h"
#include "kernels/lower/codelet_library.h"
#include "kernels/lower/control_code.h"
#include "kernels/lower/declared.h"
#include "kernels/lower/images.h"
#include "kernels/lower/lifetimes.h"
#include "kernels/lower/placing.h"
#include "kernels/lower/rows.h"
#include "kernels/lower/state.h"
#include "kernels/lower/stub.h"
#include "kernels/lower/uses.h"
#include "kernels/plan/exchange_cost.h"
#include "models/timing/exchange_bound.h"

#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace tessera::lower {
namespace {

/// Of an exchange on a tile that has most of it, as far as messages tell. Too few may cost a second
/// round.
Bytes likely_row_bytes(const graph::Exchange& exchange) {
    constexpr Bytes kOfMessage = 24; // at most, in the common case
    std::vector<Bytes> of_tile;
    const auto add = [&](TileId tile) {
        while (tile >= of_tile.size()) {
            of_tile.emplace_back();
        }
        of_tile[tile] += kOfMessage;
    };
    for (const graph::Message& message : exchange.messages) {
        add(message.from.tile);
    }
    for (const graph::TilePlace& to : exchange.to) {
        add(to.tile);
    }
    return std::ranges::max(of_tile);
}

/// The same bytes from and to the same places: the rows are the same, too.
bool same_messages(const graph::Exchange& a, const graph::Exchange& b) {
    const auto same_place = [](const graph::TilePlace& one, const graph::TilePlace& other) {
        return one.tile == other.tile && one.buffer == other.buffer && one.offset == other.offset;
    };
    const auto same = [&](const graph::Message& one, const graph::Message& other) {
        return same_place(one.from, other.from) && one.bytes == other.bytes &&
               one.first_to == other.first_to && one.receivers == other.receivers &&
               one.paired == other.paired;
    };
    return std::ranges::equal(a.messages, b.messages, same) &&
           std::ranges::equal(a.to, b.to, same_place);
}

} // namespace

/// Exchanges at the places of the buffers, and what their rows ask for.
struct Exchanges {
    std::vector<program::Exchange> all;
    std::vector<exchange_plan::ExchangeStats> stats;
    RowHomes homes;
};

namespace {

/// Calls `body` for 0 .. count - 1, on all threads, each of which takes the next one: what is alike mostly
/// lies far apart. Throws what the first one has thrown that throws.
void in_order_on_all_threads(std::size_t count, const std::function<void(std::size_t)>& body) {
    std::atomic<std::size_t> next = 0;
    std::vector<std::exception_ptr> thrown(count);
    const auto take = [&](int /*thread*/) {
        for (std::size_t i = next++; i < count; i = next++) {
            try {
                body(i);
            } catch (...) {
                thrown[i] = std::current_exception();
                next = count;
            }
        }
    };
    tbb::parallel_for(0, tbb::this_task_arena::max_concurrency(), take, tbb::simple_partitioner());
    for (const std::exception_ptr& one : thrown) {
        if (one != nullptr) {
            std::rethrow_exception(one);
        }
    }
}

Exchanges plan_exchanges(const spec::MachineSpec& machine, const Places& places, const Steps& steps,
                         std::span<const std::uint32_t> last,
                         exchange_plan::KnownSchedules& known) {
    const auto exchange_of = [&](std::size_t at) -> const graph::Exchange& {
        return places.graph.exchanges[steps.exchanges[at]];
    };
    // passes over data have exchanges of the same messages
    std::vector<std::size_t> first_alike(steps.exchanges.size());
    std::vector<std::size_t> first_ones;
    for (std::size_t at = 0; at < first_alike.size(); ++at) {
        const auto alike = std::ranges::find_if(first_ones, [&](std::size_t other) {
            return same_messages(exchange_of(other), exchange_of(at));
        });
        first_alike[at] = alike == first_ones.end() ? at : *alike;
        if (alike == first_ones.end()) {
            first_ones.push_back(at);
        }
    }
    std::vector<exchange_plan::PlannedExchange> ones(first_alike.size());
    in_order_on_all_threads(first_ones.size(), [&](std::size_t i) {
        const graph::Exchange& exchange = exchange_of(first_ones[i]);
        ones[first_ones[i]] = exchange_plan::plan_exchange_with_stats(
            machine, exchange.name, bound_transfers(places, exchange), &known);
    });
    Exchanges planned;
    for (std::size_t at = 0; at < first_alike.size(); ++at) {
        const graph::Exchange& exchange = exchange_of(at);
        exchange_plan::PlannedExchange& one = ones[first_alike[at]];
        const bool is_first = first_alike[at] == at;
        planned.all.push_back(is_first ? std::move(one.exchange) : planned.all[first_alike[at]]);
        planned.all.back().name = exchange.name;
        planned.all.back().role = exchange.role;
        planned.all.back().owner = exchange.owner;
        planned.stats.push_back(one.stats);
    }
    planned.homes = find_row_homes(planned.all, last);
    return planned;
}

} // namespace

/// Places buffers and plans exchanges until the rows have room.
class Fitting {
public:
    Fitting(const spec::MachineSpec& machine, const graph::Graph& graph, const State& state,
            const Steps& steps, const CodeletLibrary& codelets, Bytes code)
        : machine_(machine), graph_(graph), steps_(steps), names_(step_names(graph)),
          needs_(needs_of(graph, Uses(graph))),
          code_(code), places{graph, placing, state, codelets, machine.memory.region0_begin()} {
        for (std::size_t i = 0; i < state.buffers.size(); ++i) {
            needs_[state.buffers[i].index].lifetime = state.lifetimes[i];
        }
    }

    /// Places buffers beside rows that are likely, or where that does not fit, beside none: they may turn out
    /// shorter, or find room elsewhere. `last`: by exchange of the program, when it runs last.
    void place_first(std::vector<std::uint32_t> last) {
        last_ = std::move(last);
        for (std::size_t i = 0; i < last_.size(); ++i) {
            rooms_.push_back({likely_row_bytes(graph_.exchanges[steps_.exchanges[i]]), last_[i]});
        }
        try {
            place(rooms_);
        } catch (const DoesNotFit&) {
            const auto answer = std::current_exception();
            std::vector<RowRoom> none(rooms_.size());
            try {
                place(none);
            } catch (const DoesNotFit&) {
                std::rethrow_exception(answer);
            }
            rooms_ = std::move(none);
        }
    }

    /// After place_first().
    void plan(exchange_plan::KnownSchedules& known) {
        while (true) {
            exchanges = plan_exchanges(machine_, places, steps_, last_, known);
            if (const RowBlocks needed = lay_out_rows(machine_, exchanges.homes.rooms);
                move_rows(machine_, placing, needed.blocks)) {
                rows = needed;
                return;
            }
            if (have_room(exchanges.homes.rooms, rooms_)) {
                return;
            }
            for (std::size_t i = 0; i < rooms_.size(); ++i) {
                rooms_[i].bytes = std::max(rooms_[i].bytes, exchanges.homes.rooms[i].bytes);
                rooms_[i].last = std::max(rooms_[i].last, exchanges.homes.rooms[i].last);
            }
            place(rooms_);
        }
    }

private:
    void place(std::span<const RowRoom> rooms) {
        rows = lay_out_rows(machine_, rooms);
        placing = lower::place(machine_, graph_, needs_, {code_, rows.blocks}, names_);
    }

    const spec::MachineSpec& machine_;
    const graph::Graph& graph_;
    const Steps& steps_;
    std::vector<std::string> names_;
    std::vector<Need> needs_;
    Bytes code_;
    std::vector<std::uint32_t> last_; ///< by exchange of the program
    std::vector<RowRoom> rooms_;      ///< likewise

public:
    Placing placing;
    Places places;
    Exchanges exchanges;
    RowBlocks rows;
};

namespace {

/// Tells rows where they stand.
void place_rows(const Fitting& fitting, program::Program& program) {
    const auto& of_row = fitting.exchanges.homes.of_row;
    for (std::size_t exchange = 0; exchange < program.exchanges.size(); ++exchange) {
        auto& rows = program.exchanges[exchange].rows;
        for (std::size_t row = 0; row < rows.size(); ++row) {
            const auto& [block, offset] = fitting.rows.of_exchange[of_row[exchange][row]];
            rows[row].address = fitting.placing.rows[block] + static_cast<Address>(offset);
        }
    }
}

/// Tells compute sets where their stubs stand.
Stubs place_stubs(const spec::MachineSpec& machine, const CodeZone& zone,
                  std::vector<program::ComputeSet>& sets) {
    Stubs stubs = make_stubs(sets, machine.memory.region0_begin());
    for (std::size_t set = 0; set < sets.size(); ++set) {
        auto code = stubs.code[set].begin();
        for (auto& tile : sets[set].tiles) {
            tile.stub = *code++ == nullptr ? 0 : zone.stubs[set];
        }
    }
    return stubs;
}

} // namespace

namespace {

/// Notes the exchanges that run however words decide.
void note_exchanges(const program::Step& step, std::vector<bool>& runs) {
    using Kind = program::Step::Kind;
    if (step.kind == Kind::Exchange) {
        runs[step.index] = true;
    }
    if (step.kind == Kind::While || step.kind == Kind::If) {
        return;
    }
    for (const program::Step& child : step.children) {
        note_exchanges(child, runs);
    }
}

/// Adds what an exchange takes whose longest row has `events`.
void add_exchange(const spec::MachineSpec& machine, program::Role role, Cycles events,
                  plan::PredictedCycles& predicted) {
    const Cycles rows = plan::row_overhead(machine.exchange) + events;
    predicted.exchange += rows;
    predicted.sync += machine.sync.internal_cycles;
    if (role == program::Role::Reduce) {
        predicted.reduction += rows + machine.sync.internal_cycles;
    }
}

} // namespace

plan::PredictedCycles predicted_exchanges(const spec::MachineSpec& machine,
                                          const Lowered& lowered) {
    std::vector<bool> runs(lowered.exchanges.size());
    note_exchanges(lowered.program.control, runs);
    plan::PredictedCycles predicted;
    for (std::size_t i = 0; i < lowered.exchanges.size(); ++i) {
        if (runs[i]) {
            add_exchange(machine, lowered.program.exchanges[i].role,
                         lowered.exchanges[i].longest_row_events, predicted);
        }
    }
    return predicted;
}

/// What is known of a graph before its exchanges are planned.
struct PlacedGraph::Parts {
    Parts(const spec::MachineSpec& on, graph::Graph of)
        : machine(on), graph(closed(on, std::move(of))), last(last_runs(graph)),
          state(lay_out_state(graph, last)), codelets(on, graph), steps(checked_steps(*this)),
          zone(code_zone(*this)), fitting(machine, graph, state, steps, codelets, zone.bytes) {
        std::vector<std::uint32_t> last_of_exchange;
        for (const std::uint32_t number : steps.exchanges) {
            last_of_exchange.push_back(last[number_of(graph, graph::ExchangeId{number})]);
        }
        fitting.place_first(std::move(last_of_exchange));
    }

    static graph::Graph closed(const spec::MachineSpec& machine, graph::Graph graph) {
        check_tiles(machine, graph);
        hold_once(graph);
        graph.close();
        return graph;
    }
    static Steps checked_steps(const Parts& parts) {
        check_symbols(parts.graph, parts.codelets.codelet());
        return number_steps(parts.graph);
    }
    static CodeZone code_zone(const Parts& parts) {
        const auto nowhere = [](const graph::TilePlace&) { return Address{0}; };
        return lay_out_code(
            parts.machine, parts.codelets.bytes(), stub_bytes(parts.graph, parts.steps),
            control_bytes(parts.machine.control, bound_control(parts.graph, parts.steps, nowhere)));
    }

    const spec::MachineSpec& machine;
    graph::Graph graph;
    std::vector<std::uint32_t> last; ///< by step, when it runs last
    State state;
    CodeletLibrary codelets;
    Steps steps;
    CodeZone zone;
    Fitting fitting;
};

PlacedGraph::PlacedGraph(const spec::MachineSpec& machine, graph::Graph graph)
    : parts_(std::make_unique<Parts>(machine, std::move(graph))) {}
PlacedGraph::~PlacedGraph() = default;
PlacedGraph::PlacedGraph(PlacedGraph&&) noexcept = default;
PlacedGraph& PlacedGraph::operator=(PlacedGraph&&) noexcept = default;

plan::PredictedCycles PlacedGraph::least_exchanges() const {
    plan::PredictedCycles predicted;
    for (const std::uint32_t number : parts_->steps.exchanges) {
        const graph::Exchange& exchange = parts_->graph.exchanges[number];
        const auto transfers = bound_transfers(parts_->fitting.places, exchange);
        add_exchange(parts_->machine, exchange.role,
                     timing::exchange_bound(parts_->machine, transfers).cycles(), predicted);
    }
    return predicted;
}

Bytes PlacedGraph::quick_row_bytes() const {
    constexpr exchange_plan::SearchEffort kFirst{
        .attempts = 0, .late_first = 0, .most_late_first = 0, .looks = 0};
    Bytes bytes = 0;
    for (const std::uint32_t number : parts_->steps.exchanges) {
        const graph::Exchange& exchange = parts_->graph.exchanges[number];
        const auto transfers = bound_transfers(parts_->fitting.places, exchange);
        bytes += exchange_plan::plan_exchange_with_stats(parts_->machine, exchange.name, transfers,
                                                         nullptr, kFirst)
                     .stats.longest_row_bytes;
    }
    return bytes;
}

Bytes PlacedGraph::bytes_without_rows() const {
    Bytes bytes = parts_->fitting.placing.bytes_used;
    for (const RowBlock& block : parts_->fitting.rows.blocks) {
        bytes -= block.bytes;
    }
    return bytes;
}

Lowered PlacedGraph::lower(exchange_plan::KnownSchedules& known) && {
    auto& [machine, graph, last, state, codelets, steps, zone, fitting] = *parts_;
    fitting.plan(known);

    const Places& places = fitting.places;
    Lowered lowered;
    program::Program& program = lowered.program;
    program.name = graph.name;
    BoundSets sets = bound_sets(places, steps, static_cast<std::size_t>(machine.chip.tiles));
    program.compute_sets = std::move(sets.sets);
    program.vertex_names = std::move(sets.vertex_names);
    program.scattered = std::move(sets.scattered);
    const Stubs stubs = place_stubs(machine, zone, program.compute_sets);
    program.exchanges = std::move(fitting.exchanges.all);
    place_rows(fitting, program);
    make_images(program, places, zone, stubs, fitting.exchanges.homes,
                static_cast<std::size_t>(machine.chip.tiles));
    program.codelets.push_back(codelets.codelet());
    for (graph::Tensor& tensor : graph.tensors) {
        program.tensors.push_back(bound_tensor(places, std::move(tensor)));
    }
    program.control = bound_control(graph, steps, [&](const graph::TilePlace& word) {
        return places.of(word.tile, word.place());
    });
    program.remote_buffers = graph.remote_buffers;
    program.io_tiles = graph.io_tiles;
    for (const graph::StreamCopy& copy : graph.stream_copies) {
        program.stream_copies.push_back(bound_copy(places, copy));
    }
    for (const graph::LinkExchange& exchange : graph.link_exchanges) {
        program.link_exchanges.push_back(bound_link_exchange(places, exchange));
    }
    DeclaredListener::tell(program, places, steps, static_cast<std::size_t>(machine.chip.tiles));
    lowered.exchanges = std::move(fitting.exchanges.stats);
    lowered.steps = std::move(steps);
    lowered.bytes_by_buffer = fitting.placing.bytes_by_buffer;
    lowered.bytes_used = fitting.placing.bytes_used;
    return lowered;
}

Lowered lower(const spec::MachineSpec& machine, graph::Graph graph) {
    exchange_plan::KnownSchedules known;
    return lower(machine, std::move(graph), known);
}

Lowered lower(const spec::MachineSpec& machine, graph::Graph graph,
              exchange_plan::KnownSchedules& known) {
    return PlacedGraph(machine, std::move(graph)).lower(known);
}

} // namespace tessera::lower
