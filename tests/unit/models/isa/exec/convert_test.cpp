// SPDX-License-Identifier: MIT
// Conversions against MPFR, integral values and integers against the definition.
#include "tests/unit/models/isa/exec/instruction.h"
#include "tests/unit/models/isa/exec/reference.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <random>

using namespace tessera;
using namespace tessera::test;

namespace {

std::uint32_t f32(float value) {
    return std::bit_cast<std::uint32_t>(value);
}

struct Expected {
    std::uint32_t bits;
    std::uint32_t flags;
};

Expected narrowed(std::uint32_t x) {
    if (single_is_infinite(x) || single_is_signalling(x)) {
        return {kNanHalf, kInvalid};
    }
    if (single_is_nan(x)) {
        return {kNanHalf, 0};
    }
    const double value = in_half(mpfr_identity, single_value(x));
    if (std::isinf(value)) {
        return {value < 0 ? 0xfbffU : 0x7bffU, kOverflow};
    }
    return {half_bits(value), 0};
}

} // namespace

TEST_CASE("every half is widened to its value and infinities are kept", "[unit][isa]") {
    const Instruction one("f16tof32 $a4, $a0");
    const Instruction two("f16v2tof32 $a6:7, $a0");
    Mismatches results;
    Mismatches flags;
    const isa::FpEnvironment rounding;
    for (std::uint32_t x = 0; x < 0x10000; ++x) {
        const std::uint32_t expected =
            half_is_nan(x) ? kNanSingle : single_bits(half_value(static_cast<std::uint16_t>(x)));
        for (const isa::Engine& engine : isa::engines()) {
            isa::Context context;
            context.aux[0] = x * 0x10001U;
            one(engine, context);
            two(engine, context);
            for (const unsigned i : {4U, 6U, 7U}) {
                results.expect(context.aux[i], expected, x);
            }
            flags.expect(context.fp_status, half_is_signalling(x) ? kInvalid : 0, x);
        }
    }
    TESSERA_CHECK_NONE(results);
    TESSERA_CHECK_NONE(flags);
    CHECK(outcome_of("f16tof32 $a4, $a0", {0x7e003c00}).a[4] == 0x3f800000);
}

TEST_CASE("FP32 is rounded once to FP16", "[unit][isa]") {
    std::vector<std::uint32_t> values = some_singles(20000, 9);
    for (std::uint32_t half = 0; half < 0x7c00U; half += 3) { // both sides of a tie
        const auto low = static_cast<float>(half_value(static_cast<std::uint16_t>(half)));
        const auto high = static_cast<float>(
            half == 0x7bff ? 65536.0 : half_value(static_cast<std::uint16_t>(half + 1)));
        const std::uint32_t tie = f32((low + high) / 2);
        for (const std::uint32_t x : {tie - 1, tie, tie + 1, f32(low) | 0x80000000U}) {
            values.push_back(x);
        }
    }
    const Instruction one("f32tof16 $a4, $a0");
    const Instruction two("f32v2tof16 $a5, $a0:1");
    const Instruction four("f32v4tof16 $a6:7, $a0:3");
    Mismatches results;
    Mismatches flags;
    const isa::FpEnvironment rounding;
    for (const std::uint32_t x : values) {
        const Expected expected = narrowed(x);
        for (const isa::Engine& engine : isa::engines()) {
            isa::Context context;
            std::fill_n(context.aux, 4, x);
            for (const Instruction* instruction : {&one, &two, &four}) {
                context.fp_status = 0;
                (*instruction)(engine, context);
                flags.expect(context.fp_status, expected.flags, x);
            }
            for (const unsigned i : {4U, 5U, 6U, 7U}) {
                results.expect(context.aux[i], expected.bits * 0x10001U, x);
            }
        }
    }
    TESSERA_CHECK_NONE(results);
    TESSERA_CHECK_NONE(flags);
    CHECK(outcome_of("f32v2tof16 $a4, $a0:1", {0x3f800000, 0x40000000}).a[4] == 0x40003c00);
    CHECK(outcome_of("f32v4tof16 $a4:5, $a0:3", {0, 0x3f800000, 0x40000000, 0xbf800000}).pair(4) ==
          0xbc0040003c000000);
}

TEST_CASE("integers become the nearest FP32 number", "[unit][isa]") {
    std::mt19937 random(10);
    std::vector<std::uint32_t> values = {0,          1,          0xffffffff, 0x80000000,
                                         0x7fffffff, 0x01000001, 0x01000003, 0x7fffffbf,
                                         0x7fffffc0, 0xffffff7f, 0xffffff80};
    while (values.size() < 300) {
        values.push_back(static_cast<std::uint32_t>(random()) >> (random() % 32));
    }
    for (const std::uint32_t x : values) {
        CAPTURE(x);
        CHECK(outcome_of("f32fromi32 $a4, $a0", {x}).a[4] ==
              single_bits(in_single(mpfr_identity, static_cast<std::int32_t>(x))));
        CHECK(outcome_of("f32fromui32 $a4, $a0", {x}).a[4] ==
              single_bits(in_single(mpfr_identity, x)));
    }
}

TEST_CASE("FP32 becomes the nearest integer and the nearest in range", "[unit][isa]") {
    // docs/deviations.md, integer-range
    struct Row {
        float x;
        std::int32_t as_signed;
        bool signed_invalid;
        std::uint32_t as_unsigned;
        bool unsigned_invalid;
    };
    constexpr auto kMax = std::numeric_limits<std::int32_t>::max();
    constexpr auto kMin = std::numeric_limits<std::int32_t>::min();
    const float infinity = std::numeric_limits<float>::infinity();
    for (const Row& row : std::vector<Row>{
             {0.0F, 0, false, 0, false},
             {-0.0F, 0, false, 0, false},
             {0.5F, 0, false, 0, false},
             {1.5F, 2, false, 2, false},
             {2.5F, 2, false, 2, false},
             {-0.5F, 0, false, 0, false},
             {-1.5F, -2, false, 0, true},
             {8388609.0F, 8388609, false, 8388609, false},
             {2147483520.0F, 2147483520, false, 2147483520U, false},
             {2147483648.0F, kMax, true, 2147483648U, false},
             {-2147483648.0F, kMin, false, 0, true},
             {-2147483904.0F, kMin, true, 0, true},
             {4294967040.0F, kMax, true, 4294967040U, false},
             {4294967296.0F, kMax, true, 0xffffffffU, true},
             {infinity, kMax, true, 0xffffffffU, true},
             {-infinity, kMin, true, 0, true},
             {std::numeric_limits<float>::quiet_NaN(), 0, true, 0, true},
         }) {
        CAPTURE(row.x);
        const Outcome with_sign = outcome_of("f32toi32 $a4, $a0", {f32(row.x)});
        const Outcome without = outcome_of("f32toui32 $a4, $a0", {f32(row.x)});
        CHECK(static_cast<std::int32_t>(with_sign.a[4]) == row.as_signed);
        CHECK(with_sign.flags == (row.signed_invalid ? kInvalid : 0));
        CHECK(without.a[4] == row.as_unsigned);
        CHECK(without.flags == (row.unsigned_invalid ? kInvalid : 0));
    }
}

TEST_CASE("FP32 is rounded to integral values in five ways", "[unit][isa]") {
    const auto nearest_away = [](double x) {
        return std::copysign(std::floor(std::fabs(x) + 0.5), x);
    };
    const auto nearest_even = [](double x) {
        const double below = std::floor(x);
        const double rest = x - below;
        const bool up = rest > 0.5 || (rest == 0.5 && std::fmod(below, 2.0) != 0.0);
        return std::copysign(below + (up ? 1.0 : 0.0), x);
    };
    std::vector<std::uint32_t> values = some_singles(400, 11);
    for (const float x : {0.49999997F, 0.5F, 1.5F, 2.5F, 3.5F, 4194303.5F, 8388607.5F, 1e9F}) {
        values.push_back(f32(x));
        values.push_back(f32(-x));
    }
    for (const std::uint32_t x : values) {
        const double value = single_value(x);
        const double expected[5] = {nearest_even(value), std::copysign(std::ceil(value), value),
                                    std::copysign(std::floor(value), value), std::trunc(value),
                                    nearest_away(value)};
        for (int mode = 0; mode < 5; ++mode) {
            CAPTURE(x, mode);
            const Outcome outcome = outcome_of(fmt::format("f32int $a4, $a0, {}", mode), {x});
            const bool nan = std::isnan(value);
            CHECK(outcome.a[4] == (nan ? kNanSingle : single_bits(expected[mode])));
            CHECK(outcome.flags == (single_is_signalling(x) ? kInvalid : 0));
        }
    }
    CHECK(outcome_of("f32int $a4, $a0, 5", {0}).fault ==
          "f32int with a rounding mode that is not 0..4");
}

TEST_CASE("unsigned integers are spread over the open unit interval about zero", "[unit][isa]") {
    const Instruction v2("f16v2sufromui $a4, $a0");
    const Instruction v4("f16v4sufromui $a6:7, $a0:1");
    Mismatches results;
    const isa::FpEnvironment rounding;
    for (std::uint32_t u = 0; u < 0x10000; ++u) {
        const double exact = (u + 0.5) / 65536.0 - 0.5;
        const std::uint32_t expected = half_bits(in_half(mpfr_identity, exact)) * 0x10001U;
        CHECK((expected & 0x7fff7fffU) != 0);
        for (const isa::Engine& engine : isa::engines()) {
            isa::Context context;
            context.aux[0] = u * 0x10001U;
            context.aux[1] = u * 0x10001U;
            v2(engine, context);
            v4(engine, context);
            for (const unsigned i : {4U, 6U, 7U}) {
                results.expect(context.aux[i], expected, u);
            }
        }
    }
    TESSERA_CHECK_NONE(results);
    std::mt19937 random(12);
    for (int n = 0; n < 300; ++n) {
        const std::uint32_t u =
            n < 4 ? std::array{0U, 0x7fffffffU, 0x80000000U, 0xffffffffU}[static_cast<unsigned>(n)]
                  : static_cast<std::uint32_t>(random());
        const double exact = (u + 0.5) / 4294967296.0 - 0.5;
        const std::uint32_t expected = single_bits(in_single(mpfr_identity, exact));
        CHECK(outcome_of("f32sufromui $a4, $a0", {u}).a[4] == expected);
        CHECK(outcome_of("f32v2sufromui $a4:5, $a0:1", {~u, u}).a[5] == expected);
    }
}
