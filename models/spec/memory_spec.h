// SPDX-License-Identifier: MIT
// One tile's memory map.
#pragma once

#include "base/units.h"

#include <cstdint>

namespace tessera::spec {

/// Addresses have 21 bits: docs/evidence.md#memory-map.
inline constexpr std::int64_t kAddressSpace = 1 << 21;
/// Those of code and vertex state have 20, as operands of setzi and call.
inline constexpr std::int64_t kCodeReach = 1 << 20;

struct MemorySpec {
    std::int64_t base = 0x4c000;
    Bytes region0_bytes = 0x34000;
    Bytes region1_bytes = 0x68000;
    Bytes element_bytes = 0x4000;

    [[nodiscard]] Address region0_begin() const { return static_cast<Address>(base); }
    /// Where code may begin: a branch to address 0 ends a compute phase, so no code stands there.
    [[nodiscard]] Address code_begin() const { return static_cast<Address>(base == 0 ? 8 : base); }
    [[nodiscard]] Address region1_begin() const {
        return static_cast<Address>(base + region0_bytes);
    }
    [[nodiscard]] Address end() const {
        return static_cast<Address>(base + region0_bytes + region1_bytes);
    }
    [[nodiscard]] Bytes bytes() const { return region0_bytes + region1_bytes; }

    template <class Description> static void describe(Description& d) {
        constexpr std::int64_t kLeastRegion0 = 1024;
        d.field("base", &MemorySpec::base)
            .unit("B")
            .range(0, kCodeReach - kLeastRegion0)
            .says("address of the first byte of region 0")
            .from("docs/evidence.md#memory-map");
        d.field("region0_bytes", &MemorySpec::region0_bytes)
            .unit("B")
            .range(kLeastRegion0, kCodeReach)
            .says("region 0: executable, not interleaved")
            .from("docs/evidence.md#memory-map");
        d.field("region1_bytes", &MemorySpec::region1_bytes)
            .unit("B")
            .range(0, kAddressSpace)
            .says("region 1, straight behind region 0: interleaved by two, not executable")
            .from("docs/evidence.md#memory-map");
        d.field("element_bytes", &MemorySpec::element_bytes)
            .unit("B")
            .range(kLeastRegion0, kCodeReach) // region 0 is whole elements
            .says("memory element: serves one 64-bit access a cycle")
            .from("docs/evidence.md#memory-map");
    }
};

} // namespace tessera::spec
