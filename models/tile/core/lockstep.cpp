// SPDX-License-Identifier: MIT
#include "models/tile/core/lockstep.h"

#include "models/isa/decoded_program.h"
#include "models/isa/shadow.h"
#include "models/isa/stepped_engine.h"
#include "models/tile/core/race_detector.h"
#include "models/tile/core/read_use.h"
#include "models/tile/core/standstill.h"
#include "models/tile/core/tile_core_implementation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

namespace tessera::tile {
namespace {

/// What a worker does next.
struct Lane {
    bool active = false;
    const isa::MicroOperation* operation = nullptr; ///< null before the first issue
    Cycles next_issue = 0;
    std::int64_t issues = 0; ///< of this launch, with the penalties of branches
    std::int64_t executed = 0;
    std::size_t span = 0;              ///< index of its ContextSpan
    isa::ShadowMemory::Running vertex; ///< in timing mode
    bool was_step = false; ///< the instruction before was a step that others may share the issue of
};

/// Where steps may share issues: whether an instruction or bundle with a step begins here.
bool is_step(const isa::MicroOperation* operation) {
    return operation != nullptr &&
           operation->code == static_cast<std::uint16_t>(isa::Internal::Step);
}

} // namespace

struct LockstepTile::Implementation final : TileCore::Implementation {
    Implementation(const spec::MachineSpec& machine, TileId tile_id, std::byte* bytes,
                   LockstepOptions lockstep_options)
        : TileCore::Implementation(machine, tile_id, bytes), options(lockstep_options),
          lanes(workers.size()), races(memory, workers.size(), lockstep_options.listed_races),
          reads(memory, workers.size(), races), standstill(workers.size()) {
        engine = &isa::observed_engine().engine;
        log.conflicts_fault = options.on_conflict == OnConflict::Fault;
        supervisor.log = &log;
        for (isa::Context& worker : workers) {
            worker.log = &log;
            worker.rows_at_once = false;
        }
    }

    ComputeOutcome run_phase(Address stub, std::vector<ContextSpan>* recorded) override;
    void supervise() override;
    void start(std::size_t number) override;
    void wait_for_workers() override { syncing = true; }
    void await(const isa::MicroOperation&) override {}

    [[nodiscard]] std::optional<StallReason> waits_for(const isa::MicroOperation& op, Cycles cycle);
    const isa::MicroOperation* step_supervisor(const isa::MicroOperation& op, Cycles cycle);
    void take_turn(std::size_t number, Cycles cycle);
    void step_worker(std::size_t number, Cycles cycle, bool shares_issue);
    void exit_worker(std::size_t number, Cycles cycle);
    void drain_log(const isa::Context& context, Cycles cycle, Address pc);
    void drain_trail(int context, Address pc);
    void note_read(int context, Address pc, Address address);
    void note_access(int context, Address pc, const isa::MemoryAccess& access);
    void branched(const isa::Context& context, Address pc, Cycles cycle);
    [[nodiscard]] std::vector<int> all_that_go_round() const;
    /// Ends the run where all contexts go round for nothing.
    void check_standstill(Cycles cycle) const;
    void supervisor_waits(StallReason reason, Cycles cycle, Address address);
    void end_supervisor_wait();

    LockstepOptions options;
    isa::AccessLog log;
    std::vector<Lane> lanes;
    RaceDetector races;
    ReadUse reads;
    Standstill standstill;
    std::vector<Conflict> conflicts;
    std::int64_t conflicts_found = 0;
    LockstepObserver* observer = nullptr;
    std::int64_t bundles_taken = 0;      ///< by workers in the running phase
    std::int64_t instructions_taken = 0; ///< by the supervisor
    bool syncing = false;
    StallRecord waiting; ///< of the supervisor, while it goes on
};

ComputeOutcome LockstepTile::Implementation::run_phase(Address stub,
                                                       std::vector<ContextSpan>* recorded) {
    std::fill(lanes.begin(), lanes.end(), Lane{});
    races.start_phase();
    standstill.start_phase();
    conflicts.clear();
    conflicts_found = 0;
    bundles_taken = 0;
    instructions_taken = 0;
    syncing = false;
    waiting = StallRecord{};
    if (supervisor.shadow != nullptr) {
        supervisor.shadow->watch_pass();
    }
    try {
        const ComputeOutcome done = run(stub, recorded);
        TESSERA_ASSERT(done.counts.worker_bundles() == bundles_taken &&
                       done.counts.supervisor_instructions() == instructions_taken);
        races.end_phase();
        return done;
    } catch (const TileFault&) {
        races.end_phase();
        end_supervisor_wait(); // up to the fault
        throw;
    }
}

void LockstepTile::Implementation::supervise() {
    const isa::MicroOperation* op = settle(jump(supervisor.target, nullptr));
    Address address = supervisor.target;
    for (Cycles cycle = 0; op != nullptr || cycle < outcome.cycles; ++cycle) {
        const auto slot = static_cast<std::size_t>(cycle % round);
        if (slot < lanes.size() && lanes[slot].active && lanes[slot].next_issue == cycle) {
            take_turn(slot, cycle);
        }
        if (op == nullptr) {
            supervisor_waits(StallReason::Branch, cycle, address);
            continue;
        }
        address = supervisor.program->address_of_operation(*op);
        if (const std::optional<StallReason> reason = waits_for(*op, cycle)) {
            supervisor_waits(*reason, cycle, address);
        } else {
            op = step_supervisor(*op, cycle);
        }
    }
    end_supervisor_wait();
}

/// Why the supervisor cannot issue in this clock, if it cannot.
std::optional<StallReason> LockstepTile::Implementation::waits_for(const isa::MicroOperation& op,
                                                                   Cycles cycle) {
    if (syncing) {
        if (slots.any_held(cycle)) {
            return StallReason::Sync;
        }
        syncing = false;
        end_launch();
        races.synchronised();
    }
    if (cycle < now) {
        return StallReason::Branch;
    }
    const auto index = static_cast<std::size_t>(&op - supervisor.program->operations.data());
    const unsigned read = supervisor.program->main_registers[index].read;
    for (unsigned number = 0; number < ready.size(); ++number) {
        if (((read >> number) & 1U) != 0 && cycle < ready[number]) {
            return StallReason::Dependency;
        }
    }
    const auto opcode = static_cast<isa::Opcode>(op.code);
    const bool loads_weights =
        opcode == isa::Opcode::ld64putcs || opcode == isa::Opcode::ld128putcs;
    if (loads_weights && cycle < weight_address_ready) {
        return StallReason::WeightAddress;
    }
    if (!slots.is_free(cycle)) {
        return StallReason::Slot;
    }
    return std::nullopt;
}

/// The operation behind it, or null where the phase's code returns.
const isa::MicroOperation*
LockstepTile::Implementation::step_supervisor(const isa::MicroOperation& op, Cycles cycle) {
    end_supervisor_wait();
    const Address pc = supervisor.program->address_of_operation(op);
    check_phase_limit(op, cycle);
    now = cycle + 1;
    supervisor.start_cycle = cycle;
    ++instructions_taken;
    if (options.find_races) {
        reads.begin(supervisor, pc);
    }
    try {
        supervisor_operation(op, cycle);
    } catch (const isa::ExecutionFault&) {
        drain_log(supervisor, cycle, pc);
        throw;
    }
    drain_log(supervisor, cycle, pc);
    if (observer != nullptr) {
        observer->issue({-1, cycle, pc, 1});
    }
    note_results(op, cycle);
    if (!supervisor.taken) {
        return settle(&op + 1);
    }
    supervisor.taken = false;
    now = cycle + spec->tile.pipeline_cycles;
    if (supervisor.target == 0) {
        leave(op);
        outcome.cycles = now;
        return nullptr;
    }
    branched(supervisor, pc, cycle);
    return settle(jump(supervisor.target, &op));
}

void LockstepTile::Implementation::start(std::size_t number) {
    const isa::Context& worker = workers[number];
    const Cycles launch_cycle = supervisor.start_cycle;
    Lane& lane = lanes[number];
    lane = Lane{};
    lane.active = true;
    lane.next_issue = worker.start_cycle;
    slots.hold(number, kNever);
    if (supervisor.shadow != nullptr) {
        lane.vertex = supervisor.shadow->running();
    }
    standstill.changed();
    races.launched(static_cast<int>(number), launch_cycle);
    if (observer != nullptr) {
        observer->stall({static_cast<int>(number), launch_cycle, worker.start_cycle - launch_cycle,
                         StallReason::Launch, worker.target});
    }
    if (spans != nullptr) {
        lane.span = spans->size();
        spans->push_back({static_cast<int>(number), worker.target, worker.start_cycle, 0});
    }
}

/// One issue of a worker: an instruction or bundle, or as many successive steps of the matrix unit
/// as share one.
void LockstepTile::Implementation::take_turn(std::size_t number, Cycles cycle) {
    const Lane& lane = lanes[number];
    step_worker(number, cycle, false);
    bool in_a_row = lane.was_step;
    for (std::int64_t steps = 1; in_a_row && steps < machine_target.steps_sharing; ++steps) {
        in_a_row = is_step(lane.operation) && lane.next_issue == cycle + round;
        if (in_a_row) {
            step_worker(number, cycle, true);
        }
    }
}

void LockstepTile::Implementation::step_worker(std::size_t number, Cycles cycle,
                                               bool shares_issue) {
    const isa::SteppedEngine& stepped =
        supervisor.shadow != nullptr ? isa::stepped_shadow_engine() : isa::observed_engine();
    const auto context = static_cast<int>(number);
    isa::Context& worker = workers[number];
    Lane& lane = lanes[number];
    Address pc = worker.target;
    std::int32_t issues = 1;
    if (worker.shadow != nullptr) {
        std::swap(lane.vertex, worker.shadow->running());
    }
    try {
        if (lane.operation == nullptr) {
            lane.operation = stepped.enter(worker);
        }
        const isa::Position position = worker.program->position_of(*lane.operation);
        issues = shares_issue ? 0 : position.issues_upto - position.issues_before;
        lane.was_step = is_step(lane.operation);
        pc = worker.program->address_of_operation(*lane.operation);
        if (options.find_races) {
            reads.begin(worker, pc);
        }
        lane.operation = stepped.step(worker, lane.operation);
    } catch (const isa::ExecutionFault& fault) {
        drain_log(worker, cycle, pc);
        fault_of(worker, fault, cycle);
    }
    if (worker.shadow != nullptr) {
        std::swap(lane.vertex, worker.shadow->running());
    }
    drain_log(worker, cycle, pc);
    ++lane.executed;
    lane.issues += issues;
    if (observer != nullptr) {
        observer->issue({context, cycle, pc, issues});
        if (issues > 1) {
            observer->stall(
                {context, cycle + round, round * (issues - 1), StallReason::MultiCycle, pc});
        }
    }
    if (lane.operation == nullptr) {
        exit_worker(number, cycle);
        return;
    }
    lane.next_issue = cycle + round * std::max(issues, 1);
    if (worker.taken && worker.program->unaligned_bundle(worker.target)) {
        const Cycles penalty = round * worker.unaligned_bundle_issues;
        lane.issues += worker.unaligned_bundle_issues;
        if (observer != nullptr && penalty > 0) {
            observer->stall(
                {context, lane.next_issue, penalty, StallReason::UnalignedBundle, worker.target});
        }
        lane.next_issue += penalty;
    }
    if (worker.taken) {
        branched(worker, pc, cycle);
    }
}

void LockstepTile::Implementation::exit_worker(std::size_t number, Cycles cycle) {
    const isa::Context& worker = workers[number];
    Lane& lane = lanes[number];
    TESSERA_ASSERT(lane.issues == worker.issues);
    lane.active = false;
    standstill.changed();
    slots.hold(number, cycle + spec->tile.pipeline_cycles);
    exited(number, lane.issues);
    bundles_taken += lane.executed;
    if (spans != nullptr) {
        (*spans)[lane.span].end = cycle + 1;
    }
}

/// Takes what the instruction at `pc` did to memory.
void LockstepTile::Implementation::drain_log(const isa::Context& context, Cycles cycle,
                                             Address pc) {
    if (options.find_races) {
        reads.end(context, cycle, pc, log.accesses);
    }
    for (const isa::MemoryAccess& access : log.accesses) {
        note_access(context.number, pc, access);
    }
    log.accesses.clear();
    for (const isa::MemoryConflict& conflict : log.conflicts) {
        ++conflicts_found;
        if (conflicts.size() < options.listed_conflicts) {
            conflicts.push_back({conflict.kind, context.number, cycle, pc, conflict.address});
        }
    }
    log.conflicts.clear();
    if (context.shadow != nullptr) {
        drain_trail(context.number, pc);
    }
}

/// The same in timing mode, where a store of tensor data may change what nobody knows.
void LockstepTile::Implementation::drain_trail(int context, Address pc) {
    std::vector<isa::ShadowMemory::Access>& trail = supervisor.shadow->trail;
    for (const isa::ShadowMemory::Access& access : trail) {
        if (access.writes) {
            standstill.changed();
        } else {
            note_read(context, pc, memory.base + access.offset);
        }
    }
    trail.clear();
}

void LockstepTile::Implementation::note_read(int context, Address pc, Address address) {
    const Address word = address / 4 * 4;
    const bool awaits = std::any_of(programs.begin(), programs.end(), [pc](const auto* one) {
        return std::find(one->awaiting_loads.begin(), one->awaiting_loads.end(), pc) !=
               one->awaiting_loads.end();
    });
    standstill.read(context, {pc, word, awaits || races.synchronises(word)});
}

void LockstepTile::Implementation::note_access(int context, Address pc,
                                               const isa::MemoryAccess& access) {
    if (!access.writes) {
        note_read(context, pc, access.address);
        return;
    }
    const Address word = access.address / 4 * 4;
    const std::size_t touched = access.access_bytes < 4 ? 4 : access.access_bytes;
    if (std::memcmp(memory.bytes + (word - memory.base), access.words.data(), touched) != 0) {
        standstill.changed();
    }
}

/// A context has taken a branch: the run ends where all contexts go round for nothing.
void LockstepTile::Implementation::branched(const isa::Context& context, Address pc, Cycles cycle) {
    if (context.target <= pc && standstill.branched_back(context, context.target)) {
        check_standstill(cycle);
    }
}

/// The contexts that run, where all of them go round for nothing; else none. The supervisor does not
/// run while it awaits workers, or workers hold every slot.
std::vector<int> LockstepTile::Implementation::all_that_go_round() const {
    std::vector<int> contexts;
    for (std::size_t number = 0; number < lanes.size(); ++number) {
        if (lanes[number].active) {
            contexts.push_back(static_cast<int>(number));
        }
    }
    if (!syncing && static_cast<Cycles>(contexts.size()) < round) {
        contexts.push_back(supervisor.number);
    }
    const bool all = std::all_of(contexts.begin(), contexts.end(),
                                 [this](int one) { return standstill.goes_round(one); });
    return all ? contexts : std::vector<int>{};
}

void LockstepTile::Implementation::check_standstill(Cycles cycle) const {
    std::string who;
    const Standstill::Look* found = nullptr;
    int of = 0;
    const std::vector<int> contexts = all_that_go_round();
    for (const int context : contexts) {
        const Standstill::Look* const look = standstill.first_look(context);
        if (look != nullptr && (found == nullptr || (look->awaits && !found->awaits))) {
            found = look;
            of = context;
        }
    }
    if (contexts.empty() || ((found == nullptr || !found->awaits) && !options.end_standstills)) {
        return;
    }
    if (found == nullptr) {
        const isa::Context& one = context(contexts.front());
        const isa::DecodedProgram& program = *one.program;
        fault_of(one,
                 {"it loops for ever", false,
                  &program.operations[static_cast<std::size_t>(program.index_of(one.target))],
                  false, true},
                 cycle);
    }
    for (const int context : contexts) {
        if (const Standstill::Look* const look = standstill.first_look(context);
            look != nullptr && look->awaits == found->awaits) {
            who += (who.empty() ? "" : "; ") + standstill.text(context, found->awaits, *code);
        }
    }
    const isa::DecodedProgram& program = *context(of).program;
    fault_of(context(of),
             {"contexts wait for ever, as none that runs changes what they wait for: " + who, false,
              &program.operations[static_cast<std::size_t>(program.index_of(found->pc))]},
             cycle);
}

void LockstepTile::Implementation::supervisor_waits(StallReason reason, Cycles cycle,
                                                    Address address) {
    if (waiting.cycles > 0 && (waiting.reason != reason || waiting.address != address)) {
        end_supervisor_wait();
    }
    if (waiting.cycles == 0) {
        waiting = {-1, cycle, 0, reason, address};
    }
    ++waiting.cycles;
}

void LockstepTile::Implementation::end_supervisor_wait() {
    if (observer != nullptr && waiting.cycles > 0) {
        observer->stall(waiting);
    }
    waiting.cycles = 0;
}

std::unique_ptr<TileCore::Implementation>
TileCore::Implementation::make_slot_by_slot(const spec::MachineSpec& machine, TileId tile_id,
                                            std::byte* bytes) {
    LockstepOptions options;
    options.find_races = false;
    return std::make_unique<LockstepTile::Implementation>(machine, tile_id, bytes, options);
}

LockstepTile::LockstepTile(const spec::MachineSpec& spec, TileId tile, std::byte* memory,
                           LockstepOptions options)
    : implementation_(std::make_unique<Implementation>(spec, tile, memory, options)) {}
LockstepTile::~LockstepTile() = default;
LockstepTile::LockstepTile(LockstepTile&&) noexcept = default;
LockstepTile& LockstepTile::operator=(LockstepTile&&) noexcept = default;

void LockstepTile::load(const program::Image& image, CodeCache& code) {
    implementation_->load(image, code);
    implementation_->reads.load(implementation_->programs);
}

ComputeOutcome LockstepTile::run(Address stub, std::vector<ContextSpan>* spans) {
    return implementation_->run_phase(stub, spans);
}

void LockstepTile::set_observer(LockstepObserver* observer) {
    implementation_->observer = observer;
}

void LockstepTile::synchronise_by(Address address, Bytes bytes) {
    static_cast<void>(implementation_->bytes_at(address, bytes)); // or it is no memory
    implementation_->races.synchronise_by(address, bytes);
}

std::span<const Race> LockstepTile::races() const {
    return implementation_->races.races();
}

std::int64_t LockstepTile::racing_accesses() const {
    return implementation_->races.races_found();
}

std::int64_t LockstepTile::unused_reads() const {
    return implementation_->races.unused_reads();
}

std::span<const Conflict> LockstepTile::conflicts() const {
    return implementation_->conflicts;
}

std::int64_t LockstepTile::conflicts_found() const {
    return implementation_->conflicts_found;
}

void LockstepTile::set_register(int context, unsigned place, std::uint32_t value) {
    implementation_->set_register(context, place, value);
    implementation_->reads.forget(context, place);
}

const isa::Context& LockstepTile::context(int number) const {
    return implementation_->context(number);
}

std::span<std::byte> LockstepTile::memory(Address address, Bytes bytes) {
    return implementation_->bytes_at(address, bytes);
}

std::span<const std::byte> LockstepTile::memory(Address address, Bytes bytes) const {
    return implementation_->bytes_at(address, bytes);
}

} // namespace tessera::tile
