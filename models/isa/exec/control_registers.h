// SPDX-License-Identifier: MIT
// A worker's control and status registers. A register that does not exist reads 0. Writes to it and
// to read-only registers are ignored.
// Source: docs/evidence.md#instruction-set (control and status registers)
#pragma once

#include "models/isa/context.h"
#include "models/isa/csr_numbers.h"
#include "models/isa/decoded_program.h"
#include "models/isa/exec/fault.h"

namespace tessera::isa::TESSERA_ENGINE {

[[noreturn]] void fault_trap(const MicroOperation& op);
[[noreturn]] void fault_exchange(const Context& c, const MicroOperation& op);

/// The value that `get` reads; `clock` is the tile clock at which it issues.
[[gnu::noinline]] inline std::uint32_t control_register(const Context& c, const MicroOperation& op,
                                                        Cycles clock) {
    const auto cycles = static_cast<std::uint64_t>(clock);
    switch (op.imm) {
    case kCsrPc:
        return c.program->address_of_operation(op);
    case kCsrStatus:
        return static_cast<std::uint32_t>(c.number);
    case kCsrVertexBase:
        return c.main[13];
    case kCsrWorkerBase:
        return c.main[12];
    case kCsrRepeatCount:
        return c.repeat_count;
    case kCsrRepeatFirst:
        return c.repeat_first;
    case kCsrRepeatEnd:
        return c.repeat_end;
    case kCsrCountL:
        return static_cast<std::uint32_t>(cycles);
    case kCsrCountU:
        return static_cast<std::uint32_t>(cycles >> 32U);
    case kCsrDebugData:
    case kCsrDebugBreak:
        return c.debug[static_cast<std::size_t>(op.imm - kCsrDebugData)];
    default:
        return 0;
    }
}

/// Performs the write of `put`.
[[gnu::noinline]] inline void set_control_register(Context& c, std::int32_t number,
                                                   std::uint32_t value) {
    if (number == kCsrDebugData || number == kCsrDebugBreak) {
        c.debug[static_cast<std::size_t>(number - kCsrDebugData)] = value;
    }
}

/// One of the four words of the random number generator's state.
inline std::uint32_t random_word(const Context& c, std::int32_t number) {
    const auto word = static_cast<unsigned>(number - kCsrRandom);
    return static_cast<std::uint32_t>(c.random[word / 2] >> (32U * (word % 2)));
}

inline void set_random_word(Context& c, std::int32_t number, std::uint32_t value) {
    const auto word = static_cast<unsigned>(number - kCsrRandom);
    const unsigned shift = 32U * (word % 2);
    std::uint64_t& state = c.random[word / 2];
    state = (state & ~(std::uint64_t{0xffffffff} << shift)) | (std::uint64_t{value} << shift);
}

/// The value that `uget` reads.
[[gnu::noinline]] inline std::uint32_t aux_control_register(const Context& c, std::int32_t number) {
    switch (number) {
    case kCsrFpStatus:
        return c.fp_status;
    case kCsrFpControl:
        return c.fp_control;
    case kCsrRandom:
    case kCsrRandom + 1:
    case kCsrRandom + 2:
    case kCsrRandom + 3:
        return random_word(c, number);
    case kCsrTas:
        return c.tas;
    case kCsrFpFormat:
        return c.fp_format;
    case kCsrFpScale:
        return c.fp_scale;
    default:
        return 0;
    }
}

/// Performs the write of `uput`.
[[gnu::noinline]] inline void set_aux_control_register(Context& c, std::int32_t number,
                                                       std::uint32_t value) {
    switch (number) {
    case kCsrFpClear:
        c.fp_status &= ~(value & kFpFlags);
        if ((value & kFpClearAccumulators) != 0) {
            c.accumulators = Accumulators{};
        }
        break;
    case kCsrFpControl:
        c.fp_control = value & kFpControlBits;
        break;
    case kCsrRandom:
    case kCsrRandom + 1:
    case kCsrRandom + 2:
    case kCsrRandom + 3:
        set_random_word(c, number, value);
        break;
    case kCsrRandomSeed:
        c.random = seeded_random_state(value);
        break;
    case kCsrTas:
        c.tas = value;
        break;
    case kCsrFpFormat:
        c.fp_format = c.machine->has_fp8() ? value : 0;
        break;
    case kCsrFpScale:
        c.fp_scale = c.machine->has_fp8() ? value : 0;
        break;
    default:
        break;
    }
}

} // namespace tessera::isa::TESSERA_ENGINE
