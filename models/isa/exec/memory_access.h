// SPDX-License-Identifier: MIT
// Checked access to tile memory: alignment, bounds, the fetch window of region 0, one access an
// element an instruction. Source: docs/evidence.md#memory-conflicts
#pragma once

#include "models/isa/context.h"
#include "models/isa/decoded_program.h"
#include "models/isa/exec/fault.h"
#include "models/isa/exec/numbers.h"
#ifdef TESSERA_SHADOW
#include "models/isa/shadow.h"
#endif

#include <cstring>

namespace tessera::isa::TESSERA_ENGINE {

[[noreturn]] void fault_access(const MicroOperation& op, Address address, unsigned access_bytes,
                               const MemoryView& memory);
[[noreturn]] void fault_fetch_conflict(const MicroOperation& op, Address address);
[[noreturn]] void fault_element_conflict(const MicroOperation& op, Address first, Address second);

#ifdef TESSERA_OBSERVED
/// The observed engine notes each access, and conflicts where they are not to fault.
inline void observe(const Context& c, Address address, unsigned access_bytes, bool writes) {
    c.log->accesses.push_back(access_to(*c.memory, address, access_bytes, writes));
}
inline bool conflict_goes_on(const Context& c, ConflictKind kind, Address address) {
    if (!c.log->conflicts_fault) {
        c.log->conflicts.push_back({kind, address});
    }
    return !c.log->conflicts_fault;
}
#else
#ifdef TESSERA_SHADOW
/// The shadow engine follows the addresses of a repeat's passes.
inline void observe(const Context& c, Address address, unsigned access_bytes, bool writes) {
    if (c.shadow->watching && !(writes && c.shadow->scatters)) {
        c.shadow->trail.push_back(
            {address - c.memory->base, static_cast<std::uint8_t>(access_bytes), writes});
    }
}
#else
constexpr void observe(const Context&, Address, unsigned, bool) {}
#endif
constexpr bool conflict_goes_on(const Context&, ConflictKind, Address) {
    return false;
}
#endif

/// Region 0 is shared with instruction fetch: the body of a running rpt, else PC + 4 to the end of
/// the context's window.
TESSERA_INLINE void check_fetch_window(const Context& c, const MicroOperation& op,
                                       std::uint32_t offset) {
    const MemoryView& memory = *c.memory;
    if (!memory.fetch_conflict_faults) {
        return;
    }
    Address first = 0;
    Address last = 0;
    if (c.repeat_count > 0) {
        first = c.repeat_first;
        last = c.repeat_end - 4;
    } else {
        const Address pc = c.program->address_of_operation(op);
        first = pc + 4;
        last = pc + c.fetch_window_bytes;
    }
    const std::uint32_t element = offset >> memory.element_shift;
    if (element >= (first - memory.base) >> memory.element_shift &&
        element <= (last - memory.base) >> memory.element_shift &&
        !conflict_goes_on(c, ConflictKind::Fetch, memory.base + offset)) [[unlikely]] {
        fault_fetch_conflict(op, memory.base + offset);
    }
}

template <unsigned kBytes>
TESSERA_INLINE std::byte* checked(const Context& c, const MicroOperation& op, Address address,
                                  bool writes = false) {
    const MemoryView& memory = *c.memory;
    const std::uint32_t offset = address - memory.base;
    if (offset > memory.span_bytes - kBytes || (address & (kBytes - 1U)) != 0) [[unlikely]] {
        fault_access(op, address, kBytes, memory);
    }
    if (offset < memory.region0_bytes) {
        check_fetch_window(c, op, offset);
    }
    observe(c, address, kBytes, writes);
    return memory.bytes + offset;
}

/// For a main register.
template <typename T>
TESSERA_INLINE T read(const Context& c, const MicroOperation& op, Address address) {
    T value{};
    std::memcpy(&value, checked<sizeof(T)>(c, op, address), sizeof(T));
#ifdef TESSERA_SHADOW
    c.shadow->loaded_unknown = !c.shadow->read(address - c.memory->base);
#endif
    return value;
}

/// For aux registers.
template <typename T>
TESSERA_INLINE T read_data(const Context& c, const MicroOperation& op, Address address) {
    T value{};
    [[maybe_unused]] const std::byte* from = checked<sizeof(T)>(c, op, address);
#ifndef TESSERA_SHADOW
    std::memcpy(&value, from, sizeof(T));
#endif
    return value;
}

/// Somewhere between the first and the last code byte: is it code itself?
TESSERA_INLINE void check_store_beside_code(const Context& c, const MicroOperation& op,
                                            Address address, unsigned store_bytes) {
    for (const DecodedProgram* program : c.programs) {
        if (address + store_bytes > program->base && address < program->base + program->bytes()) {
            fault(op, "a store into code (self-modifying code is not modelled; docs/deviations.md)",
                  true);
        }
    }
}

template <typename T>
TESSERA_INLINE std::byte* checked_store(const Context& c, const MicroOperation& op,
                                        Address address) {
    std::byte* to = checked<sizeof(T)>(c, op, address, true);
    const std::uint32_t offset = address - c.memory->base;
    if (offset < c.memory->code_end && offset + sizeof(T) > c.memory->code_begin) [[unlikely]] {
        check_store_beside_code(c, op, address, sizeof(T));
    }
    return to;
}

/// Stores a main register.
TESSERA_INLINE void write(const Context& c, const MicroOperation& op, Address address,
                          std::uint32_t value) {
    std::byte* to = checked_store<std::uint32_t>(c, op, address);
    std::memcpy(to, &value, sizeof value);
#ifdef TESSERA_SHADOW
    c.shadow->store(address - c.memory->base, !c.shadow->stores_unknown);
#endif
}

/// Stores aux registers.
template <typename T>
TESSERA_INLINE void write_data(const Context& c, const MicroOperation& op, Address address,
                               T value) {
    [[maybe_unused]] std::byte* to = checked_store<T>(c, op, address);
#ifdef TESSERA_SHADOW
    static_cast<void>(value);
    c.shadow->store_data(address - c.memory->base, sizeof(T));
#else
    std::memcpy(to, &value, sizeof(T));
#endif
}

/// The memory element of an address inside memory: region 1 elements are paired and bit 3 selects
/// the member.
TESSERA_INLINE std::uint32_t element_of(const MemoryView& memory, Address address) {
    const std::uint32_t offset = address - memory.base;
    if (offset < memory.region0_bytes) {
        return offset >> memory.element_shift;
    }
    const std::uint32_t inside = offset - memory.region0_bytes;
    return 0x10000U | ((inside >> (memory.element_shift + 1U)) << 1U) | ((address >> 3U) & 1U);
}

TESSERA_INLINE void check_elements(const Context& c, const MicroOperation& op, Address first,
                                   Address second) {
    if (element_of(*c.memory, first) == element_of(*c.memory, second) &&
        !conflict_goes_on(c, ConflictKind::Element, first)) [[unlikely]] {
        fault_element_conflict(op, first, second);
    }
}

} // namespace tessera::isa::TESSERA_ENGINE
