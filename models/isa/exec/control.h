// SPDX-License-Identifier: MIT
// Main lane: branches, calls, zero-overhead loops, exits and control registers. A taken branch
// leaves its target in the context; the engine's loop follows it.
#pragma once

#include "models/isa/context.h"
#include "models/isa/csr_numbers.h"
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
    c.main[op.d] = c.program->branches[static_cast<std::size_t>(op.imm2)].link;
    take(c, static_cast<std::uint32_t>(op.imm));
}

/// The engine does the rest; `imm2` is the index of the operation at the end of the body.
inline void rpt_r(Context& c, const MicroOperation& op) {
    c.repeat_count = c.main[op.a] & 0xffffU;
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

inline void get(Context& c, const MicroOperation& op) {
    std::uint32_t value = 0;
    switch (op.imm) {
    case kCsrStatus:
        value = c.number < 0 ? 0U : static_cast<std::uint32_t>(c.number);
        break;
    case kCsrVertexBase:
        value = c.main[13];
        break;
    case kCsrWorkerBase:
        value = c.main[12];
        break;
    case kCsrCountL:
        value = static_cast<std::uint32_t>(clock_at(c, op));
        break;
    case kCsrCountU:
        value = static_cast<std::uint32_t>(static_cast<std::uint64_t>(clock_at(c, op)) >> 32U);
        break;
    default:
        fault(op, "get of a control register that is not modelled yet (docs/deviations.md)", true);
    }
    c.main[op.d] = value;
}

/// A worker writes no main control register in this version; the supervisor's are handled by the
/// tile.
inline void put(Context&, const MicroOperation& op) {
    fault(op, "put of a control register that is not modelled yet (docs/deviations.md)", true);
}

inline void uput(Context& c, const MicroOperation& op) {
    const std::uint32_t value = c.aux[op.a];
    switch (op.imm + kCsrAuxFirst) {
    case kCsrFpClear:
        if ((value & kFpClearAccumulators) != 0) {
            c.accumulators = Accumulators{};
        }
        break;
    case kCsrFpControl:
        if ((value & ~kFpNanOnOverflow) != 0) {
            fault(op, "traps and stochastic rounding are not modelled yet (docs/deviations.md)",
                  true);
        }
        c.fp_control = value;
        break;
    default:
        fault(op, "uput of a control register that is not modelled yet (docs/deviations.md)", true);
    }
}

inline void uget(Context& c, const MicroOperation& op) {
    if (op.imm + kCsrAuxFirst != kCsrFpControl) {
        fault(op, "uget of a control register that is not modelled yet (docs/deviations.md)", true);
    }
    c.aux[op.d] = c.fp_control;
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

} // namespace tessera::isa::TESSERA_ENGINE
