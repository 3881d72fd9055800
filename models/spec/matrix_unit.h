// SPDX-License-Identifier: MIT
// What the matrix unit of a machine does at most in a tile cycle: derived from the generation and
// amp.steps_per_issue.
// Source: docs/evidence.md#matrix-unit
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"

#include <cstdint>

namespace tessera::spec {

struct MatrixUnit {
    std::int64_t sets = 0;         ///< of eight units
    std::int64_t macs_f16_f16 = 0; ///< multiply-accumulates a tile cycle, FP16 inputs and partials
    std::int64_t macs_f16_f32 = 0; ///< FP16 inputs, FP32 partials
    std::int64_t macs_f32_f32 = 0; ///< FP32 inputs and partials
    std::int64_t macs_f8_f16 = 0;  ///< FP8 inputs and FP16 partials, where there are such steps
    Bytes memory_bytes = 0; ///< a tile cycle: what the memory port moves beside a step in each slot
};

/// A unit takes 8 FP8, 4 FP16 or 1 FP32 inputs a step. FP32 partials of FP16 inputs fill one set whatever
/// there is. The widest access beside a step, ld2xst64pace, loads two words of 8 bytes and stores
/// one.
[[nodiscard]] inline MatrixUnit matrix_unit(const MachineSpec& machine) {
    constexpr std::int64_t kUnits = 8;
    constexpr Bytes kPacedBytes = 3 * 8;
    const std::int64_t sets = machine.chip.generation == Generation::Ipu1 ? 1 : 2;
    const std::int64_t f8_sets = machine.chip.generation == Generation::Ipu21 ? sets : 0;
    const auto a_cycle = [&](std::int64_t of_a_step) {
        return of_a_step * machine.amp.steps_sharing() / machine.amp.step_issues();
    };
    return {sets,
            a_cycle(4 * kUnits * sets),
            a_cycle(4 * kUnits),
            a_cycle(kUnits * sets),
            a_cycle(8 * kUnits * f8_sets),
            a_cycle(kPacedBytes)};
}

} // namespace tessera::spec
