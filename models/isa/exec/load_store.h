// SPDX-License-Identifier: MIT
// Main lane: loads and stores with offset, with post-increment, with three packed addresses, and
// through delta lists.
#pragma once

#include "models/isa/address_triple.h"
#include "models/isa/context.h"
#include "models/isa/exec/memory_access.h"
#include "models/isa/exec/numbers.h"

namespace tessera::isa::TESSERA_ENGINE {

namespace access {

/// How a loaded value of `kBytes` lands in a register file.
struct MainWord {
    static constexpr unsigned kBytes = 4;
    TESSERA_INLINE static void load(std::uint32_t* to, const Context& c, const MicroOperation& op,
                                    Address at) {
        *to = read<std::uint32_t>(c, op, at);
    }
};

struct Word {
    static constexpr unsigned kBytes = 4;
    TESSERA_INLINE static void load(std::uint32_t* to, const Context& c, const MicroOperation& op,
                                    Address at) {
        *to = read_data<std::uint32_t>(c, op, at);
    }
};

struct Pair {
    static constexpr unsigned kBytes = 8;
    TESSERA_INLINE static void load(std::uint32_t* to, const Context& c, const MicroOperation& op,
                                    Address at) {
        store_pair(to, read_data<std::uint64_t>(c, op, at));
    }
};

struct Quad {
    static constexpr unsigned kBytes = 16;
    TESSERA_INLINE static void load(std::uint32_t* to, const Context& c, const MicroOperation& op,
                                    Address at) {
        const std::byte* from = checked<16>(c, op, at);
        if (at - c.memory->base < c.memory->region0_bytes) [[unlikely]] {
            fault(op, "a 128-bit load outside the interleaved region");
        }
#ifdef TESSERA_SHADOW
        static_cast<void>(from);
        static_cast<void>(to);
#else
        std::memcpy(to, from, 16);
#endif
    }
};

template <typename T> struct Narrow {
    static constexpr unsigned kBytes = sizeof(T);
    TESSERA_INLINE static void load(std::uint32_t* to, const Context& c, const MicroOperation& op,
                                    Address at) {
        *to = static_cast<std::uint32_t>(static_cast<std::int32_t>(read<T>(c, op, at)));
    }
};

/// One half in both halves of a register.
struct BroadcastHalf {
    static constexpr unsigned kBytes = 2;
    TESSERA_INLINE static void load(std::uint32_t* to, const Context& c, const MicroOperation& op,
                                    Address at) {
        *to = read_data<std::uint16_t>(c, op, at) * 0x10001U;
    }
};

template <typename Value>
TESSERA_INLINE void load_immediate(Context& c, const MicroOperation& op, std::uint32_t* file) {
    const Address at =
        c.main[op.a] + c.main[op.b] + static_cast<std::uint32_t>(op.imm) * Value::kBytes;
    Value::load(file + op.d, c, op, at);
}

template <typename Value>
TESSERA_INLINE void load_register(Context& c, const MicroOperation& op, std::uint32_t* file) {
    const Address at = c.main[op.a] + c.main[op.b] + c.main[op.c] * Value::kBytes;
    Value::load(file + op.d, c, op, at);
}

/// Post-increment: the delta register, which is none of the data's, steps by `steps` accesses.
template <typename Value>
TESSERA_INLINE void load_step(Context& c, const MicroOperation& op, std::uint32_t* file,
                              std::uint32_t steps) {
    const std::uint32_t delta = c.main[op.b];
    Value::load(file + op.d, c, op, c.main[op.a] + delta);
    c.main[op.b] = delta + steps * Value::kBytes;
}

TESSERA_INLINE void store_step(Context& c, const MicroOperation& op, std::uint32_t value,
                               std::uint32_t steps) {
    const std::uint32_t delta = c.main[op.b];
    write(c, op, c.main[op.a] + delta, value);
    c.main[op.b] = delta + steps * static_cast<std::uint32_t>(sizeof value);
}
template <typename T>
TESSERA_INLINE void store_data_step(Context& c, const MicroOperation& op, T value,
                                    std::uint32_t steps) {
    const std::uint32_t delta = c.main[op.b];
    write_data<T>(c, op, c.main[op.a] + delta, value);
    c.main[op.b] = delta + steps * static_cast<std::uint32_t>(sizeof(T));
}

} // namespace access

#define TESSERA_LOAD(name, value, file)                                                            \
    TESSERA_INLINE void name##_i(Context& c, const MicroOperation& op) {                           \
        access::load_immediate<access::value>(c, op, c.file);                                      \
    }                                                                                              \
    TESSERA_INLINE void name##_r(Context& c, const MicroOperation& op) {                           \
        access::load_register<access::value>(c, op, c.file);                                       \
    }
#define TESSERA_LOAD_STEP(name, value, file)                                                       \
    TESSERA_INLINE void name##_i(Context& c, const MicroOperation& op) {                           \
        access::load_step<access::value>(c, op, c.file, static_cast<std::uint32_t>(op.imm));       \
    }                                                                                              \
    TESSERA_INLINE void name##_r(Context& c, const MicroOperation& op) {                           \
        access::load_step<access::value>(c, op, c.file, c.main[op.c]);                             \
    }

TESSERA_LOAD(ld32_m, MainWord, main)
TESSERA_LOAD(ld32_a, Word, aux)
TESSERA_LOAD(ld64, Pair, aux)
TESSERA_LOAD(ld128, Quad, aux)
TESSERA_LOAD(ldz8, Narrow<std::uint8_t>, main)
TESSERA_LOAD(lds8, Narrow<std::int8_t>, main)
TESSERA_LOAD(ldz16, Narrow<std::uint16_t>, main)
TESSERA_LOAD(lds16, Narrow<std::int16_t>, main)
TESSERA_LOAD(ldb16, BroadcastHalf, aux)
TESSERA_LOAD_STEP(ld32step_m, MainWord, main)
TESSERA_LOAD_STEP(ld32step_a, Word, aux)
TESSERA_LOAD_STEP(ld64step, Pair, aux)
TESSERA_LOAD_STEP(ld128step, Quad, aux)
TESSERA_LOAD_STEP(ldz8step, Narrow<std::uint8_t>, main)
TESSERA_LOAD_STEP(lds8step, Narrow<std::int8_t>, main)
TESSERA_LOAD_STEP(ldz16step, Narrow<std::uint16_t>, main)
TESSERA_LOAD_STEP(lds16step, Narrow<std::int16_t>, main)
TESSERA_LOAD_STEP(ldb16step, BroadcastHalf, aux)

#undef TESSERA_LOAD
#undef TESSERA_LOAD_STEP

TESSERA_INLINE Address store_address(const Context& c, const MicroOperation& op,
                                     std::uint32_t offset_bytes) {
    return c.main[op.a] + c.main[op.b] + offset_bytes;
}

TESSERA_INLINE void st32_m_i(Context& c, const MicroOperation& op) {
    write(c, op, store_address(c, op, static_cast<std::uint32_t>(op.imm) * 4U), c.main[op.d]);
}
TESSERA_INLINE void st32_a_i(Context& c, const MicroOperation& op) {
    write_data(c, op, store_address(c, op, static_cast<std::uint32_t>(op.imm) * 4U), c.aux[op.d]);
}
TESSERA_INLINE void st64_i(Context& c, const MicroOperation& op) {
    write_data(c, op, store_address(c, op, static_cast<std::uint32_t>(op.imm) * 8U),
               load_pair(c.aux + op.d));
}
TESSERA_INLINE void st32_a_r(Context& c, const MicroOperation& op) {
    write_data(c, op, store_address(c, op, c.main[op.c] * 4U), c.aux[op.d]);
}
TESSERA_INLINE void st64_r(Context& c, const MicroOperation& op) {
    write_data(c, op, store_address(c, op, c.main[op.c] * 8U), load_pair(c.aux + op.d));
}
/// Main sources with a register offset are stored by stm32, which has no delta.
TESSERA_INLINE void stm32(Context& c, const MicroOperation& op) {
    write(c, op, c.main[op.a] + c.main[op.b] * 4U, c.main[op.d]);
}
/// Here the base steps.
TESSERA_INLINE void stm32step(Context& c, const MicroOperation& op) {
    const Address base = c.main[op.a];
    const std::uint32_t step = c.main[op.b] * 4U;
    write(c, op, base, c.main[op.d]);
    c.main[op.a] = base + step;
}
TESSERA_INLINE void st32step_m_i(Context& c, const MicroOperation& op) {
    access::store_step(c, op, c.main[op.d], static_cast<std::uint32_t>(op.imm));
}
TESSERA_INLINE void st32step_m_r(Context& c, const MicroOperation& op) {
    access::store_step(c, op, c.main[op.d], c.main[op.c]);
}
TESSERA_INLINE void st32step_a_i(Context& c, const MicroOperation& op) {
    access::store_data_step(c, op, c.aux[op.d], static_cast<std::uint32_t>(op.imm));
}
TESSERA_INLINE void st32step_a_r(Context& c, const MicroOperation& op) {
    access::store_data_step(c, op, c.aux[op.d], c.main[op.c]);
}
TESSERA_INLINE void st64step_i(Context& c, const MicroOperation& op) {
    access::store_data_step(c, op, load_pair(c.aux + op.d), static_cast<std::uint32_t>(op.imm));
}
TESSERA_INLINE void st64step_r(Context& c, const MicroOperation& op) {
    access::store_data_step(c, op, load_pair(c.aux + op.d), c.main[op.c]);
}

// ---- three packed addresses

/// Step selected by a 2-bit field: 8 bytes, or 8 times one of the stride register's signed 10-bit
/// fields.
TESSERA_INLINE std::uint32_t pace_step(std::uint32_t strides, unsigned selector) {
    if (selector == 0) {
        return 8;
    }
    const std::uint32_t field = strides >> (10U * (selector - 1U));
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(field << 22U) >> 22) * 8U;
}

TESSERA_INLINE void ld2x64pace(Context& c, const MicroOperation& op) {
    AddressTriple at = AddressTriple::unpack(c.main + op.a);
    check_elements(c, op, at.a0, at.a1);
    const auto first = read_data<std::uint64_t>(c, op, at.a0);
    const auto second = read_data<std::uint64_t>(c, op, at.a1);
    const auto select = static_cast<unsigned>(op.imm);
    at.a0 += pace_step(c.main[op.b], select & 3U);
    at.a1 += pace_step(c.main[op.b], (select >> 2U) & 3U);
    at.pack(c.main + op.a);
    store_pair(c.aux + op.d, first);
    store_pair(c.aux + op.d2, second);
}

namespace access {

/// 64 bits and a smaller datum at once. Addresses step as in ld2x64pace, by multiples of 8 bytes.
template <typename Value> TESSERA_INLINE void load_two(Context& c, const MicroOperation& op) {
    AddressTriple at = AddressTriple::unpack(c.main + op.a);
    check_elements(c, op, at.a0, at.a1);
    const auto first = read_data<std::uint64_t>(c, op, at.a0);
    std::uint32_t second = 0;
    Value::load(&second, c, op, at.a1);
    const auto select = static_cast<unsigned>(op.imm);
    at.a0 += pace_step(c.main[op.b], select & 3U);
    at.a1 += pace_step(c.main[op.b], (select >> 2U) & 3U);
    at.pack(c.main + op.a);
    store_pair(c.aux + op.d, first);
    c.aux[op.d2] = second;
}

} // namespace access

TESSERA_INLINE void ld64a32pace(Context& c, const MicroOperation& op) {
    access::load_two<access::Word>(c, op);
}
TESSERA_INLINE void ld64b16pace(Context& c, const MicroOperation& op) {
    access::load_two<access::BroadcastHalf>(c, op);
}

TESSERA_INLINE void ldst64pace(Context& c, const MicroOperation& op) {
    AddressTriple at = AddressTriple::unpack(c.main + op.a);
    check_elements(c, op, at.a0, at.a2);
    const auto loaded = read_data<std::uint64_t>(c, op, at.a0);
    write_data(c, op, at.a2, load_pair(c.aux + op.c));
    const auto select = static_cast<unsigned>(op.imm);
    at.a0 += pace_step(c.main[op.b], select & 3U);
    at.a2 += pace_step(c.main[op.b], (select >> 2U) & 3U);
    at.pack(c.main + op.a);
    store_pair(c.aux + op.d, loaded);
}

TESSERA_INLINE void ld2xst64pace(Context& c, const MicroOperation& op) {
    AddressTriple at = AddressTriple::unpack(c.main + op.a);
    check_elements(c, op, at.a0, at.a1);
    check_elements(c, op, at.a0, at.a2);
    check_elements(c, op, at.a1, at.a2);
    if (at.a1 - c.memory->base < c.memory->region0_bytes) [[unlikely]] {
        fault(op, "the second load of ld2xst64pace is in the executable region");
    }
    const auto first = read_data<std::uint64_t>(c, op, at.a0);
    const auto second = read_data<std::uint64_t>(c, op, at.a1);
    write_data(c, op, at.a2, load_pair(c.aux + op.c));
    const auto select = static_cast<unsigned>(op.imm);
    at.a0 += pace_step(c.main[op.b], select & 3U);
    at.a1 += pace_step(c.main[op.b], (select >> 2U) & 3U);
    at.a2 += pace_step(c.main[op.b], (select >> 4U) & 3U);
    at.pack(c.main + op.a);
    store_pair(c.aux + op.d, first);
    store_pair(c.aux + op.d + 2, second);
}

TESSERA_INLINE void st64pace(Context& c, const MicroOperation& op) {
    AddressTriple at = AddressTriple::unpack(c.main + op.a);
    write_data(c, op, at.a2, load_pair(c.aux + op.c));
    at.a2 += pace_step(c.main[op.b], static_cast<unsigned>(op.imm) & 3U);
    at.pack(c.main + op.a);
}

// ---- delta lists: data at base + the old delta, and the next delta from the list

namespace access {

template <typename Value> TESSERA_INLINE void load_delta(Context& c, const MicroOperation& op) {
    const Address data = c.main[op.b] + (c.main[op.c] & 0xffffU);
    const Address list = c.main[op.a];
    check_elements(c, op, data, list);
    Value::load(c.aux + op.d, c, op, data);
    c.main[op.c] = read<std::uint16_t>(c, op, list);
    c.main[op.a] = list + 2U;
}

} // namespace access

TESSERA_INLINE void ldd16a64(Context& c, const MicroOperation& op) {
    access::load_delta<access::Pair>(c, op);
}
TESSERA_INLINE void ldd16a32(Context& c, const MicroOperation& op) {
    access::load_delta<access::Word>(c, op);
}
TESSERA_INLINE void ldd16b16(Context& c, const MicroOperation& op) {
    access::load_delta<access::BroadcastHalf>(c, op);
}

/// Two deltas in a register, of which the upper one is used; the next two come from the list.
TESSERA_INLINE void ldd16v2a32(Context& c, const MicroOperation& op) {
    const Address data = c.main[op.b] + (c.main[op.c] >> 16U);
    const Address list = c.main[op.a];
    check_elements(c, op, data, list);
    const auto value = read_data<std::uint32_t>(c, op, data);
    c.main[op.c] = read<std::uint32_t>(c, op, list);
    c.main[op.a] = list + 4U;
    c.aux[op.d] = value;
}

/// The quad's first register keeps its value.
TESSERA_INLINE void ld64a32(Context& c, const MicroOperation& op) {
    const Address pair = c.main[op.a];
    const Address single = c.main[op.b] + (c.main[op.c] & 0xffffU);
    check_elements(c, op, pair, single);
    const auto upper = read_data<std::uint64_t>(c, op, pair);
    c.aux[op.d + 1U] = read_data<std::uint32_t>(c, op, single);
    store_pair(c.aux + op.d + 2, upper);
    c.main[op.a] = pair + 8U;
}

/// Two halves at a base plus the two halves of a delta register. The lower delta goes on to the
/// next half; the upper one by as many halves as the low four bits of a register say, which shift
/// out of it (docs/deviations.md: mini-deltas).
TESSERA_INLINE void ldb16b16(Context& c, const MicroOperation& op) {
    const std::uint32_t deltas = c.main[op.b];
    const std::uint32_t steps = c.main[op.c];
    const Address low = c.main[op.a] + (deltas & 0xffffU);
    const Address high = c.main[op.a] + (deltas >> 16U);
    check_elements(c, op, low, high);
    const std::uint32_t first = read_data<std::uint16_t>(c, op, low) * 0x10001U;
    const std::uint32_t second = read_data<std::uint16_t>(c, op, high) * 0x10001U;
    const std::uint32_t upper = (deltas & 0xffff0000U) + ((steps & 15U) << 17U);
    c.main[op.b] = upper | ((deltas + 2U) & 0xffffU);
    c.main[op.c] = steps >> 4U;
    c.aux[op.d] = first;
    c.aux[op.d + 1U] = second;
}

} // namespace tessera::isa::TESSERA_ENGINE
