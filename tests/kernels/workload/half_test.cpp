// SPDX-License-Identifier: MIT
#include "kernels/workload/half.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>

using tessera::f16_to_f32;
using tessera::f32_to_f16;
using tessera::workload::f64_to_f16;
using tessera::workload::is_finite_f16;

TEST_CASE("every binary16 survives a trip through binary64", "[operands]") {
    int wrong = 0;
    for (std::uint32_t bits = 0; bits < 0x10000U; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        if (is_finite_f16(half)) {
            wrong += f64_to_f16(static_cast<double>(f16_to_f32(half))) != half ? 1 : 0;
        }
    }
    CHECK(wrong == 0);
}

TEST_CASE("binary64 is rounded once to binary16", "[operands]") {
    // Half way between two halves, plus a part that binary32 cannot hold: rounding to binary32
    // first loses it and the tie then goes to the even neighbour, here downwards.
    const double tie = 1.0 + 0x1p-11;
    CHECK(f64_to_f16(tie) == f32_to_f16(1.0F));
    CHECK(f32_to_f16(static_cast<float>(tie + 0x1p-40)) == f32_to_f16(1.0F));
    CHECK(f64_to_f16(tie + 0x1p-40) == f32_to_f16(1.0F + 0x1p-10F));
    CHECK(f64_to_f16(-tie - 0x1p-40) == f32_to_f16(-1.0F - 0x1p-10F));
    const double odd_tie = 1.0 + 0x3p-11;
    CHECK(f64_to_f16(odd_tie) == f32_to_f16(1.0F + 0x1p-9F));
    CHECK(f64_to_f16(odd_tie - 0x1p-40) == f32_to_f16(1.0F + 0x1p-10F));
}

TEST_CASE("binary64 beyond the range of binary16 gives infinities and zeros", "[operands]") {
    CHECK(f64_to_f16(65504.0) == 0x7bff);
    CHECK(f64_to_f16(65519.999999999) == 0x7bff);
    CHECK(f64_to_f16(65520.0) == 0x7c00);
    CHECK(f64_to_f16(-1e300) == 0xfc00);
    CHECK(f64_to_f16(0x1p-25) == 0x0000);
    CHECK(f64_to_f16(0x1p-25 + 0x1p-70) == 0x0001);
    CHECK(f64_to_f16(-1e-300) == 0x8000);
    CHECK_FALSE(is_finite_f16(f64_to_f16(std::numeric_limits<double>::quiet_NaN())));
}
