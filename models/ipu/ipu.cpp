// SPDX-License-Identifier: MIT
#include "models/ipu/ipu.h"

#include "base/activity.h"
#include "base/error.h"
#include "models/exchange/core/fabric.h"
#include "models/timing/link_timing.h"

#include <fmt/format.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <string>
#include <tuple>
#include <utility>

namespace tessera::ipu {

/// Host threads that run tiles; the calling thread is one of them.
struct Ipu::HostThreads {
    explicit HostThreads(int threads)
        : limit(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads)),
          arena(threads) {}

    template <class Body> void for_each(std::size_t items, const Body& body) {
        arena.execute([&] {
            tbb::parallel_for(std::size_t{0}, items, [&](std::size_t item) { body(item); });
        });
    }

    tbb::global_control limit; // without it TBB keeps to the number of cores, and says so on stderr
    tbb::task_arena arena;
};

Ipu::Ipu(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
         const program::Program& program, RunOptions options)
    : sc_module(name), spec_(spec), program_(program), options_(std::move(options)),
      cycle_period_(1, sc_core::SC_NS),
      host_threads_(std::make_unique<HostThreads>(options_.threads)), memory_(spec),
      code_(program.codelets), fabric_("exchange_fabric", spec, program.exchanges, cycle_period_),
      sync_unit_("sync_unit", spec, spec.chip.tiles, cycle_period_), remote_memory_(spec, program),
      copies_(spec, program),
      streaming_memory_("streaming_memory", timing::streaming_link(spec), cycle_period_),
      host_("host", timing::host_link(spec), cycle_period_),
      control_(program, spec.control.while_limit_rounds), account_(program, spec.chip.tiles) {
    check_program();
    steps_total_ = expected_steps(program);
    make_tiles();
    fabric_.out_end.bind(*this);
    sync_unit_.out_release.bind(*this);
    streaming_memory_.out_end.bind(*this);
    host_.out_end.bind(*this);
    if (options_.sink != nullptr) {
        TESSERA_ASSERT(options_.names != nullptr);
        trace_.emplace(program, spec.chip.tiles, *options_.sink, *options_.names);
    }
    prepare_exchanges();
    SC_HAS_PROCESS(Ipu);
    SC_METHOD(on_control);
    sensitive << ev_phase_ended_;
}

Ipu::~Ipu() = default;

void Ipu::check_finished() const {
    if (failure_ != nullptr) {
        std::rethrow_exception(failure_);
    }
    TESSERA_ASSERT(finished_);
}

void Ipu::check_program() const {
    const auto tiles = static_cast<std::size_t>(spec_.chip.tiles);
    if (program_.image_of_tile.size() > tiles) {
        throw ProgramError(fmt::format("program {}: got images for {} tiles, expected at most {}",
                                       program_.name, program_.image_of_tile.size(), tiles));
    }
    for (const auto& set : program_.compute_sets) {
        for (std::size_t tile = 0; tile < set.tiles.size(); ++tile) {
            const bool holds_code = tile < program_.image_of_tile.size() &&
                                    program_.image_of_tile[tile] != program::Program::kNoImage;
            if (set.tiles[tile].stub != 0 && !holds_code) {
                throw ProgramError(
                    fmt::format("compute set {}: tile_{} has a stub but no image", set.name, tile));
            }
        }
    }
    check_control(program_);
}

void Ipu::make_tiles() {
    for (TileId tile = 0; tile < static_cast<TileId>(spec_.chip.tiles); ++tile) {
        auto& module =
            tiles_.emplace_back(("tile_" + std::to_string(tile)).c_str(), tile, cycle_period_);
        module.out_end.bind(*this);
        if (tile < program_.image_of_tile.size() &&
            program_.image_of_tile[tile] != program::Program::kNoImage) {
            module.load(spec_, program_.images.at(program_.image_of_tile[tile]), code_,
                        memory_.of_tile(tile));
        }
    }
}

void Ipu::prepare_exchanges() {
    const auto read_row = [this](TileId tile, Address address, std::span<std::uint32_t> words) {
        const auto bytes = static_cast<Bytes>(words.size_bytes());
        std::memcpy(words.data(), memory_.at(tile, address, bytes), words.size_bytes());
    };
    const Activity checking("checking the rows of exchange",
                            static_cast<std::int64_t>(program_.exchanges.size()));
    host_threads_->for_each(program_.exchanges.size(), [&](std::size_t index) {
        checking.step();
        fabric_.prepare(static_cast<std::uint32_t>(index), read_row);
    });
}

void Ipu::on_control() {
    try {
        advance();
    } catch (...) {
        // SystemC would turn it into a report and lose its type.
        failure_ = std::current_exception();
        sc_core::sc_stop();
    }
}

void Ipu::advance() {
    if (next_) {
        std::exchange(next_, {})();
        return;
    }
    if (const program::Step* ended = std::exchange(running_step_, nullptr)) {
        options_.ended(*ended);
    }
    Visit visit = postponed_ ? *std::exchange(postponed_, {}) : control_.next();
    while (visit.kind == Visit::Kind::Round || visit.kind == Visit::Kind::Called) {
        control_cost_ += visit.kind == Visit::Kind::Round ? spec_.control.repeat_cycles
                                                          : spec_.control.call_cycles;
        visit = control_.next();
    }
    if (control_cost_ > 0) {
        postponed_ = visit;
        begin_control();
        return;
    }
    if (visit.kind == Visit::Kind::Decide) {
        decide(*visit.step);
        return;
    }
    if (options_.progress) {
        options_.progress(steps_done_, std::max(steps_total_, steps_done_), account_.cycles());
    }
    if (visit.kind == Visit::Kind::End) {
        copies_.check_end(account_.cycles());
        finished_ = true;
        return;
    }
    ++steps_done_;
    begin(*visit.step);
}

void Ipu::begin(const program::Step& step) {
    using Kind = program::Step::Kind;
    if (options_.ended && (step.kind == Kind::ComputeSet || step.kind == Kind::Exchange)) {
        running_step_ = &step;
    }
    switch (step.kind) {
    case Kind::ComputeSet:
        begin_compute(step.index);
        return;
    case Kind::Exchange:
        begin_sync(program::SyncZone::Internal,
                   [this, index = step.index] { begin_exchange(index); });
        return;
    case Kind::Sync:
        begin_sync(step.zone, {});
        return;
    default:
        begin_stream_step(step);
    }
}

void Ipu::begin_control() {
    const Cycles begin = account_.cycles();
    const Cycles cycles = std::exchange(control_cost_, 0);
    account_.control_phase(cycles);
    record_for_all(traces::Kind::Compute, "control", begin);
    ev_phase_ended_.notify(time_of(cycles));
}

void Ipu::decide(const program::Step& step) {
    learn(*step.value, [this](std::uint32_t word) {
        control_cost_ += spec_.control.branch_cycles;
        control_.decide(word != 0);
        advance();
    });
}

void Ipu::learn(const program::TileValue& value, std::function<void(std::uint32_t)> next) {
    const TileRange word{value.tile, value.address, 4};
    copies_.check_ranges("a control step", {&word, 1}, account_.cycles());
    begin_sync(program::SyncZone::Internal, [this, value, next = std::move(next)] {
        const Cycles begin = account_.cycles();
        const Cycles cycles = exchange::broadcast_cycles(spec_, value.tile);
        account_.broadcast_phase(cycles);
        record_for_all(traces::Kind::Exchange, "control value", begin);
        next_ = [this, value, next] { next(word_at(value)); };
        ev_phase_ended_.notify(time_of(cycles));
    });
}

void Ipu::record_for_all(traces::Kind kind, const char* name, Cycles begin) {
    if (trace_) {
        trace_->barrier({.kind = kind,
                         .name = name == nullptr ? traces::kUnnamed : options_.names->intern(name),
                         .role = traces::kUnnamed,
                         .begin = begin,
                         .end = account_.cycles(),
                         .bytes = 0,
                         .step = steps_done_});
    }
}

void Ipu::begin_compute(std::uint32_t index) {
    const auto& set = program_.compute_sets[index];
    copies_.check_compute(set, account_.cycles());
    active_.clear();
    for (TileId tile = 0; tile < static_cast<TileId>(set.tiles.size()); ++tile) {
        if (set.tiles[tile].stub != 0) {
            active_.push_back(tile);
        }
    }
    run_tiles(set);
    record_compute(index);
    running_ = active_.size();
    for (const TileId tile : active_) {
        tiles_[tile].start(spec_.control.step_cycles);
    }
    if (active_.empty()) {
        ev_phase_ended_.notify(time_of(spec_.control.step_cycles));
    }
}

void Ipu::run_tiles(const program::ComputeSet& set) {
    const Activity computing("tile", static_cast<std::int64_t>(active_.size()));
    host_threads_->for_each(active_.size(), [&](std::size_t item) {
        computing.step();
        const TileId tile = active_[item];
        tiles_[tile].compute(set.tiles[tile].stub, trace_ && trace_->wants_contexts(tile));
    });
    throw_first_failure();
}

void Ipu::throw_first_failure() const {
    // Of several faults the one with the least (cycle, tile, worker) is told, however the host's
    // threads ran.
    std::optional<tile::Fault> first;
    const auto key = [](const tile::Fault& fault) {
        return std::tuple(fault.cycle, fault.tile, fault.context);
    };
    std::exception_ptr other;
    for (const TileId tile : active_) {
        if (tiles_[tile].failure() == nullptr) {
            continue;
        }
        try {
            std::rethrow_exception(tiles_[tile].failure());
        } catch (const tile::TileFault& fault) {
            if (!first || key(fault.fault()) < key(*first)) {
                first = fault.fault();
            }
        } catch (...) {
            other = other == nullptr ? std::current_exception() : other;
        }
    }
    if (!first) {
        if (other != nullptr) {
            std::rethrow_exception(other);
        }
        return;
    }
    const std::string context =
        first->context < 0 ? std::string("supervisor") : fmt::format("worker_{}", first->context);
    const std::string where =
        first->source_line.empty() ? fmt::format("{:#x}", first->address) : first->source_line;
    const std::string text =
        fmt::format("{}.tile_{}.{} @ {}: {}: {}{}: {}{}{}", name(), first->tile, context,
                    account_.cycles() + spec_.control.step_cycles + first->cycle, where,
                    first->not_modelled ? "not modelled: " : "", first->instruction, first->reason,
                    first->registers.empty() ? "" : "; ", first->registers);
    if (first->not_modelled) {
        throw NotModelled(text);
    }
    throw ProgramError(text);
}

void Ipu::record_compute(std::uint32_t index) {
    shares_.clear();
    Cycles longest = spec_.control.step_cycles;
    Cycles bound = 0;
    for (const TileId tile : active_) {
        const auto& outcome = tiles_[tile].outcome();
        shares_.push_back({tile, spec_.control.step_cycles + outcome.cycles});
        longest = std::max(longest, shares_.back().cycles);
        // One issue a cycle, whoever makes it, and of a worker one in a round.
        const std::int64_t most_of_worker =
            (outcome.worker_issues + spec_.tile.workers - 1) / spec_.tile.workers;
        bound = std::max({bound, outcome.worker_issues + outcome.supervisor_instructions,
                          (most_of_worker - 1) * spec_.tile.round_cycles() + 1});
    }
    const Cycles begin = account_.cycles();
    StepRecord& record = account_.compute_phase(index, longest, shares_);
    record.bound_cycles += bound;
    for (const TileId tile : active_) {
        const auto& outcome = tiles_[tile].outcome();
        record.worker_issues += outcome.worker_issues;
        record.worker_bundles += outcome.worker_bundles;
        record.supervisor_instructions += outcome.supervisor_instructions;
    }
    if (trace_) {
        trace_->phase({.kind = traces::Kind::Compute,
                       .name = trace_->compute_set(index).name,
                       .role = trace_->compute_set(index).role,
                       .begin = begin,
                       .end = begin + longest,
                       .bytes = 0,
                       .step = steps_done_},
                      shares_, account_.streaming_until());
        for (const TileId tile : active_) {
            trace_->contexts(tile, begin + spec_.control.step_cycles, tiles_[tile].spans());
        }
    }
}

void Ipu::begin_sync(program::SyncZone zone, std::function<void()> next) {
    next_ = std::move(next);
    const Cycles begin = account_.cycles();
    account_.sync_phase(sync_unit_.barrier_cycles(zone));
    record_for_all(traces::Kind::Sync, nullptr, begin);
    // Every tile is at the barrier: a phase before it ended at its slowest tile, and idle tiles
    // came by `sans`.
    sync_unit_.arrive(spec_.chip.tiles, zone);
}

void Ipu::begin_exchange(std::uint32_t index) {
    check_exchange(index);
    record_exchange(index, move_data(fabric_.outcome(index)));
    fabric_.start(index);
}

Bytes Ipu::move_data(const exchange::FabricOutcome& outcome) {
    // Runs into one tile stay in their order and on one host thread; nobody sends what it receives
    // in the same phase (the fabric checks it), so tiles do not depend on each other.
    std::vector<std::size_t> starts;
    for (std::size_t run = 0; run < outcome.copies.size(); ++run) {
        if (run == 0 ||
            outcome.copies[run].destination_tile != outcome.copies[run - 1].destination_tile) {
            starts.push_back(run);
        }
    }
    starts.push_back(outcome.copies.size());
    std::vector<Bytes> received(starts.size() - 1);
    host_threads_->for_each(starts.size() - 1, [&](std::size_t group) {
        for (std::size_t run = starts[group]; run < starts[group + 1]; ++run) {
            const auto& copy = outcome.copies[run];
            std::memcpy(memory_.at(copy.destination_tile, copy.destination_address, copy.bytes),
                        memory_.at(copy.source_tile, copy.source_address, copy.bytes),
                        static_cast<std::size_t>(copy.bytes));
            received[group] += copy.bytes;
        }
    });
    return std::accumulate(received.begin(), received.end(), Bytes{0});
}

void Ipu::record_exchange(std::uint32_t index, Bytes bytes) {
    const auto& outcome = fabric_.outcome(index);
    shares_.clear();
    for (std::size_t i = 0; i < outcome.tiles.size(); ++i) {
        shares_.push_back({outcome.tiles[i], outcome.prologue_cycles + outcome.row_cycles[i]});
    }
    const Cycles begin = account_.cycles();
    const Cycles longest = outcome.phase_cycles();
    StepRecord& record = account_.exchange_phase(index, longest, shares_);
    record.bytes += bytes;
    record.sent_bytes += 4 * outcome.words_sent;
    record.bound_cycles += outcome.bound_cycles;
    if (trace_) {
        trace_->phase({.kind = traces::Kind::Exchange,
                       .name = trace_->exchange(index).name,
                       .role = trace_->exchange(index).role,
                       .begin = begin,
                       .end = begin + longest,
                       .bytes = bytes,
                       .step = steps_done_},
                      shares_, account_.streaming_until());
    }
}

void Ipu::compute_ended(TileId /*tile*/) {
    TESSERA_ASSERT(running_ > 0);
    if (--running_ == 0) {
        ev_phase_ended_.notify(sc_core::SC_ZERO_TIME);
    }
}

void Ipu::exchange_ended() {
    ev_phase_ended_.notify(sc_core::SC_ZERO_TIME);
}

void Ipu::released() {
    ev_phase_ended_.notify(sc_core::SC_ZERO_TIME);
}

sc_core::sc_time Ipu::time_of(Cycles cycles) const {
    return sc_core::sc_time::from_value(cycle_period_.value() *
                                        static_cast<sc_core::sc_time::value_type>(cycles));
}

} // namespace tessera::ipu
