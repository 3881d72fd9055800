// SPDX-License-Identifier: MIT
// The matrix unit.
#pragma once

#include <cstdint>

namespace tessera::spec {

struct AmpSpec {
    std::int64_t sets = 2;
    std::int64_t macs_f16_f16 = 64;
    std::int64_t macs_f16_f32 = 32;
    std::int64_t macs_f32_f32 = 16;

    template <class Description> static void describe(Description& d) {
        d.field("sets", &AmpSpec::sets)
            .unit("sets")
            .range(1, 2)
            .says("sets of eight multiply-accumulate units")
            .from("docs/evidence.md#matrix-unit")
            .used_by({"matrix instructions"});
        d.field("macs_f16_f16", &AmpSpec::macs_f16_f16)
            .unit("MACs a tile cycle")
            .range(1, 1024)
            .says("peak rate with FP16 inputs and FP16 partials")
            .from("docs/evidence.md#matrix-unit")
            .used_by({"matrix instructions"});
        d.field("macs_f16_f32", &AmpSpec::macs_f16_f32)
            .unit("MACs a tile cycle")
            .range(1, 1024)
            .says("peak rate with FP16 inputs and FP32 partials")
            .from("docs/evidence.md#matrix-unit")
            .used_by({"matrix instructions"});
        d.field("macs_f32_f32", &AmpSpec::macs_f32_f32)
            .unit("MACs a tile cycle")
            .range(1, 1024)
            .says("peak rate with FP32 inputs and FP32 partials")
            .from("docs/evidence.md#matrix-unit")
            .used_by({"matrix instructions"});
    }
};

} // namespace tessera::spec
