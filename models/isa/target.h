// SPDX-License-Identifier: MIT
// The machine as assembler, decoder and instructions need to know it: its generation and its memory
// map. The tile makes one from its spec; the layer below knows no spec.
#pragma once

#include "base/units.h"

#include <cstdint>

namespace tessera::isa {

struct Target {
    int architecture = 2; ///< `__IPU_ARCH_VERSION__`: 1 (GC2), 2 (GC200, Bow) or 21 (C600)
    std::int64_t workers = 6;
    Address memory_base = 0x4c000;
    std::uint32_t region0_bytes = 0x34000;
    std::uint32_t region1_bytes = 0x68000;
    std::uint32_t element_bytes = 0x4000;
    /// Steps of the matrix unit that may share an issue, and issues that one takes:
    /// amp.steps_per_issue.
    std::int64_t steps_sharing = 1;
    std::int32_t step_issues = 1;

    /// Sets of eight accumulating units: the first generation has one, that is 16 accumulators.
    [[nodiscard]] constexpr unsigned accumulator_sets() const { return architecture == 1 ? 1 : 2; }
    [[nodiscard]] constexpr bool has_fp8() const { return architecture == 21; }
    /// Bits that an rpt reads of its count register.
    [[nodiscard]] constexpr std::uint32_t repeat_count_mask() const {
        return architecture == 1 ? 0xfffU : 0xffffU;
    }
};

inline constexpr Target kDefaultTarget{};

} // namespace tessera::isa
