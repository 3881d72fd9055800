// SPDX-License-Identifier: MIT
// Main lane: branches, calls, zero-overhead loops, exits and control registers. A taken branch
// leaves its target in the context; the engine's loop follows it.
#pragma once

#include "models/isa/context.h"
#include "models/isa/exec/control_registers.h"
#include "models/isa/exec/memory_access.h"

namespace tessera::isa::TESSERA_ENGINE {

inline void take(Context& c, std::uint32_t target) {
    c.target = target;
    c.taken = true;
}

inline void brz(Context& c, const MicroOperation& op) {
    if (c.main[op.a] == 0) {
        take(c, static_cast<std::uint32_t>(op.imm));
    }
}

inline void brnz(Context& c, const MicroOperation& op) {
    if (c.main[op.a] != 0) {
        take(c, static_cast<std::uint32_t>(op.imm));
    }
}

inline void brneg(Context& c, const MicroOperation& op) {
    if ((c.main[op.a] >> 31U) != 0) {
        take(c, static_cast<std::uint32_t>(op.imm));
    }
}

inline void brpos(Context& c, const MicroOperation& op) {
    if ((c.main[op.a] >> 31U) == 0) {
        take(c, static_cast<std::uint32_t>(op.imm));
    }
}

inline void brnzdec(Context& c, const MicroOperation& op) {
    if (c.main[op.d] != 0) {
        --c.main[op.d];
        take(c, static_cast<std::uint32_t>(op.imm));
    }
}

inline void bri(Context& c, const MicroOperation& op) {
    take(c, static_cast<std::uint32_t>(op.imm));
}

inline void br(Context& c, const MicroOperation& op) {
    take(c, c.main[op.a]);
}

inline void call(Context& c, const MicroOperation& op) {
    c.main[op.d] = c.program->jumps[c.program->jump_of(op)].link;
    take(c, static_cast<std::uint32_t>(op.imm));
}

/// The engine does the rest; `imm2` is the index of the operation at the end of the body.
inline void rpt_r(Context& c, const MicroOperation& op) {
    c.repeat_count = c.main[op.a] & c.machine->repeat_count_mask();
}

inline void rpt_i(Context& c, const MicroOperation& op) {
    c.repeat_count = static_cast<std::uint32_t>(op.imm);
}

inline void exitz(Context& c, const MicroOperation&) {
    c.exited = true;
}
inline void exitnz(Context& c, const MicroOperation&) {
    c.exited = true;
}
inline void exitpos(Context& c, const MicroOperation&) {
    c.exited = true;
}
inline void exitneg(Context& c, const MicroOperation&) {
    c.exited = true;
}

/// Tile clock at which the operation issues.
inline Cycles clock_at(const Context& c, const MicroOperation& op) {
    if (c.number < 0) {
        return c.start_cycle; // the tile sets it before each of the supervisor's instructions
    }
    return c.start_cycle +
           (c.issues + c.program->position_of(op).issues_before) * c.cycles_per_issue;
}

// The supervisor's registers are the tile's business (models/tile/core/supervisor_registers.h).
inline void get(Context& c, const MicroOperation& op) {
    c.main[op.d] = control_register(c, op, clock_at(c, op));
}
inline void put(Context& c, const MicroOperation& op) {
    set_control_register(c, op.imm, c.main[op.a]);
}
inline void uget(Context& c, const MicroOperation& op) {
    c.aux[op.d] = aux_control_register(c, op.imm + kCsrAuxFirst);
}
inline void uput(Context& c, const MicroOperation& op) {
    set_aux_control_register(c, op.imm + kCsrAuxFirst, c.aux[op.a]);
}

/// Debugging's break: nobody takes it, so it ends the run.
inline void trap(Context&, const MicroOperation& op) {
    fault_trap(op);
}
inline void strap(Context&, const MicroOperation& op) {
    fault_trap(op);
}

// Supervisor only: the tile carries them out.
inline void run(Context&, const MicroOperation& op) {
    fault(op, "run is a supervisor instruction");
}
inline void runall(Context&, const MicroOperation& op) {
    fault(op, "runall is a supervisor instruction");
}
inline void sync(Context&, const MicroOperation& op) {
    fault(op, "sync is a supervisor instruction");
}
inline void ld64putcs(Context&, const MicroOperation& op) {
    fault(op, "ld64putcs is a supervisor instruction");
}
inline void ld128putcs(Context&, const MicroOperation& op) {
    fault(op, "ld128putcs is a supervisor instruction");
}

// Exchange rows: the exchange model reads their words; a vertex cannot execute them.
#define TESSERA_EXCHANGE(id)                                                                       \
    inline void id(Context& c, const MicroOperation& op) {                                         \
        fault_exchange(c, op);                                                                     \
    }
TESSERA_EXCHANGE(sans)
TESSERA_EXCHANGE(delay)
TESSERA_EXCHANGE(delaypic)
TESSERA_EXCHANGE(delayxpic)
TESSERA_EXCHANGE(send)
TESSERA_EXCHANGE(sendoff)
TESSERA_EXCHANGE(sendpic)
TESSERA_EXCHANGE(sendpicp)
#undef TESSERA_EXCHANGE

} // namespace tessera::isa::TESSERA_ENGINE
