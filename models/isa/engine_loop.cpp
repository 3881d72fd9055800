// SPDX-License-Identifier: MIT
// The execution loop: every operation is a label, and each jumps straight to the next. Compiled
// once for each host instruction set, with TESSERA_ENGINE as the namespace.
#include "models/isa/engine.h"
#include "models/isa/exec/accumulate.h"
#include "models/isa/exec/amp.h"
#include "models/isa/exec/compare.h"
#include "models/isa/exec/control.h"
#include "models/isa/exec/convert.h"
#include "models/isa/exec/fp8.h"
#include "models/isa/exec/integer.h"
#include "models/isa/exec/load_store.h"
#include "models/isa/exec/matrix_loop.h"
#include "models/isa/exec/matrix_pass.h"
#include "models/isa/exec/random_instructions.h"
#include "models/isa/exec/slic.h"
#include "models/isa/exec/sparse_loop.h"
#include "models/isa/exec/transcendental.h"
#include "models/isa/exec/transpose.h"
#include "models/isa/exec/vector.h"
#include "models/isa/jump_log.h"

#include <string>

#pragma GCC diagnostic ignored "-Wpedantic" // labels as values

namespace tessera::isa::TESSERA_ENGINE {

namespace {

std::string hex(Address address) {
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string text;
    do {
        text.insert(text.begin(), kDigits[address & 15U]);
        address >>= 4U;
    } while (address != 0);
    return "0x" + text;
}

} // namespace

void fault(const MicroOperation& op, const char* reason, bool not_modelled) {
    throw ExecutionFault{reason, not_modelled, &op};
}

void fault_access(const MicroOperation& op, Address address, unsigned access_bytes,
                  const MemoryView& memory) {
    const std::uint32_t offset = address - memory.base;
    const std::string what = std::to_string(access_bytes) + "-byte access at " + hex(address);
    if (offset > memory.span_bytes - access_bytes) {
        throw ExecutionFault{what + ": outside tile memory " + hex(memory.base) + ".." +
                                 hex(memory.base + memory.span_bytes - 1U),
                             false, &op};
    }
    throw ExecutionFault{what + ": misaligned", false, &op};
}

void fault_fetch_conflict(const MicroOperation& op, Address address) {
    throw ExecutionFault{"access at " + hex(address) +
                             " in the memory element of the code being fetched",
                         false, &op};
}

void fault_trap(const MicroOperation& op) {
    throw ExecutionFault{"trap " + std::to_string(op.imm), false, &op};
}

void fault_exchange(const Context& c, const MicroOperation& op) {
    if (c.number >= 0) {
        fault(op, "a supervisor instruction in worker code");
    }
    fault(op, "an exchange instruction inside a vertex is not modelled (docs/deviations.md)", true);
}

void fault_element_conflict(const MicroOperation& op, Address first, Address second) {
    throw ExecutionFault{"two accesses of one instruction in one memory element: " + hex(first) +
                             " and " + hex(second),
                         false, &op};
}

namespace {

void commit_single(Context& c, const MicroOperation& op) {
    c.aux[op.d] = c.aux[op.a];
}
void commit_pair(Context& c, const MicroOperation& op) {
    store_pair(c.aux + op.d, load_pair(c.aux + op.a));
}
void commit_quad(Context& c, const MicroOperation& op) {
    std::memcpy(c.aux + op.d, c.aux + op.a, 16);
}

void copy_single(Context& c, const MicroOperation& op) {
    c.main[op.d] = c.main[op.a];
}
void copy_pair(Context& c, const MicroOperation& op) {
    c.main[op.d] = c.main[op.a];
    c.main[op.d + 1U] = c.main[op.a + 1U];
}

/// A step in the very turn behind another shares the other's issue while that holds fewer than it
/// may. Its own issue, which its position counts, is taken back.
void count_step(Context& c, const MicroOperation& op) {
    const std::int64_t issue = c.issues + c.program->position_of(op).issues_before;
    if (issue == c.step_issue + 1 && c.steps_in_issue < c.machine->steps_sharing) {
        --c.issues;
        ++c.steps_in_issue;
    } else {
        c.step_issue = issue;
        c.steps_in_issue = 1;
    }
}

[[noreturn]] void invalid(const MicroOperation& op) {
    fault(op, text_of(static_cast<InvalidReason>(op.imm)));
}

void bad_repeat(const MicroOperation& op) {
    switch (op.imm) {
    case 1:
        fault(op, "the body of an rpt does not start on an 8-byte boundary");
    case 2:
        fault(op, "the body of an rpt holds something else than bundles");
    default:
        fault(op, "the body of an rpt holds a control, system or unknown instruction");
    }
}

/// Counts a jump of an operation: kLeave and its like say which.
void count_jump(Context& c, const MicroOperation& op, std::size_t which) {
    const std::size_t jump = c.program->jump_of(op) + which;
    c.issues += c.program->jumps[jump].issues;
    ++c.jumps[jump];
}

/// The context is behind an exit.
void leave(Context& c, const MicroOperation& op) {
    count_jump(c, op, kLeave);
}

/// The operation that stands behind the end of a piece of the list.
const MicroOperation* continued(Context& c, const MicroOperation& op) {
    count_jump(c, op, 0);
    return c.program->operations.data() + op.imm;
}

void check_limit(const Context& c, const MicroOperation& op, std::int64_t issues) {
    if (issues > c.issue_limit) [[unlikely]] {
        throw ExecutionFault{"the worker has not exited within tile.phase_limit_cycles: it seems "
                             "to loop for ever",
                             false, &op, false, true};
    }
}

/// Makes the code segment that holds the context's target the executed one.
void find_program(Context& c, const MicroOperation* from) {
    if (c.program->holds(c.target)) {
        return;
    }
    for (std::size_t number = 0; number < c.programs.size(); ++number) {
        if (c.programs[number]->holds(c.target)) {
            take_up(c, number);
            return;
        }
    }
    throw ExecutionFault{"branch to " + hex(c.target) + ": no code there", false, from};
}

/// The operation at the context's target, in the code that is executed.
const MicroOperation* arrive(Context& c, bool pays_unaligned) {
    const MicroOperation& first =
        c.program->operations[static_cast<std::size_t>(c.program->index_of(c.target))];
    const Position& position = c.program->position_of(first);
    c.issues -= position.issues_before;
    c.jump_log->entered(c.program_number, position.count_before, pays_unaligned);
    return &first;
}

/// The first operation of a worker.
[[gnu::noinline]] const MicroOperation* enter(Context& c) {
    find_program(c, nullptr);
    return arrive(c, false);
}

/// The operation at the target of a taken branch, whatever code segment holds it.
[[gnu::noinline]] const MicroOperation* follow(Context& c, const MicroOperation& branch) {
    const DecodedProgram& from = *c.program;
    std::int64_t* const times = c.jumps;
    find_program(c, &branch); // a fault leaves the counters as they are
    const std::size_t left = from.jump_of(branch) + kLeave;
    c.issues += from.jumps[left].issues;
    ++times[left];
    const bool pays_unaligned = c.program->unaligned_bundle(c.target);
    if (pays_unaligned) {
        c.issues += c.unaligned_bundle_issues;
    }
    return arrive(c, pays_unaligned);
}

/// The same for a branch to a constant address, nearly always inside its own code segment. Where it
/// goes on is a sum of what the branch itself holds: everything behind it waits for that.
TESSERA_INLINE const MicroOperation* follow_constant(Context& c, const MicroOperation& op) {
    if (op.imm2 == DecodedProgram::kOutside) [[unlikely]] {
        return follow(c, op);
    }
    const std::size_t jump = c.program->jump_of(op) + kTaken;
    const Jump& taken = c.program->jumps[jump];
    c.issues += taken.issues + taken.unaligned * c.unaligned_bundle_issues;
    ++c.jumps[jump];
    return &op + op.imm2;
}

/// Starts a zero-overhead loop, or jumps over its body.
[[gnu::noinline]] const MicroOperation* enter_repeat(Context& c, const MicroOperation& rpt) {
    const DecodedProgram& program = *c.program;
    const MicroOperation* const end = &program.operations[static_cast<std::size_t>(rpt.imm2)];
    if (c.repeat_count == 0) {
        count_jump(c, rpt, kSkip);
        return end + 1;
    }
    c.repeat_first = program.address_of_operation((&rpt)[1]);
    c.repeat_end = program.address_of_operation(*end);
    const std::int32_t first = program.index_of(c.repeat_first);
    c.repeat_first_operation = &program.operations[static_cast<std::size_t>(first)];
    c.repeat_end_operation = end;
    // Nothing in a body leaves it, so that all passes are counted here, whoever does them.
    const std::size_t pass = program.jump_of(rpt) + kPass;
    c.repeat_issues = program.jumps[pass].issues;
    c.jumps[pass] += c.repeat_count - 1;
    check_limit(c, rpt, c.issues + c.repeat_count * c.repeat_issues / c.machine->steps_sharing);
    c.repeat_by_rows = c.rows_at_once;
#if !defined(TESSERA_OBSERVED) && !defined(TESSERA_SHADOW)
    if (end->d != 0 && c.rows_at_once && c.repeat_end - c.repeat_first == 3 * 8) {
        const SparseLoop& loop = program.sparse_loops[end->d - std::size_t{1}];
        const std::uint32_t passes = sparse_loop::run(c, loop);
        // the last pass is counted with the code behind the body
        const bool all = passes == c.repeat_count;
        const auto counted = static_cast<std::int64_t>(passes) - (all ? 1 : 0);
        c.issues += counted * c.repeat_issues;
        c.repeat_count -= passes;
        if (all) {
            return end + 1;
        }
    }
#endif
    return &rpt + 1;
}

void execute(Context& c, const MicroOperation& op);

#if defined(TESSERA_OBSERVED)

void run_worker(Context& c); // an instruction after the other: exec/step.h

#elif defined(TESSERA_SHADOW)

void run_worker(Context& c); // what is known of it: exec/shadow_step.h

#else

/// The counters behind `steps` further steps, each in the turn behind the one before, as if each
/// was counted by its position.
void count_steps(Context& c, std::int64_t steps) {
    const std::int64_t sharing = c.machine->steps_sharing;
    if (sharing == 1) {
        return;
    }
    const std::int64_t from_issue = c.steps_in_issue + steps; // counted from the open issue on
    const std::int64_t opened = (from_issue - 1) / sharing;
    c.issues -= steps - opened;
    c.step_issue += opened;
    c.steps_in_issue = from_issue - opened * sharing;
}

/// Does the remaining passes of a matrix-unit body at once, if it may. A body that begins in
/// another phase than 0 is interpreted up to there, and from there to its end after the last whole
/// row. The last pass is counted with the code behind the body, as where it is interpreted. False
/// if nothing was done.
[[gnu::noinline]] bool repeat_by_rows(Context& c, const MicroOperation& body_end) {
    const MatrixLoop& loop = c.program->matrix_loops[static_cast<std::size_t>(body_end.imm) - 1];
    c.repeat_by_rows = false;
    const std::uint32_t passes = c.repeat_count;
    const std::uint32_t before = (4U - loop.first_phase) % 4U;
    const std::uint32_t rows = before == 0 ? passes : passes - 1;
    const matrix_loop::Streams streams = matrix_loop::streams_from(c, loop, before, rows);
    if (rows == 0 || !matrix_loop::allowed(c, loop, streams)) {
        return false;
    }
    const auto interpret = [&c](Address from, Address to) {
        for (std::int32_t index = c.program->index_of(from);
             c.program->address_of[static_cast<std::size_t>(index)] < to; ++index) {
            execute(c, c.program->operations[static_cast<std::size_t>(index)]);
        }
    };
    interpret(c.repeat_first, c.repeat_first + 8U * before);
    matrix_loop::run(c, body_end, loop, streams);
    count_steps(c, streams.bundles);
    c.issues += static_cast<std::int64_t>(passes - 1) * c.repeat_issues;
    if (before != 0) {
        interpret(c.repeat_first + 8U * before, c.repeat_end);
    }
    c.repeat_count = 0;
    return true;
}

const MatrixPass& pass_of(const Context& c, const MicroOperation& op) {
    return c.program->matrix_passes[static_cast<std::size_t>(op.imm) - 1];
}

/// Does all of a pass up to its end, if it may; false if nothing was done. What stands in it once is
/// counted by the position of its end.
[[gnu::noinline]] bool pass_at_once(Context& c, const MicroOperation& op) {
    if (op.imm == 0 || !c.rows_at_once) {
        return false;
    }
    const MatrixPass& pass = pass_of(c, op);
    const DecodedProgram& program = *c.program;
    const auto operation = [&](std::int32_t index) -> const MicroOperation& {
        return program.operations[static_cast<std::size_t>(index)];
    };
    const MicroOperation& rpt = operation(pass.rpt);
    const std::uint32_t before = c.repeat_count;
    execute(c, rpt);
    const std::uint32_t passes = std::exchange(c.repeat_count, before);
    const matrix_pass::Code code{program.address_of_operation(op),
                                 program.address_of_operation(operation(pass.end))};
    const std::size_t jump = program.jump_of(rpt) + kPass;
    const std::int64_t more = static_cast<std::int64_t>(passes) - 1;
    const std::int64_t issues = more * program.jumps[jump].issues;
    if (more < 0 || c.issues + program.position_of(rpt).issues_upto + issues > c.issue_limit ||
        !matrix_pass::run(c, op, pass, code, passes)) {
        return false;
    }
    c.issues += issues;
    c.jumps[jump] += more;
    c.repeat_count = 0;
    return true;
}

void run_worker(Context& c) {
    static const void* const kLabels[] = {
        &&label_none,
#define TESSERA_OP(id, mnemonic, form, lane, code, cycles, flags, counts, source) &&label_##id,
#include "models/isa/opcodes.def"
#undef TESSERA_OP
        &&label_commit_single, &&label_commit_pair, &&label_commit_quad, &&label_body_end,
        &&label_invalid,       &&label_bad_repeat,  &&label_continue,    &&label_end_of_code,
        &&label_copy_single,   &&label_copy_pair,   &&label_step,        &&label_pass,
        &&label_wait,
    };
    static_assert(std::size(kLabels) == static_cast<std::size_t>(Internal::kCount));

    const MicroOperation* op = enter(c);

#define TESSERA_DISPATCH() goto* kLabels[op->code]

    TESSERA_DISPATCH();

#define TESSERA_OP(id, mnemonic, form, lane, code, cycles, flags, counts, source)                  \
    label_##id : if constexpr (Opcode::id == Opcode::rpt_r || Opcode::id == Opcode::rpt_i) {       \
        id(c, *op);                                                                                \
        op = enter_repeat(c, *op);                                                                 \
    }                                                                                              \
    else if constexpr (((flags)&kControl) != 0) {                                                  \
        c.taken = false;                                                                           \
        id(c, *op);                                                                                \
        if constexpr (((flags)&kSolo) != 0) {                                                      \
            goto exited;                                                                           \
        } else if (c.taken) {                                                                      \
            op = has_constant_target(Form::form) ? follow_constant(c, *op) : follow(c, *op);       \
            check_limit(c, *op, c.issues);                                                         \
        } else {                                                                                   \
            ++op;                                                                                  \
        }                                                                                          \
    }                                                                                              \
    else {                                                                                         \
        id(c, *op);                                                                                \
        ++op;                                                                                      \
    }                                                                                              \
    TESSERA_DISPATCH();
#include "models/isa/opcodes.def"
#undef TESSERA_OP

exited:
    leave(c, *op);
    return;

label_body_end:
    if (c.repeat_count == 0 || c.repeat_end_operation != op) {
        ++op;
        TESSERA_DISPATCH();
    }
    if (--c.repeat_count == 0) {
        ++op;
        TESSERA_DISPATCH();
    }
    c.issues += c.repeat_issues;
    if (op->imm != 0 && c.repeat_by_rows && c.repeat_count > 1 &&
        c.repeat_end - c.repeat_first == 4 * 8 && repeat_by_rows(c, *op)) {
        ++op;
        TESSERA_DISPATCH();
    }
    op = c.repeat_first_operation;
    TESSERA_DISPATCH();

label_commit_single:
    commit_single(c, *op);
    ++op;
    TESSERA_DISPATCH();
label_commit_pair:
    commit_pair(c, *op);
    ++op;
    TESSERA_DISPATCH();
label_commit_quad:
    commit_quad(c, *op);
    ++op;
    TESSERA_DISPATCH();
label_copy_single:
    copy_single(c, *op);
    ++op;
    TESSERA_DISPATCH();
label_copy_pair:
    copy_pair(c, *op);
    ++op;
    TESSERA_DISPATCH();
label_step:
    count_step(c, *op);
    ++op;
    TESSERA_DISPATCH();
label_pass:
    op = pass_at_once(c, *op) ? c.program->operations.data() + pass_of(c, *op).end : op + 1;
    TESSERA_DISPATCH();
label_wait:
    throw ContextsMeet{};
label_continue:
    op = continued(c, *op);
    TESSERA_DISPATCH();
label_bad_repeat:
    bad_repeat(*op);
label_none:
label_invalid:
    invalid(*op);
label_end_of_code:
    fault(*op, "execution runs past the end of the code");

#undef TESSERA_DISPATCH
}

#endif

#ifdef TESSERA_SHADOW
void execute_known(Context& c, const MicroOperation& op) {
#else
void execute(Context& c, const MicroOperation& op) {
#endif
    switch (op.code) {
#define TESSERA_OP(id, mnemonic, form, lane, code, cycles, flags, counts, source)                  \
    case static_cast<std::uint16_t>(Opcode::id):                                                   \
        id(c, op);                                                                                 \
        break;
#include "models/isa/opcodes.def"
#undef TESSERA_OP
    case static_cast<std::uint16_t>(Internal::CommitSingle):
        commit_single(c, op);
        break;
    case static_cast<std::uint16_t>(Internal::CommitPair):
        commit_pair(c, op);
        break;
    case static_cast<std::uint16_t>(Internal::CommitQuad):
        commit_quad(c, op);
        break;
    case static_cast<std::uint16_t>(Internal::BodyEnd): // of another loop
        break;
    case static_cast<std::uint16_t>(Internal::BadRepeat):
        bad_repeat(op);
        break;
    case static_cast<std::uint16_t>(Internal::EndOfCode):
        fault(op, "execution runs past the end of the code");
    case static_cast<std::uint16_t>(Internal::CopySingle):
        copy_single(c, op);
        break;
    case static_cast<std::uint16_t>(Internal::CopyPair):
        copy_pair(c, op);
        break;
    case static_cast<std::uint16_t>(Internal::Step):
        count_step(c, op);
        break;
    case static_cast<std::uint16_t>(Internal::Pass):
    case static_cast<std::uint16_t>(Internal::Wait):
        break;
    case static_cast<std::uint16_t>(Internal::Invalid):
        invalid(op);
    default:
        fault(op, "not an instruction");
    }
}

} // namespace

#ifdef TESSERA_SHADOW
} // namespace tessera::isa::TESSERA_ENGINE
#include "models/isa/exec/shadow_step.h"
namespace tessera::isa::TESSERA_ENGINE {
#endif

extern const Engine kEngine;
const Engine kEngine = {TESSERA_ENGINE_NAME, run_worker, execute};

} // namespace tessera::isa::TESSERA_ENGINE

#if defined(TESSERA_OBSERVED) || defined(TESSERA_SHADOW)
#include "models/isa/exec/step.h"
#endif
