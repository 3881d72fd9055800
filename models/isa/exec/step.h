// SPDX-License-Identifier: MIT
// Steps one instruction at a time. engine_loop.cpp ends with this file when it is compiled as the
// observed or the shadow engine.
#pragma once

#include "models/isa/stepped_engine.h"

namespace tessera::isa::TESSERA_ENGINE {

namespace {

/// Advances `op` to the next instruction: past ends of repeat bodies, links between parts of the list
/// and marks of loops that other engines execute as a whole.
const MicroOperation* settle(Context& c, const MicroOperation* op) {
    while (true) {
        if (op->code == static_cast<std::uint16_t>(Internal::Continue)) {
            op = continued(c, *op);
        } else if (op->code == static_cast<std::uint16_t>(Internal::Pass) ||
                   op->code == static_cast<std::uint16_t>(Internal::Wait)) {
            ++op;
        } else if (op->code != static_cast<std::uint16_t>(Internal::BodyEnd)) {
            return op;
        } else if (c.repeat_count == 0 || c.repeat_end_operation != op || --c.repeat_count == 0) {
            ++op;
        } else {
            c.issues += c.repeat_issues;
            op = c.repeat_first_operation;
        }
    }
}

const MicroOperation* enter_worker(Context& c) {
    c.taken = false;
    return settle(c, enter(c));
}

/// The operation after a control instruction, whether it branches or not; null after an exit.
const MicroOperation* behind_control(Context& c, const MicroOperation& op) {
    const auto opcode = static_cast<Opcode>(op.code);
    if (opcode == Opcode::rpt_r || opcode == Opcode::rpt_i) {
        return enter_repeat(c, op);
    }
    if ((spec_of(opcode).flags & kSolo) != 0) {
        leave(c, op);
        return nullptr;
    }
    if (!c.taken) {
        return &op + 1;
    }
    return has_constant_target(spec_of(opcode).form) ? follow_constant(c, op) : follow(c, op);
}

const MicroOperation* step(Context& c, const MicroOperation* op) {
    const Address address = c.program->address_of_operation(*op);
    if (c.taken) { // by the instruction before
        check_limit(c, *op, c.issues);
        c.taken = false;
    }
    do {
        execute(c, *op);
        if (op->code < static_cast<std::uint16_t>(Opcode::kCount) &&
            (spec_of(static_cast<Opcode>(op->code)).flags & kControl) != 0) {
            const MicroOperation* const next = behind_control(c, *op);
            return next == nullptr ? nullptr : settle(c, next);
        }
        ++op;
    } while (c.program->address_of_operation(*op) == address &&
             op->code != static_cast<std::uint16_t>(Internal::Continue));
    return settle(c, op);
}

#ifdef TESSERA_OBSERVED
void run_worker(Context& c) {
    for (const MicroOperation* op = enter_worker(c); op != nullptr;) {
        op = step(c, op);
    }
}
#endif

} // namespace

extern const SteppedEngine kSteppedEngine;
const SteppedEngine kSteppedEngine = {kEngine, enter_worker, step};

} // namespace tessera::isa::TESSERA_ENGINE
