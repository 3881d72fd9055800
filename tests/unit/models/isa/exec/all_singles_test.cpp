// SPDX-License-Identifier: MIT
// Conversion to FP16 of every FP32 number.
#include "tests/unit/models/isa/exec/instruction.h"
#include "tests/unit/models/isa/exec/reference.h"

using namespace tessera;
using namespace tessera::test;

namespace {

std::uint16_t narrowed(std::uint32_t x) {
    if (single_is_nan(x) || single_is_infinite(x)) {
        return kNanHalf;
    }
    const std::uint16_t half = nearest_half(single_value(x));
    return half_is_infinite(half) ? static_cast<std::uint16_t>(half - 1U) : half;
}

} // namespace

TEST_CASE("every FP32 number becomes the nearest half", "[slow][isa]") {
    const Instruction convert("f32v4tof16 $a4:5, $a0:3");
    const isa::FpEnvironment rounding;
    Mismatches results;
    for (std::uint64_t x = 0; x < 0x100000000; x += 4) {
        isa::Context context;
        std::uint64_t wanted = 0;
        for (unsigned i = 0; i < 4; ++i) {
            context.aux[i] = static_cast<std::uint32_t>(x + i);
            wanted |= static_cast<std::uint64_t>(narrowed(context.aux[i])) << (16 * i);
        }
        for (const isa::Engine& engine : isa::engines()) {
            convert(engine, context);
            results.expect(pair_of(context, 4), wanted, x);
        }
    }
    TESSERA_CHECK_NONE(results);
}
