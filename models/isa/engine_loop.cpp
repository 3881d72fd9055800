// SPDX-License-Identifier: MIT
// The execution loop: every operation is a label, and each jumps straight to the next. Compiled
// once for each host instruction set, with TESSERA_ENGINE as the namespace.
#include "models/isa/engine.h"
#include "models/isa/exec/accumulate.h"
#include "models/isa/exec/amp.h"
#include "models/isa/exec/control.h"
#include "models/isa/exec/integer.h"
#include "models/isa/exec/load_store.h"
#include "models/isa/exec/matrix_loop.h"
#include "models/isa/exec/vector.h"

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

/// Adds the block that ends with operation `index` to the counts; the next block starts at `next`.
void close_block(Context& c, std::int32_t index, std::int32_t next) {
    const auto& positions = c.program->positions;
    const Position& first = positions[static_cast<std::size_t>(c.block_first)];
    const Position& last = positions[static_cast<std::size_t>(index)];
    c.issues += last.issues_upto - first.issues_before;
    c.executed += last.count_upto - first.count_before;
    c.block_first = next;
}

/// The first operation at the context's target, in whichever code segment holds it.
const MicroOperation* follow(Context& c, const MicroOperation* from, bool counts_as_branch) {
    c.taken = false;
    const Address target = c.target;
    if (!c.program->holds(target)) {
        const DecodedProgram* found = nullptr;
        for (const DecodedProgram* program : c.programs) {
            if (program->holds(target)) {
                found = program;
            }
        }
        if (found == nullptr) {
            throw ExecutionFault{"branch to " + hex(target) + ": no code there", false, from};
        }
        c.program = found;
    }
    const std::int32_t index = c.program->index_of(target);
    c.block_first = index;
    if (counts_as_branch && target % 8 != 0 &&
        c.program->is_bundle[(target - c.program->base) / 4] != 0) {
        c.issues += c.unaligned_bundle_issues;
    }
    return &c.program->operations[static_cast<std::size_t>(index)];
}

void execute(Context& c, const MicroOperation& op);

/// Does the remaining passes of a matrix-unit body at once, if it may. A body that begins in another phase than 0
/// is interpreted up to there, and from there to its end after the last whole row.
void repeat_by_rows(Context& c, const MicroOperation& body_end, std::int32_t first,
                    std::int32_t last) {
    const MatrixLoop& loop = c.program->matrix_loops[static_cast<std::size_t>(body_end.imm) - 1];
    c.repeat_by_rows = false;
    const std::uint32_t passes = c.repeat_count;
    const std::uint32_t before = (4U - loop.first_phase) % 4U;
    const std::uint32_t rows = before == 0 ? passes : passes - 1;
    const matrix_loop::Streams streams = matrix_loop::streams_from(c, loop, before, rows);
    if (rows == 0 || !matrix_loop::allowed(c, loop, streams)) {
        return;
    }
    const auto interpret = [&c](Address from, Address to) {
        for (std::int32_t index = c.program->index_of(from);
             c.program->address_of[static_cast<std::size_t>(index)] < to; ++index) {
            execute(c, c.program->operations[static_cast<std::size_t>(index)]);
        }
    };
    interpret(c.repeat_first, c.repeat_first + 8U * before);
    matrix_loop::run(c, loop, streams);
    const Position& begin = c.program->positions[static_cast<std::size_t>(first)];
    const Position& end = c.program->positions[static_cast<std::size_t>(last)];
    c.issues += static_cast<std::int64_t>(passes) * (end.issues_upto - begin.issues_before);
    c.executed += static_cast<std::int64_t>(passes) * (end.count_upto - begin.count_before);
    if (before != 0) {
        interpret(c.repeat_first + 8U * before, c.repeat_end);
    }
    c.repeat_count -= passes;
}

void run_worker(Context& c) {
    static const void* const kLabels[] = {
        &&label_none,
#define TESSERA_OP(id, mnemonic, form, lane, code, cycles, flags, source) &&label_##id,
#include "models/isa/opcodes.def"
#undef TESSERA_OP
        &&label_commit_single, &&label_commit_pair, &&label_commit_quad, &&label_body_end,
        &&label_invalid,       &&label_bad_repeat,  &&label_continue,    &&label_end_of_code,
    };
    static_assert(std::size(kLabels) == static_cast<std::size_t>(Internal::kCount));

    const MicroOperation* op = follow(c, nullptr, false);
    std::int32_t index = 0;

#define TESSERA_DISPATCH() goto* kLabels[op->code]
#define TESSERA_INDEX() static_cast<std::int32_t>(op - c.program->operations.data())

    TESSERA_DISPATCH();

#define TESSERA_OP(id, mnemonic, form, lane, code, cycles, flags, source)                          \
    label_##id : if constexpr (((flags)&kSystem) != 0) {                                           \
        index = TESSERA_INDEX();                                                                   \
        const Position& own = c.program->positions[static_cast<std::size_t>(index)];               \
        const Position& first = c.program->positions[static_cast<std::size_t>(c.block_first)];     \
        c.issues += own.issues_before - first.issues_before;                                       \
        c.executed += own.count_before - first.count_before;                                       \
        c.block_first = index;                                                                     \
    }                                                                                              \
    id(c, *op);                                                                                    \
    if constexpr (((flags)&kControl) != 0) {                                                       \
        if constexpr (Opcode::id == Opcode::rpt_r || Opcode::id == Opcode::rpt_i) {                \
            goto after_rpt;                                                                        \
        } else {                                                                                   \
            goto after_control;                                                                    \
        }                                                                                          \
    } else {                                                                                       \
        ++op;                                                                                      \
        TESSERA_DISPATCH();                                                                        \
    }
#include "models/isa/opcodes.def"
#undef TESSERA_OP

after_control:
    if (c.exited) {
        index = TESSERA_INDEX();
        close_block(c, index, index);
        return;
    }
    if (!c.taken) {
        ++op;
        TESSERA_DISPATCH();
    }
    index = TESSERA_INDEX();
    close_block(c, index, index);
    if (c.issues > c.issue_limit) [[unlikely]] {
        fault(*op, "the worker has not exited: it seems to loop for ever");
    }
    op = follow(c, op, true);
    TESSERA_DISPATCH();

after_rpt:
    index = TESSERA_INDEX();
    close_block(c, index, index + 1);
    if (c.repeat_count == 0) {
        op = c.program->operations.data() + op->imm2 + 1;
        c.block_first = TESSERA_INDEX();
        TESSERA_DISPATCH();
    }
    c.repeat_by_rows = c.rows_at_once;
    c.repeat_first = c.program->address_of[static_cast<std::size_t>(index) + 1];
    c.repeat_end = c.program->address_of[static_cast<std::size_t>(op->imm2)];
    ++op;
    TESSERA_DISPATCH();

label_body_end:
    index = TESSERA_INDEX();
    if (c.repeat_count == 0 ||
        c.repeat_end != c.program->address_of[static_cast<std::size_t>(index)]) {
        ++op;
        TESSERA_DISPATCH();
    }
    {
        const std::int32_t first = c.program->index_of(c.repeat_first);
        close_block(c, index, first);
        --c.repeat_count;
        if (op->imm != 0 && c.repeat_by_rows && c.repeat_count > 1 &&
            c.repeat_end - c.repeat_first == 4 * 8) {
            repeat_by_rows(c, *op, first, index);
        }
        if (c.repeat_count == 0) {
            ++op;
            c.block_first = index + 1;
        } else {
            op = c.program->operations.data() + first;
        }
    }
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
label_continue:
    index = TESSERA_INDEX();
    close_block(c, index, op->imm);
    op = c.program->operations.data() + op->imm;
    TESSERA_DISPATCH();
label_bad_repeat:
    bad_repeat(*op);
label_none:
label_invalid:
    fault(*op, "not an instruction");
label_end_of_code:
    fault(*op, "execution runs past the end of the code");

#undef TESSERA_DISPATCH
#undef TESSERA_INDEX
}

void execute(Context& c, const MicroOperation& op) {
    switch (op.code) {
#define TESSERA_OP(id, mnemonic, form, lane, code, cycles, flags, source)                          \
    case static_cast<std::uint8_t>(Opcode::id):                                                    \
        id(c, op);                                                                                 \
        break;
#include "models/isa/opcodes.def"
#undef TESSERA_OP
    case static_cast<std::uint8_t>(Internal::CommitSingle):
        commit_single(c, op);
        break;
    case static_cast<std::uint8_t>(Internal::CommitPair):
        commit_pair(c, op);
        break;
    case static_cast<std::uint8_t>(Internal::CommitQuad):
        commit_quad(c, op);
        break;
    case static_cast<std::uint8_t>(Internal::BadRepeat):
        bad_repeat(op);
        break;
    case static_cast<std::uint8_t>(Internal::EndOfCode):
        fault(op, "execution runs past the end of the code");
    default:
        fault(op, "not an instruction");
    }
}

} // namespace

extern const Engine kEngine;
const Engine kEngine = {TESSERA_ENGINE_NAME, run_worker, execute};

} // namespace tessera::isa::TESSERA_ENGINE
