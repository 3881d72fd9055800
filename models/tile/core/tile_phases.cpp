// SPDX-License-Identifier: MIT
// How a compute phase runs: with all data, in timing mode on what is known, and slot by slot where
// contexts wait for each other.
#include "base/error.h"
#include "models/isa/decoded_program.h"
#include "models/isa/engine.h"
#include "models/tile/core/section_classes.h"
#include "models/tile/core/tile_core_implementation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

namespace tessera::tile {
namespace {

constexpr unsigned kLinkRegister = 10;
constexpr unsigned kStackRegister = 11;

/// $m0..$m11: what a phase finds in them. Launches leave them as they are.
constexpr std::uint32_t kAllUnknown = 0xfff;

} // namespace

ComputeOutcome TileCore::Implementation::run(Address stub, std::vector<ContextSpan>* recorded) {
    const isa::FpEnvironment rounding;
    phase_stub = stub;
    outcome = ComputeOutcome{};
    worker_issues = 0;
    supervisor_jumps.begin();
    worker_jumps.begin();
    spans = recorded;
    worker_fault.reset();
    draft = nullptr;
    sections_begun = 0;
    now = 0;
    ready.fill(0);
    weight_address_ready = 0;
    slots.clear();
    std::fill(launch_issues.begin(), launch_issues.end(), 0);
    supervisor.taken = false;
    supervisor.issues = 0;
    supervisor.start_cycle = 0;
    supervisor.target = stub;
    supervisor.program = nullptr;
    supervisor.main[kLinkRegister] = 0;
    supervisor.main[kStackRegister] = stack_end;
    for (isa::Context& worker : workers) {
        worker.unknown = kAllUnknown;
        worker.by_round = 0;
    }
    supervisor.by_round = 0;
    supervisor.unknown = kAllUnknown & ~(1U << kLinkRegister) & ~(1U << kStackRegister);
    try {
        supervise();
    } catch (const isa::ExecutionFault& fault) {
        fault_of(supervisor, fault, supervisor.start_cycle);
    }
    if (slots.any_held(outcome.cycles)) {
        fault_of(supervisor,
                 {"the phase ends while a worker is active: sync first", false, nullptr},
                 outcome.cycles);
    }
    end_launch();
    count_instructions();
    return outcome;
}

void TileCore::Implementation::count_instructions() {
    using counts::Class;
    using counts::Group;
    const isa::JumpLog::Taken of_workers = worker_jumps.take();
    isa::JumpLog::Taken of_supervisor = supervisor_jumps.take();
    for (std::size_t kind = 0; kind < counts::kClasses.size(); ++kind) {
        std::int64_t& bundles = of_supervisor.counts[number_of(Group::WorkerBundles, kind)];
        outcome.counts.at(Group::SupervisorInstructions, kind) = std::exchange(bundles, 0);
        of_supervisor.counts[number_of(Group::WorkerIssues, kind)] = 0;
    }
    of_supervisor.counts[number_of(Group::WorkerFullBundles, counts::Only::All)] = 0;
    outcome.counts.add(of_workers.counts);
    outcome.counts.add(of_supervisor.counts);
    outcome.counts.at(Group::WorkerIssues, Class::Control) +=
        of_workers.unaligned * spec->tile.unaligned_bundle_issues;
    // Steps that share an issue are counted with one each.
    const std::int64_t shared = outcome.counts.worker_issues() - worker_issues;
    TESSERA_ASSERT(shared == 0 || machine_target.steps_sharing > 1);
    outcome.counts.at(Group::WorkerIssues, Class::Matrix) -= shared;
}

void TileCore::Implementation::take_code_from(const Implementation& other) {
    code = other.code;
    programs = other.programs;
    take_programs();
    stack_end = other.stack_end;
    memory = other.memory;
}

/// Of contexts, weights and registers; memory is shared.
void TileCore::Implementation::take_state_from(const Implementation& other) {
    const auto take = [this](isa::Context& to, const isa::Context& from) {
        isa::AccessLog* const log = to.log;
        isa::JumpLog* const jump_log = to.jump_log;
        const bool rows_at_once = to.rows_at_once;
        to = from;
        attach(to);
        to.programs = programs;
        to.log = log;
        to.jump_log = jump_log;
        to.rows_at_once = rows_at_once;
    };
    take(supervisor, other.supervisor);
    for (std::size_t n = 0; n < workers.size(); ++n) {
        take(workers[n], other.workers[n]);
    }
    weights = other.weights;
    registers = other.registers;
}

/// Code with wait loops costs a copy of the tile's memory a phase, until a phase has been seen to
/// wait: the phase then runs slot by slot at once.
template <class Run> void TileCore::Implementation::run_in_order(Address stub, const Run& run) {
    if (!has_wait_loops) {
        run(*this);
        return;
    }
    if (slot_by_slot == nullptr) {
        slot_by_slot = make_slot_by_slot(*spec, tile, memory.bytes);
        slot_by_slot->take_code_from(*this);
        slot_by_slot->timing = timing;
    }
    slot_by_slot->vertices = vertices;
    slot_by_slot->take_state_from(*this);
    if (std::find(met_in.begin(), met_in.end(), stub) == met_in.end()) {
        thread_local std::vector<std::byte> before;
        before.assign(memory.bytes, memory.bytes + memory.span_bytes);
        try {
            run(*this);
            return;
        } catch (const isa::ContextsMeet&) {
            met_in.push_back(stub);
        }
        std::memcpy(memory.bytes, before.data(), before.size());
    }
    run(*slot_by_slot);
    take_state_from(*slot_by_slot);
}

ComputeOutcome TileCore::Implementation::run_ordered(Address stub, std::vector<ContextSpan>* to) {
    const std::size_t known_spans = to == nullptr ? 0 : to->size();
    ComputeOutcome done;
    run_in_order(stub, [&](Implementation& on) {
        if (to != nullptr) {
            to->resize(known_spans);
        }
        done = on.run_phase(stub, to);
    });
    return done;
}

void TileCore::Implementation::run_shadow(Address stub, isa::ShadowMemory& shadow,
                                          PhaseResult& result) {
    shadow.begin(timing->known.words_of_tile(), memory.base, memory.bytes,
                 timing->known.of_tile(tile), &timing->known.shared(tile),
                 &timing->known.rounds(tile));
    supervisor.shadow = &shadow;
    for (isa::Context& worker : workers) {
        worker.shadow = &shadow;
    }
    engine = &isa::shadow_engine();
    result.outcome = run_phase(stub, timing->keeps_contexts ? &result.contexts : nullptr);
    result.registers = timing->classes.registers_number(registers);
    result.lost = shadow.lost();
    result.stored = shadow.stored();
    result.unknown_addresses = shadow.unknown_addresses;
    result.knows_rounds = shadow.knows_rounds();
    for (const program::WordRange& range : result.stored) {
        const std::size_t end = result.stored_values.size();
        result.stored_values.resize(end + range.count);
        std::memcpy(&result.stored_values[end], memory.bytes + std::size_t{range.first} * 4,
                    std::size_t{range.count} * 4);
    }
}

void TileCore::Implementation::take_over(const PhaseResult& result) {
    ++known_facts.phases;
    known_facts.unknown_addresses += result.unknown_addresses;
    known_facts.rounds_met += result.knows_rounds ? 1 : 0;
    program::TileWords& known = timing->known.of_tile(tile);
    const std::uint32_t* value = result.stored_values.data();
    for (const program::WordRange& range : result.stored) {
        std::memcpy(memory.bytes + std::size_t{range.first} * 4, value,
                    std::size_t{range.count} * 4);
        value += range.count;
        known.set(range);
        timing->known.changed(tile, range);
    }
    for (const program::WordRange& range : result.lost) {
        known.clear(range);
        timing->known.changed(tile, range);
    }
    if (result.registers != registers_number) {
        registers = timing->classes.registers(result.registers);
        registers_number = result.registers;
    }
}

ComputeOutcome TileCore::Implementation::run_known(Address stub, std::vector<ContextSpan>* to,
                                                   std::span<const program::Vertex> called) {
    thread_local isa::ShadowMemory shadow;
    TileClasses::Found found = timing->classes.find(
        {stub, stack_end, code_number, registers_number},
        {memory.bytes, &timing->known.of_tile(tile), &timing->known.shared(tile), tile, called});
    PhaseResult own;
    const PhaseResult* result = found.result;
    if (result == nullptr || audited) {
        shadow.every_pass = audited;
        if (timing->sections != nullptr && timing->sections->compares_all()) {
            found.keeps = false;
        }
        shadow.notes_reads = found.keeps;
        const bool any_scatters = std::any_of(called.begin(), called.end(), [](const auto& vertex) {
            return vertex.scatters != program::Vertex::kNowhere;
        });
        vertices = any_scatters ? called : std::span<const program::Vertex>();
        by_sections = timing->sections != nullptr && !shadow.notes_reads && !audited &&
                      !any_scatters && !has_wait_loops && machine_target.steps_sharing == 1;
        program::TileWords& known = timing->known.of_tile(tile);
        const auto kept = has_wait_loops ? known.kept() : std::vector<std::uint64_t>();
        run_in_order(stub, [&](Implementation& on) {
            if (has_wait_loops) {
                known.restore(kept);
                own = PhaseResult{};
            }
            on.run_shadow(stub, shadow, own);
        });
        if (result != nullptr && !(own == *result)) {
            throw std::logic_error(fmt::format(
                "tile_{}: timing mode counted a compute set of {} cycles that takes {} where it is "
                "run (audit)",
                tile, result->outcome.cycles, own.outcome.cycles));
        }
        result = &own;
    }
    if (to != nullptr) {
        to->insert(to->end(), result->contexts.begin(), result->contexts.end());
    }
    take_over(*result);
    const ComputeOutcome done = result->outcome;
    if (found.result == nullptr) {
        timing->classes.add(found, shadow.reads(), std::move(own), sections_begun);
    }
    return done;
}

} // namespace tessera::tile
