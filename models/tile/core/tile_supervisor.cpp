// SPDX-License-Identifier: MIT
// What the supervisor's instructions do, one after the other: launches, syncs, weights, registers.
#include "models/isa/csr_numbers.h"
#include "models/isa/data_flow.h"
#include "models/isa/decoded_program.h"
#include "models/isa/engine.h"
#include "models/isa/stretch_recipes.h"
#include "models/tile/core/tile_core_implementation.h"
#include "models/tile/core/worker_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <utility>

namespace tessera::tile {
namespace {

constexpr std::int32_t kLocalSyncZone = 2;

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

/// Whether the target of the taken branch is in a register.
bool is_indirect(const isa::MicroOperation& branch) {
    return !isa::has_constant_target(isa::spec_of(static_cast<isa::Opcode>(branch.code)).form);
}

} // namespace

Cycles TileCore::Implementation::earliest_issue(const isa::MicroOperation& op) const {
    const auto index = static_cast<std::size_t>(&op - supervisor.program->operations.data());
    Cycles cycle = now;
    for (unsigned read = supervisor.program->main_registers[index].read; read != 0;
         read &= read - 1U) {
        cycle = std::max(cycle, ready[static_cast<std::size_t>(std::countr_zero(read))]);
    }
    if (isa::weight_registers(op) != 0) {
        cycle = std::max(cycle, weight_address_ready);
    }
    return slots.next_free(cycle);
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
    const char* reason = nullptr;
    if (entry % 4 != 0 || vertex_base % 4 != 0) {
        reason = "both must be multiples of 4";
    } else if (entry - memory.base >= memory.region0_bytes) {
        reason = "the entry is outside region 0, which alone is executable";
    } else if (!supervisor.program->holds(entry) &&
               std::none_of(programs.begin(), programs.end(),
                            [entry](const auto* program) { return program->holds(entry); })) {
        reason = "no code there";
    }
    if (reason != nullptr) {
        throw isa::ExecutionFault{fmt::format("launch with entry {:#x} and vertex base {:#x}: {}",
                                              entry, vertex_base, reason),
                                  false, &op};
    }
}

void TileCore::Implementation::launch(const isa::MicroOperation& op, std::size_t number,
                                      Address vertex_base, Cycles issue) {
    check_launch(op, vertex_base);
    isa::Context& worker = workers[number];
    const Cycles first_issue = first_issue_of(number, issue);
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
    if (draft != nullptr) {
        hide_registers(number, entry);
    }
    start(number);
    if (draft != nullptr) {
        show_registers(number);
    }
}

void TileCore::Implementation::run_worker(isa::Context& worker) {
    const bool by_recipe = timing != nullptr && timing->recipes != nullptr && !audited &&
                           !has_wait_loops && machine_target.steps_sharing == 1 &&
                           !worker.shadow->may_scatter();
    if (by_recipe && timing->workers != nullptr && draft == nullptr) {
        timing->workers->run(worker, *timing->recipes, {phase_stub, worker.target, code_number});
    } else if (by_recipe) {
        timing->recipes->run(worker);
    } else {
        engine->run_worker(worker);
    }
}

/// A worker runs to its end at once: nothing that others do until the next sync may change what it
/// does. Its fault is reported when no other context can fault before it.
void TileCore::Implementation::start(std::size_t number) {
    isa::Context& worker = workers[number];
    const Address entry = worker.target;
    try {
        run_worker(worker);
    } catch (const isa::ExecutionFault& fault) {
        if (draft != nullptr) {
            show_registers(number);
        }
        Cycles issues = 0;
        if (fault.operation != nullptr) {
            issues = worker.issues + worker.program->position_of(*fault.operation).issues_before;
        }
        const Cycles cycle = worker.start_cycle + round * issues;
        if (!worker_fault || cycle < worker_fault->cycle) {
            worker_fault = report_of(worker, fault, cycle);
        }
        slots.hold(number, kNever);
        return;
    }
    const Cycles last = worker.start_cycle + round * (worker.issues - 1);
    slots.hold(number, last + spec->tile.pipeline_cycles);
    exited(number, worker.issues);
    if (spans != nullptr) {
        spans->push_back({static_cast<int>(number), entry, worker.start_cycle, last + 1});
    }
}

void TileCore::Implementation::exited(std::size_t number, std::int64_t issues) {
    worker_issues += issues;
    launch_issues[number] += issues;
    outcome.issues_of[number] += issues;
    if (draft != nullptr) {
        note_issues(issues);
    }
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
    now = std::max(now, slots.all_free_from());
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
    if (slots.any_held(issue)) {
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

/// Loads of weights often stand behind each other: those that nothing can interrupt are one copy, and
/// take a clock each. Gives how many there were; none if the first may fault or stands alone.
std::size_t TileCore::Implementation::load_weights_at_once(const isa::MicroOperation& op,
                                                           Cycles issue) {
    const unsigned each = isa::weight_registers(op);
    if (each == 0 || supervisor.log != nullptr || slots.any_held(issue)) {
        return 0;
    }
    const std::size_t loads = static_cast<std::size_t>(op.imm2) + 1;
    const std::uint32_t offset = registers.weight_address - memory.base;
    const std::size_t bytes = loads * each * 8;
    const auto first = static_cast<std::size_t>(op.imm);
    const std::size_t existing = weights.registers.size() / 2 * machine_target.accumulator_sets();
    if (offset > memory.span_bytes || bytes > memory.span_bytes - offset ||
        registers.weight_address % (each * 8) != 0 || first + loads * each > existing ||
        (each == 2 && offset < memory.region0_bytes) ||
        issue + static_cast<Cycles>(loads) > spec->tile.phase_limit_cycles) {
        return 0;
    }
    if (offset < memory.region0_bytes && memory.fetch_conflict_faults) {
        const auto element = [this](std::size_t at) { return at >> memory.element_shift; };
        const Address base = memory.base;
        const std::size_t fetched = supervisor.program->address_of_operation(op) - base + 4;
        const std::size_t fetched_last = supervisor.program->address_of_operation((&op)[op.imm2]) -
                                         base + supervisor.fetch_window_bytes;
        if (element(offset) <= element(fetched_last) &&
            element(offset + bytes - 1) >= element(fetched)) {
            return 0;
        }
    }
    std::memcpy(&weights.registers[first], memory.bytes + offset, bytes);
    weights.changed();
    registers.weight_address += static_cast<Address>(bytes);
    return loads;
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
        for (std::size_t n = 0; n < slots.workers(); ++n) {
            running |= slots.is_held(n, issue) ? 1U << (2 * n + 2) : 0U;
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
        worker >= 0 && slots.is_held(static_cast<std::size_t>(worker), issue)) {
        throw isa::ExecutionFault{"a worker's base is set while it is active", false, &op};
    }
    registers.write(op.imm, value);
}

void TileCore::Implementation::zero_weights(const isa::MicroOperation& op, Cycles issue) {
    if (slots.any_held(issue)) {
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

void TileCore::Implementation::supervisor_operation(const isa::MicroOperation& op, Cycles issue) {
    if (supervisor.shadow != nullptr && is_of_tile(op)) {
        check_known(op);
    }
    const Address vertex_base = supervisor.main[op.b];
    const auto stride = static_cast<Address>(op.imm) * 4U;
    switch (static_cast<isa::Opcode>(op.code)) {
    case isa::Opcode::runall:
        if (slots.any_held(issue)) {
            throw isa::ExecutionFault{"runall while a worker is active", false, &op};
        }
        launch_all(op, vertex_base, stride, issue);
        break;
    case isa::Opcode::run: {
        std::size_t free = 0;
        while (free < slots.workers() && slots.is_held(free, issue)) {
            ++free;
        }
        if (free == slots.workers()) {
            throw isa::ExecutionFault{"run without a free worker", false, &op};
        }
        launch(op, free, vertex_base + stride + memory.base, issue);
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
    case isa::Opcode::ld128putcs:
        load_weights(op, issue, isa::weight_registers(op));
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
        if (op->code < static_cast<std::uint16_t>(isa::Opcode::kCount)) {
            return op;
        }
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
    const bool finds_sections = timing != nullptr && timing->sections != nullptr;
    const isa::MicroOperation* op = settle(jump(supervisor.target, nullptr));
    while (true) {
        const Cycles issue = earliest_issue(*op);
        if (worker_fault && worker_fault->cycle < issue) {
            throw TileFault(*worker_fault);
        }
        check_phase_limit(*op, issue);
        if (const std::size_t loads = load_weights_at_once(*op, issue); loads != 0) {
            now = issue + static_cast<Cycles>(loads);
            if (draft != nullptr) {
                note_loads(*op);
            }
            op = settle(op + loads);
            continue;
        }
        now = issue + 1;
        supervisor.start_cycle = issue;
        supervisor_operation(*op, issue);
        note_results(*op, issue);
        if (draft != nullptr) {
            note_step(*op);
        }
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
        const isa::MicroOperation* const from = op;
        const isa::DecodedProgram* const left = supervisor.program;
        op = settle(jump(supervisor.target, op));
        if (finds_sections && (op < from || supervisor.program != left || is_indirect(*from))) {
            op = begin_section(op);
        }
    }
    if (finds_sections) {
        drop_section();
    }
    if (worker_fault && worker_fault->cycle < outcome.cycles) {
        throw TileFault(*worker_fault);
    }
}

} // namespace tessera::tile
