// SPDX-License-Identifier: MIT
// The chip as a whole.
#pragma once

#include <cstdint>

namespace tessera::spec {

/// Instruction-set generation: ipu1 (GC2), ipu2 (GC200, Bow), ipu21 (C600).
enum class Generation { Ipu1, Ipu2, Ipu21 };

struct ChipSpec {
    Generation generation = Generation::Ipu2;
    std::int64_t tiles = 1472;
    double clock_hz = 1.85e9;

    bool operator==(const ChipSpec&) const = default;

    template <class Description> static void describe(Description& d) {
        d.field(
             "generation", &ChipSpec::generation,
             {{"ipu1", Generation::Ipu1}, {"ipu2", Generation::Ipu2}, {"ipu21", Generation::Ipu21}})
            .says("instruction-set generation: ipu1 is GC2, ipu2 is GC200 and Bow, ipu21 is C600")
            .from("docs/evidence.md#chip");
        // The compiled exchange takes fewer tiles (kMostCompiledTiles); the other fabrics take all
        // of this range.
        d.field("tiles", &ChipSpec::tiles)
            .unit("tiles")
            .range(1, 16384)
            .says("tiles that programs can use")
            .from("docs/evidence.md#chip");
        d.field("clock_hz", &ChipSpec::clock_hz)
            .unit("Hz")
            .range(1e6, 1e11)
            .says("tile clock; turns cycles into seconds, and the times of what is outside the "
                  "chip into cycles")
            .from("docs/evidence.md#clock");
    }
};

} // namespace tessera::spec
