// SPDX-License-Identifier: MIT
#include "models/tile/core/tile_core.h"

#include "base/error.h"
#include "models/isa/assembler.h"
#include "models/isa/csr_numbers.h"
#include "models/isa/data_flow.h"
#include "models/isa/decoded_program.h"
#include "models/isa/engine.h"
#include "models/isa/machine_target.h"
#include "models/tile/core/tile_core_implementation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace tessera::tile {
namespace {

constexpr unsigned kLinkRegister = 10;
constexpr unsigned kStackRegister = 11;
constexpr std::int32_t kLocalSyncZone = 2;

/// $m0..$m11: what a phase finds in them. Launches leave them as they are.
constexpr std::uint32_t kAllUnknown = 0xfff;

/// Whether timing mode knows what stands there when the run starts. Memory that is taken later has
/// something else until then.
bool is_known(const program::Segment& segment) {
    using Kind = program::SegmentKind;
    const Kind kind = segment.kind;
    return (segment.data != nullptr || segment.lifetime.first == 0) &&
           (segment.known || kind == Kind::Code || kind == Kind::VertexState ||
            kind == Kind::Metadata);
}

std::string describe(const Fault& fault) {
    std::string text = fmt::format("tile_{}.{} @ {}: ", fault.tile,
                                   fault.context < 0 ? std::string("supervisor")
                                                     : fmt::format("worker_{}", fault.context),
                                   fault.cycle);
    if (!fault.source_line.empty()) {
        text += fault.source_line + ": ";
    }
    text += fmt::format("{} at {:#x}: {}",
                        fault.instruction.empty() ? "instruction" : fault.instruction,
                        fault.address, fault.reason);
    if (!fault.registers.empty()) {
        text += "; " + fault.registers;
    }
    return text;
}

} // namespace

TileFault::TileFault(Fault fault) : std::runtime_error(describe(fault)), fault_(std::move(fault)) {}

TileCore::Implementation::Implementation(const spec::MachineSpec& machine, TileId tile_id,
                                         std::byte* bytes)
    : spec(&machine), machine_target(isa::target_of(machine)), tile(tile_id),
      round(machine.tile.round_cycles()), workers(static_cast<std::size_t>(machine.tile.workers)),
      registers(workers.size(), machine_target) {
    memory.bytes = bytes;
    memory.base = machine.memory.region0_begin();
    memory.span_bytes = static_cast<std::uint32_t>(machine.memory.bytes());
    memory.region0_bytes = static_cast<std::uint32_t>(machine.memory.region0_bytes);
    memory.element_shift = static_cast<std::uint32_t>(
        std::countr_zero(static_cast<std::uint64_t>(machine.memory.element_bytes)));
    memory.fetch_conflict_faults = machine.tile.fetch_conflict == spec::FetchConflict::Error;
    supervisor.cycles_per_issue = 1;
    supervisor.fetch_window_bytes = static_cast<std::uint32_t>(machine.tile.fetch_window_bytes);
    attach(supervisor);
    supervisor.jump_log = &supervisor_jumps;
    for (std::size_t n = 0; n < workers.size(); ++n) {
        attach(workers[n]);
        workers[n].jump_log = &worker_jumps;
        workers[n].number = static_cast<std::int32_t>(n);
        workers[n].cycles_per_issue = round;
        workers[n].fetch_window_bytes =
            static_cast<std::uint32_t>(machine.tile.worker_fetch_window_bytes);
        workers[n].unaligned_bundle_issues = machine.tile.unaligned_bundle_issues;
        workers[n].issue_limit = machine.tile.phase_limit_cycles / round;
    }
    slot_free.assign(workers.size(), 0);
    launch_issues.assign(workers.size(), 0);
}

void TileCore::Implementation::load(const program::Image& image, CodeCache& cache) {
    code = &cache;
    programs.clear();
    std::uint32_t code_begin = memory.span_bytes;
    std::uint32_t code_end = 0;
    for (const program::Segment& segment : image.segments) {
        const std::uint32_t offset = segment.address - memory.base;
        if (segment.bytes < 0 || offset > memory.span_bytes ||
            segment.bytes > static_cast<Bytes>(memory.span_bytes - offset)) {
            throw ProgramError(
                fmt::format("tile_{}: segment '{}' at {:#x} of {} bytes is outside tile memory",
                            tile, segment.name, segment.address, segment.bytes));
        }
        const bool unknown = timing != nullptr && !is_known(segment);
        if (segment.data != nullptr && !unknown) {
            std::memcpy(memory.bytes + offset, segment.data->data(),
                        static_cast<std::size_t>(segment.bytes));
        }
        if (timing != nullptr && !unknown) {
            timing->known.learn(tile, segment.address, segment.bytes);
            if (segment.kind == program::SegmentKind::Metadata && segment.data != nullptr) {
                timing->known.share(tile, segment.address, segment.bytes, segment.data.get());
            }
        }
        if (segment.kind == program::SegmentKind::Stack) {
            stack_end = static_cast<Address>(segment.address + static_cast<Address>(segment.bytes));
        }
        if (segment.kind == program::SegmentKind::Code) {
            if (segment.address % 4 != 0 || segment.address == 0 ||
                segment.bytes > static_cast<Bytes>(memory.region0_bytes) - offset) {
                throw ProgramError(fmt::format("tile_{}: code segment '{}' at {:#x} of {} bytes: "
                                               "code lies in region 0 at multiples of 4 bytes, not "
                                               "at 0, a branch to which ends the phase",
                                               tile, segment.name, segment.address, segment.bytes));
            }
            programs.push_back(cache.decoded(segment, machine_target));
            code_begin = std::min(code_begin, offset);
            code_end = std::max(code_end, offset + static_cast<std::uint32_t>(segment.bytes));
        }
    }
    memory.code_begin = code_begin;
    memory.code_end = code_end;
    take_programs();
    has_wait_loops = std::any_of(programs.begin(), programs.end(), [](const auto* program) {
        return !program->awaiting_loads.empty();
    });
    slot_by_slot.reset();
    met_in.clear();
    if (timing != nullptr) {
        code_number = timing->classes.code_number(programs);
        registers_number = timing->classes.registers_number(registers);
    }
}

void TileCore::Implementation::take_programs() {
    supervisor_jumps.load(programs);
    worker_jumps.load(programs);
    supervisor.programs = programs;
    for (isa::Context& worker : workers) {
        worker.programs = programs;
    }
}

Cycles TileCore::Implementation::next_owned_slot(Cycles cycle) const {
    for (Cycles at = cycle; at < cycle + round; ++at) {
        if (is_slot_free(at)) {
            return at;
        }
    }
    return next_owned_slot(*std::min_element(slot_free.begin(), slot_free.end()));
}

bool TileCore::Implementation::is_slot_free(Cycles cycle) const {
    const auto slot = static_cast<std::size_t>(cycle % round);
    return slot >= slot_free.size() || slot_free[slot] <= cycle;
}

bool TileCore::Implementation::any_worker_active(Cycles cycle) const {
    return std::any_of(slot_free.begin(), slot_free.end(),
                       [cycle](Cycles free) { return free > cycle; });
}

Cycles TileCore::Implementation::earliest_issue(const isa::MicroOperation& op) const {
    const auto index = static_cast<std::size_t>(&op - supervisor.program->operations.data());
    Cycles cycle = now;
    for (unsigned read = supervisor.program->main_registers[index].read; read != 0;
         read &= read - 1U) {
        cycle = std::max(cycle, ready[static_cast<std::size_t>(std::countr_zero(read))]);
    }
    const auto opcode = static_cast<isa::Opcode>(op.code);
    if (opcode == isa::Opcode::ld64putcs || opcode == isa::Opcode::ld128putcs) {
        cycle = std::max(cycle, weight_address_ready);
    }
    return next_owned_slot(cycle);
}

const isa::MicroOperation* TileCore::Implementation::jump(Address target,
                                                          const isa::MicroOperation* from) {
    if (from != nullptr) {
        leave(*from);
    }
    for (std::size_t number = 0; number < programs.size(); ++number) {
        const isa::DecodedProgram& program = *programs[number];
        if (program.holds(target)) {
            take_up_vertex(target, supervisor.main[0]);
            isa::take_up(supervisor, number);
            const auto index = static_cast<std::size_t>(program.index_of(target));
            supervisor_jumps.entered(number, program.positions[index].count_before, false);
            return &program.operations[index];
        }
    }
    throw isa::ExecutionFault{fmt::format("branch to {:#x}: no code there", target), false, from};
}

/// The machine raises INVALID_OP for these.
void TileCore::Implementation::check_launch(const isa::MicroOperation& op,
                                            Address vertex_base) const {
    const Address entry = supervisor.main[op.a];
    std::string reason;
    if (entry % 4 != 0 || vertex_base % 4 != 0) {
        reason = "both must be multiples of 4";
    } else if (entry - memory.base >= memory.region0_bytes) {
        reason = "the entry is outside region 0, which alone is executable";
    } else if (std::none_of(programs.begin(), programs.end(),
                            [entry](const auto* program) { return program->holds(entry); })) {
        reason = "no code there";
    }
    if (!reason.empty()) {
        throw isa::ExecutionFault{fmt::format("launch with entry {:#x} and vertex base {:#x}: {}",
                                              entry, vertex_base, reason),
                                  false, &op};
    }
}

void TileCore::Implementation::launch(const isa::MicroOperation& op, std::size_t number,
                                      Address vertex_base, Cycles issue) {
    check_launch(op, vertex_base);
    isa::Context& worker = workers[number];
    const Cycles earliest = issue + spec->tile.pipeline_cycles;
    const auto slot = static_cast<Cycles>(number);
    const Cycles first_issue = earliest + ((slot - earliest) % round + round) % round;
    const Address entry = supervisor.main[op.a];
    take_up_vertex(entry, vertex_base);
    worker.main[12] = registers.worker_base[number];
    worker.main[13] = vertex_base;
    worker.fp_control = registers.fp_initial;
    worker.fp_status = 0;
    if (machine_target.has_fp8()) {
        worker.fp_format = registers.fp_initial_format;
        worker.fp_scale = registers.fp_initial_scale;
    }
    worker.repeat_count = 0;
    worker.exited = false;
    worker.issues = 0;
    worker.step_issue = isa::Context::kNoIssue;
    worker.start_cycle = first_issue;
    worker.target = entry;
    isa::take_up(worker, supervisor.program_number);
    start(number);
}

/// A worker runs to its end at once: nothing that others do until the next sync may change what it
/// does. Its fault is reported when no other context can fault before it.
void TileCore::Implementation::start(std::size_t number) {
    isa::Context& worker = workers[number];
    const Address entry = worker.target;
    try {
        engine->run_worker(worker);
    } catch (const isa::ExecutionFault& fault) {
        Cycles issues = 0;
        if (fault.operation != nullptr) {
            issues = worker.issues + worker.program->position_of(*fault.operation).issues_before;
        }
        const Cycles cycle = worker.start_cycle + round * issues;
        if (!worker_fault || cycle < worker_fault->cycle) {
            worker_fault = report_of(worker, fault, cycle);
        }
        slot_free[number] = kNever;
        return;
    }
    const Cycles last = worker.start_cycle + round * (worker.issues - 1);
    slot_free[number] = last + spec->tile.pipeline_cycles;
    exited(number, worker.issues);
    if (spans != nullptr) {
        spans->push_back({static_cast<int>(number), entry, worker.start_cycle, last + 1});
    }
}

void TileCore::Implementation::exited(std::size_t number, std::int64_t issues) {
    worker_issues += issues;
    launch_issues[number] += issues;
}

void TileCore::Implementation::end_launch() {
    const auto busiest = std::max_element(launch_issues.begin(), launch_issues.end());
    if (*busiest == 0) {
        return; // an exit is an issue: none was started
    }
    const std::int64_t all =
        std::accumulate(launch_issues.begin(), launch_issues.end(), std::int64_t{0});
    const auto contexts = static_cast<std::int64_t>(launch_issues.size());
    const auto excess = [contexts](std::int64_t issues, std::int64_t of_all) {
        return contexts * issues - of_all;
    };
    const std::int64_t number = ++outcome.counts.at(counts::Group::Launches);
    outcome.busiest_issues += *busiest;
    UnevenLaunch& uneven = outcome.uneven;
    if (uneven.launch == 0 || excess(*busiest, all) > excess(uneven.issues, uneven.all_issues)) {
        uneven = {number, static_cast<int>(busiest - launch_issues.begin()), *busiest, all};
    }
    std::fill(launch_issues.begin(), launch_issues.end(), 0);
}

void TileCore::Implementation::launch_all(const isa::MicroOperation& op, Address vertex_base,
                                          Address stride, Cycles issue) {
    for (std::size_t n = 0; n < workers.size(); ++n) {
        launch(op, n, vertex_base + static_cast<Address>(n) * stride, issue);
    }
}

void TileCore::Implementation::wait_for_workers() {
    now = std::max(now, *std::max_element(slot_free.begin(), slot_free.end()));
    end_launch();
}

bool TileCore::Implementation::in_fetch_window(const isa::MicroOperation& op,
                                               std::uint32_t offset) const {
    const std::uint32_t pc = supervisor.program->address_of_operation(op) - memory.base;
    const std::uint32_t element = offset >> memory.element_shift;
    return memory.fetch_conflict_faults && element >= (pc + 4) >> memory.element_shift &&
           element <= (pc + supervisor.fetch_window_bytes) >> memory.element_shift;
}

/// Notes a fetch conflict where conflicts are not to fault.
bool TileCore::Implementation::conflict_goes_on(Address address) {
    if (supervisor.log == nullptr || supervisor.log->conflicts_fault) {
        return false;
    }
    supervisor.log->conflicts.push_back({isa::ConflictKind::Fetch, address});
    return true;
}

void TileCore::Implementation::load_weights(const isa::MicroOperation& op, Cycles issue,
                                            unsigned count) {
    const Address address = registers.weight_address;
    const std::uint32_t offset = address - memory.base;
    const unsigned access_bytes = count * 8;
    const std::size_t existing = weights.registers.size() / 2 * machine_target.accumulator_sets();
    const auto first = static_cast<std::size_t>(op.imm);
    std::string reason;
    if (any_worker_active(issue)) {
        reason = "the weight store is written while a worker is active: sync first";
    } else if (offset > memory.span_bytes - access_bytes) {
        reason = fmt::format("weight load at {:#x}: outside tile memory", address);
    } else if (address % access_bytes != 0) {
        reason = fmt::format("{}-byte weight load at {:#x}: misaligned", access_bytes, address);
    } else if (count == 2 && offset < memory.region0_bytes) {
        reason = "a 128-bit weight load outside the interleaved region";
    } else if (offset < memory.region0_bytes && in_fetch_window(op, offset) &&
               !conflict_goes_on(address)) {
        reason = fmt::format("weight load at {:#x} in the memory element of the code being fetched",
                             address);
    } else if (first + count > existing) {
        reason = fmt::format("weight register {} does not exist: the machine has {}",
                             first + count - 1, existing);
    }
    if (!reason.empty()) {
        throw isa::ExecutionFault{reason, false, &op};
    }
    if (supervisor.log != nullptr) {
        supervisor.log->accesses.push_back(isa::access_to(memory, address, access_bytes, false));
    }
    std::memcpy(&weights.registers[first], memory.bytes + offset, access_bytes);
    weights.changed();
    registers.weight_address += access_bytes;
}

std::uint32_t TileCore::Implementation::get(const isa::MicroOperation& op, Cycles issue) const {
    const auto clock = static_cast<std::uint64_t>(issue);
    switch (op.imm) {
    case isa::kCsrPc:
        return supervisor.program->address_of_operation(op);
    case isa::kCsrTileId:
        return tile;
    case isa::kCsrCountL:
        return static_cast<std::uint32_t>(clock);
    case isa::kCsrCountU:
        return static_cast<std::uint32_t>(clock >> 32U);
    case isa::kCsrContextStatus: {
        std::uint32_t running = 1; // the supervisor itself
        for (std::size_t n = 0; n < slot_free.size(); ++n) {
            running |= slot_free[n] > issue ? 1U << (2 * n + 2) : 0U;
        }
        return running;
    }
    default:
        return registers.read(op.imm);
    }
}

void TileCore::Implementation::put(const isa::MicroOperation& op, Cycles issue) {
    const std::uint32_t value = supervisor.main[op.a];
    if (op.imm == isa::kCsrWeightAddress || op.imm == isa::kCsrCommand) {
        weight_address_ready = issue + spec->tile.pipeline_cycles;
    }
    if (op.imm == isa::kCsrCommand && (value & isa::kCommandZeroWeights) != 0) {
        zero_weights(op, issue);
    }
    if (const std::int32_t worker = registers.worker_of(op.imm);
        worker >= 0 && slot_free[static_cast<std::size_t>(worker)] > issue) {
        throw isa::ExecutionFault{"a worker's base is set while it is active", false, &op};
    }
    registers.write(op.imm, value);
}

void TileCore::Implementation::zero_weights(const isa::MicroOperation& op, Cycles issue) {
    if (any_worker_active(issue)) {
        throw isa::ExecutionFault{"the weight store is zeroed while a worker is active: sync first",
                                  false, &op};
    }
    weights.registers.fill(0);
    weights.changed();
}

void TileCore::Implementation::check_known(const isa::MicroOperation& op) {
    const auto index = static_cast<std::size_t>(&op - supervisor.program->operations.data());
    const isa::ShadowRule& rule = supervisor.program->shadow_rules[index];
    if ((supervisor.unknown & rule.used) != 0) {
        throw isa::ExecutionFault{
            fmt::format("what happens here depends on tensor data ($m{}), which timing mode does "
                        "not have",
                        std::countr_zero(supervisor.unknown & rule.used)),
            true, &op, true};
    }
    if ((supervisor.by_round & rule.used) != 0) {
        supervisor.shadow->know_rounds();
        supervisor.by_round = 0;
    }
    if (static_cast<isa::Opcode>(op.code) != isa::Opcode::get) {
        return;
    }
    supervisor.by_round &= ~std::uint32_t{rule.written};
    const bool counts = op.imm == isa::kCsrCountL || op.imm == isa::kCsrCountU;
    supervisor.unknown = counts ? supervisor.unknown | rule.written
                                : supervisor.unknown & ~std::uint32_t{rule.written};
    if (op.imm == isa::kCsrTileId) {
        supervisor.shadow->read_tile_number(tile);
    }
}

void TileCore::Implementation::take_up_vertex(Address entry, Address state) {
    for (std::size_t number = 0; number < vertices.size(); ++number) {
        const program::Vertex& vertex = vertices[number];
        if (vertex.entry == entry && vertex.state_address == state) {
            supervisor.shadow->run_vertex(static_cast<std::uint32_t>(number), vertex.scatters,
                                          vertex.scatters == program::Vertex::kNowhere
                                              ? nullptr
                                              : &timing->scattered->at(vertex.scatters));
            return;
        }
    }
}

/// Those that the tile carries out by itself; the engine looks at the others.
bool is_of_tile(const isa::MicroOperation& op) {
    switch (static_cast<isa::Opcode>(op.code)) {
    case isa::Opcode::run:
    case isa::Opcode::runall:
    case isa::Opcode::put:
    case isa::Opcode::get:
        return true;
    default:
        return false;
    }
}

void TileCore::Implementation::supervisor_operation(const isa::MicroOperation& op, Cycles issue) {
    if (supervisor.shadow != nullptr && is_of_tile(op)) {
        check_known(op);
    }
    const Address vertex_base = supervisor.main[op.b];
    const auto stride = static_cast<Address>(op.imm) * 4U;
    switch (static_cast<isa::Opcode>(op.code)) {
    case isa::Opcode::runall:
        if (any_worker_active(issue)) {
            throw isa::ExecutionFault{"runall while a worker is active", false, &op};
        }
        launch_all(op, vertex_base, stride, issue);
        break;
    case isa::Opcode::run: {
        const auto free = std::find_if(slot_free.begin(), slot_free.end(),
                                       [issue](Cycles cycle) { return cycle <= issue; });
        if (free == slot_free.end()) {
            throw isa::ExecutionFault{"run without a free worker", false, &op};
        }
        launch(op, static_cast<std::size_t>(free - slot_free.begin()),
               vertex_base + stride + memory.base, issue);
        break;
    }
    case isa::Opcode::sync:
        if (op.imm != kLocalSyncZone) {
            throw isa::ExecutionFault{
                "a sync beyond the tile inside a vertex is not modelled (docs/deviations.md)", true,
                &op};
        }
        wait_for_workers();
        break;
    case isa::Opcode::ld64putcs:
        load_weights(op, issue, 1);
        break;
    case isa::Opcode::ld128putcs:
        load_weights(op, issue, 2);
        break;
    case isa::Opcode::put:
        put(op, issue);
        break;
    case isa::Opcode::get:
        supervisor.main[op.d] = get(op, issue);
        break;
    default:
        if (op.code < static_cast<std::uint16_t>(isa::Opcode::kCount) &&
            (isa::spec_of(static_cast<isa::Opcode>(op.code)).flags & isa::kWorker) != 0) {
            throw isa::ExecutionFault{"a worker instruction in supervisor code", false, &op};
        }
        engine->execute(supervisor, op);
        break;
    }
}

/// A body's end, a step and a pass mean nothing to a supervisor: it has no repeats, no matrix unit. A
/// copy of a read-only register is part of the operation behind it.
const isa::MicroOperation* TileCore::Implementation::settle(const isa::MicroOperation* op) {
    while (true) {
        if (op->code == static_cast<std::uint16_t>(isa::Internal::Continue)) {
            ++supervisor.jumps[supervisor.program->jump_of(*op)];
            op = supervisor.program->operations.data() + op->imm;
        } else if (op->code == static_cast<std::uint16_t>(isa::Internal::BodyEnd) ||
                   op->code == static_cast<std::uint16_t>(isa::Internal::Step) ||
                   op->code == static_cast<std::uint16_t>(isa::Internal::Pass)) {
            ++op;
        } else if (op->code == static_cast<std::uint16_t>(isa::Internal::Wait)) {
            await(*op);
            ++op;
        } else if (op->code == static_cast<std::uint16_t>(isa::Internal::CopySingle) ||
                   op->code == static_cast<std::uint16_t>(isa::Internal::CopyPair)) {
            engine->execute(supervisor, *op);
            ++op;
        } else {
            return op;
        }
    }
}

void TileCore::Implementation::await(const isa::MicroOperation& /*op*/) {
    throw isa::ContextsMeet{};
}

void TileCore::Implementation::note_results(const isa::MicroOperation& op, Cycles issue) {
    const auto index = static_cast<std::size_t>(&op - supervisor.program->operations.data());
    for (unsigned written = supervisor.program->main_registers[index].written; written != 0;
         written &= written - 1U) {
        ready[static_cast<std::size_t>(std::countr_zero(written))] =
            issue + spec->tile.pipeline_cycles;
    }
}

void TileCore::Implementation::check_phase_limit(const isa::MicroOperation& op,
                                                 Cycles issue) const {
    if (issue > spec->tile.phase_limit_cycles) {
        throw isa::ExecutionFault{"the supervisor has not returned within "
                                  "tile.phase_limit_cycles: it seems to loop for ever",
                                  false, &op, false, true};
    }
}

/// The supervisor's instructions one after the other until it returns to address 0.
void TileCore::Implementation::supervise() {
    const isa::MicroOperation* op = settle(jump(supervisor.target, nullptr));
    while (true) {
        const Cycles issue = earliest_issue(*op);
        if (worker_fault && worker_fault->cycle < issue) {
            throw TileFault(*worker_fault);
        }
        check_phase_limit(*op, issue);
        now = issue + 1;
        supervisor.start_cycle = issue;
        supervisor_operation(*op, issue);
        note_results(*op, issue);
        if (!supervisor.taken) {
            op = settle(op + 1);
            continue;
        }
        supervisor.taken = false;
        now = issue + spec->tile.pipeline_cycles;
        if (supervisor.target == 0) {
            leave(*op);
            outcome.cycles = now;
            break;
        }
        op = settle(jump(supervisor.target, op));
    }
    if (worker_fault && worker_fault->cycle < outcome.cycles) {
        throw TileFault(*worker_fault);
    }
}

Fault TileCore::Implementation::report_of(const isa::Context& context,
                                          const isa::ExecutionFault& fault, Cycles cycle) const {
    Fault report;
    report.tile = tile;
    report.context = context.number;
    report.cycle = cycle;
    report.reason = fault.reason;
    if (static_cast<Bytes>(memory.span_bytes) < spec->memory.bytes()) {
        report.reason +=
            fmt::format("; of the tile's {} bytes the host has the first {}, which are "
                        "all that the program names (ulimit -v)",
                        spec->memory.bytes(), memory.span_bytes);
    }
    report.not_modelled = fault.not_modelled;
    report.needs_data = fault.needs_data;
    report.endless = fault.endless;
    if (fault.operation != nullptr && context.program != nullptr) {
        const auto& operations = context.program->operations;
        if (fault.operation >= operations.data() &&
            fault.operation < operations.data() + operations.size()) {
            report.address = context.program->address_of_operation(*fault.operation);
            report.source_line = code->source_line(report.address);
        }
        const std::uint32_t offset = report.address - memory.base;
        if (report.address != 0 && offset + 4 <= memory.span_bytes) {
            std::vector<std::uint32_t> words(
                offset + 8 <= memory.span_bytes &&
                        (std::to_integer<unsigned>(memory.bytes[offset + 3]) & 0x80U) != 0
                    ? 2
                    : 1);
            std::memcpy(words.data(), memory.bytes + offset, words.size() * 4);
            report.instruction = isa::disassemble(words, report.address,
                                                  context.number < 0 ? isa::CsrContext::Supervisor
                                                                     : isa::CsrContext::Worker)
                                     .front()
                                     .text;
        }
    }
    for (unsigned r = 0; r < 14; ++r) {
        report.registers += fmt::format("{}$m{} = {:#x}", r == 0 ? "" : ", ", r, context.main[r]);
    }
    for (unsigned r = 0; context.number >= 0 && r < 8; ++r) {
        report.registers += fmt::format(", $a{} = {:#x}", r, context.aux[r]);
    }
    return report;
}

void TileCore::Implementation::fault_of(const isa::Context& context,
                                        const isa::ExecutionFault& fault, Cycles cycle) const {
    throw TileFault(report_of(context, fault, cycle));
}

ComputeOutcome TileCore::Implementation::run(Address stub, std::vector<ContextSpan>* recorded) {
    const isa::FpEnvironment rounding;
    outcome = ComputeOutcome{};
    worker_issues = 0;
    supervisor_jumps.begin();
    worker_jumps.begin();
    spans = recorded;
    worker_fault.reset();
    now = 0;
    ready.fill(0);
    weight_address_ready = 0;
    std::fill(slot_free.begin(), slot_free.end(), 0);
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
    if (any_worker_active(outcome.cycles)) {
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
    result.outcome = run_phase(stub, &result.contexts);
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
    const TileClasses::Found found = timing->classes.find(
        {stub, stack_end, code_number, registers_number},
        {memory.bytes, &timing->known.of_tile(tile), &timing->known.shared(tile), tile, called});
    PhaseResult own;
    const PhaseResult* result = found.result;
    if (result == nullptr || audited) {
        shadow.every_pass = audited;
        const bool any_scatters = std::any_of(called.begin(), called.end(), [](const auto& vertex) {
            return vertex.scatters != program::Vertex::kNowhere;
        });
        vertices = any_scatters ? called : std::span<const program::Vertex>();
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
        timing->classes.add(found, shadow.reads(), std::move(own));
    }
    return done;
}

TileCore::TileCore(const spec::MachineSpec& spec, TileId tile, std::byte* memory)
    : implementation_(std::make_unique<Implementation>(spec, tile, memory)) {}
TileCore::~TileCore() = default;
TileCore::TileCore(TileCore&&) noexcept = default;
TileCore& TileCore::operator=(TileCore&&) noexcept = default;

void TileCore::load(const program::Image& image, CodeCache& code) {
    implementation_->load(image, code);
}

ComputeOutcome TileCore::run(Address stub, std::vector<ContextSpan>* spans,
                             std::span<const program::Vertex> vertices) {
    return implementation_->timing != nullptr ? implementation_->run_known(stub, spans, vertices)
                                              : implementation_->run_ordered(stub, spans);
}

void TileCore::set_timing(TimingMode& timing) {
    implementation_->timing = &timing;
}

KnownFacts TileCore::known_facts() const {
    KnownFacts facts = implementation_->known_facts;
    facts.registers = implementation_->registers_number;
    return facts;
}

void TileCore::keep_only(Bytes bytes) {
    implementation_->memory.span_bytes = static_cast<std::uint32_t>(bytes);
}

void TileCore::set_audited(bool audited) {
    implementation_->audited = audited;
}

void TileCore::set_engine(const isa::Engine& engine) {
    implementation_->engine = &engine;
}

const isa::Context& TileCore::Implementation::context(int number) const {
    return number < 0 ? supervisor : workers.at(static_cast<std::size_t>(number));
}

std::span<std::byte> TileCore::Implementation::bytes_at(Address address, Bytes bytes) const {
    const std::uint32_t offset = address - memory.base;
    if (bytes < 0 || offset > memory.span_bytes ||
        bytes > static_cast<Bytes>(memory.span_bytes - offset)) {
        throw ProgramError(fmt::format("tile_{}: {} bytes at {:#x} are outside tile memory", tile,
                                       bytes, address));
    }
    return {memory.bytes + offset, static_cast<std::size_t>(bytes)};
}

void TileCore::Implementation::set_register(int number, unsigned place, std::uint32_t value) {
    isa::Context& to = number < 0 ? supervisor : workers.at(static_cast<std::size_t>(number));
    (place < isa::place::kAux ? to.main[place] : to.aux[place - isa::place::kAux]) = value;
}

void TileCore::set_register(int context, unsigned place, std::uint32_t value) {
    implementation_->set_register(context, place, value);
}

const isa::Context& TileCore::context(int number) const {
    return implementation_->context(number);
}

void TileCore::set_rows_at_once(bool allowed) {
    for (isa::Context& worker : implementation_->workers) {
        worker.rows_at_once = allowed;
    }
}

std::span<std::byte> TileCore::memory(Address address, Bytes bytes) {
    return implementation_->bytes_at(address, bytes);
}

std::span<const std::byte> TileCore::memory(Address address, Bytes bytes) const {
    return implementation_->bytes_at(address, bytes);
}

} // namespace tessera::tile
