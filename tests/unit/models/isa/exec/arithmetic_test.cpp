// SPDX-License-Identifier: MIT
// Sums, differences and products against MPFR: FP16 on all pairs of many values, FP32 on special
// and random pairs.
#include "tests/unit/models/isa/exec/instruction.h"
#include "tests/unit/models/isa/exec/reference.h"

#include <cmath>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::test;

namespace {

struct Case {
    std::string name;
    Binary function;
    bool absolute;
};

const std::vector<Case> kCases = {
    {"add", mpfr_add, false},
    {"sub", mpfr_sub, false},
    {"mul", mpfr_mul, false},
    {"absadd", mpfr_add, true},
};

struct Expected {
    std::uint32_t bits;
    std::uint32_t flags;
};

/// An FP16 result by the machine's rules: infinite operands are signalling NaN, overflow saturates
/// or is NaN.
Expected half_result(const Case& c, std::uint16_t x, std::uint16_t y, bool nan_on_overflow) {
    const auto bad = [](std::uint16_t half) {
        return half_is_infinite(half) || half_is_signalling(half);
    };
    if (bad(x) || bad(y)) {
        return {kNanHalf, kInvalid};
    }
    if (half_is_nan(x) || half_is_nan(y)) {
        return {kNanHalf, 0};
    }
    const double left = half_value(x);
    const double right = half_value(y);
    const double value = c.absolute ? in_half(c.function, std::fabs(left), std::fabs(right))
                                    : in_half(c.function, left, right);
    if (std::isinf(value)) {
        return {nan_on_overflow ? kNanHalf : value < 0 ? 0xfbffU : 0x7bffU, kOverflow};
    }
    return {half_bits(value), 0};
}

Expected single_result(const Case& c, std::uint32_t x, std::uint32_t y) {
    if (single_is_nan(x) || single_is_nan(y)) {
        const bool signalling = single_is_signalling(x) || single_is_signalling(y);
        return {kNanSingle, signalling ? kInvalid : 0};
    }
    const double left = single_value(x);
    const double right = single_value(y);
    const double value = c.absolute ? in_single(c.function, std::fabs(left), std::fabs(right))
                                    : in_single(c.function, left, right);
    if (std::isnan(value)) {
        return {kNanSingle, kInvalid};
    }
    const bool overflow = std::isinf(value) && std::isfinite(left) && std::isfinite(right);
    return {single_bits(value), overflow ? kOverflow : 0};
}

} // namespace

TEST_CASE("FP16 arithmetic is correctly rounded and saturates or gives NaN", "[unit][isa]") {
    const auto values = some_halves(700, 1);
    const isa::FpEnvironment rounding;
    for (const Case& c : kCases) {
        for (const bool nan_on_overflow : {false, true}) {
            const Instruction v4("f16v4" + c.name + " $a4:5, $a0:1, $a2:3");
            const Instruction v2("f16v2" + c.name + " $a6, $a0, $a2");
            Mismatches results;
            Mismatches flags;
            for (const std::uint16_t x : values) {
                for (const std::uint16_t y : values) {
                    const Expected expected = half_result(c, x, y, nan_on_overflow);
                    for (const isa::Engine& engine : isa::engines()) {
                        isa::Context context;
                        context.fp_control = nan_on_overflow ? 1U << 20U : 0U;
                        context.aux[1] = x * 0x10000U; // elements 1 and 3; the others are zero
                        context.aux[3] = y * 0x10000U;
                        context.aux[0] = x * 0x10000U;
                        context.aux[2] = y * 0x10000U;
                        v4(engine, context);
                        results.expect(context.aux[4] >> 16U, expected.bits, x, y);
                        results.expect(context.aux[5] >> 16U, expected.bits, x, y);
                        flags.expect(context.fp_status, expected.flags, x, y);
                        context.fp_status = 0;
                        v2(engine, context);
                        results.expect(context.aux[6] >> 16U, expected.bits, x, y);
                        flags.expect(context.fp_status, expected.flags, x, y);
                    }
                }
            }
            INFO(c.name);
            TESSERA_CHECK_NONE(results);
            TESSERA_CHECK_NONE(flags);
        }
    }
}

TEST_CASE("FP32 arithmetic is correctly rounded with subnormals as zero", "[unit][isa]") {
    const auto values = some_singles(500, 2);
    const isa::FpEnvironment rounding;
    for (const Case& c : kCases) {
        const Instruction v2("f32v2" + c.name + " $a4:5, $a0:1, $a2:3");
        const Instruction v1("f32" + c.name + " $a6, $a0, $a2");
        Mismatches results;
        Mismatches flags;
        for (const std::uint32_t x : values) {
            for (const std::uint32_t y : values) {
                const Expected expected = single_result(c, x, y);
                for (const isa::Engine& engine : isa::engines()) {
                    isa::Context context;
                    context.aux[0] = x;
                    context.aux[1] = x;
                    context.aux[2] = y;
                    context.aux[3] = y;
                    v2(engine, context);
                    results.expect(context.aux[4], expected.bits, x, y);
                    results.expect(context.aux[5], expected.bits, x, y);
                    flags.expect(context.fp_status, expected.flags, x, y);
                    context.fp_status = 0;
                    v1(engine, context);
                    results.expect(context.aux[6], expected.bits, x, y);
                    flags.expect(context.fp_status, expected.flags, x, y);
                }
            }
        }
        INFO(c.name);
        TESSERA_CHECK_NONE(results);
        TESSERA_CHECK_NONE(flags);
    }
}

TEST_CASE("a first source is broadcast as its suffix says", "[unit][isa]") {
    // halves 1, 2 | 3, 4 and 10, 20 | 30, 40
    const std::initializer_list<std::uint32_t> halves = {0x40003c00, 0x44004200, 0x4d004900,
                                                         0x51004f80};
    CHECK(outcome_of("f16v4absadd $a4:5, $a0:1, $a2:3", halves).pair(4) == 0x518050204d804980);
    CHECK(outcome_of("f16v4absadd $a4:5, $a0:BL, $a2:3", halves).pair(4) == 0x51204fc04d404980);
    CHECK(outcome_of("f16v4absadd $a4:5, $a0:BU, $a2:3", halves).pair(4) == 0x514050004d804a00);
    CHECK(outcome_of("f16v4absadd $a4:5, $a0:B, $a2:3", halves).pair(4) == 0x51404fc04d804980);
    CHECK(outcome_of("f16v2absadd $a4, $a0:BU, $a2", halves).a[4] == 0x4d804a00);
    CHECK(outcome_of("f16v4cmplt $a4:5, $a1:BU, $a2:3", halves).pair(4) == ~0ULL);
    CHECK(outcome_of("f16v4absmax $a4:5, $a1:BU, $a0:1", halves).pair(4) == 0x4400440044004400);
    CHECK(outcome_of("f16v4clamp $a4:5, $a2:BL, $a0", halves).pair(4) == 0x4000400040004000);
    CHECK(outcome_of("f16v2clamp $a4, $a2:BU, $a0", halves).a[4] == 0x40004000);
    const std::initializer_list<std::uint32_t> singles = {0x3f800000, 0x40000000, 0x40400000,
                                                          0x40800000};
    CHECK(outcome_of("f32v2absadd $a4:5, $a0:B, $a2:3", singles).pair(4) == 0x40a0000040800000);
    CHECK(outcome_of("f32v2cmpge $a4:5, $a3:B, $a2:3", singles).pair(4) == ~0ULL);
    CHECK(outcome_of("f32v2absmax $a4:5, $a3:B, $a0:1", singles).pair(4) == 0x4080000040800000);
    CHECK(outcome_of("f32v2clamp $a4:5, $a3:B, $a0:1", singles).pair(4) == 0x4000000040000000);
}

TEST_CASE("sums of neighbours are rounded once to FP32", "[unit][isa]") {
    // 65504 + 2^-24 is not a half; it rounds to 65504 as FP32
    CHECK(outcome_of("f16v2sum $a4, $a0", {0x00017bff}).a[4] == 0x477fe000);
    CHECK(outcome_of("f16v4sum $a4:5, $a0:1", {0x40003c00, 0xc4004200}).pair(4) ==
          0xbf80000040400000);
    const auto values = some_halves(300, 3);
    Mismatches results;
    const Instruction sum("f16v2sum $a4, $a0");
    const isa::FpEnvironment rounding;
    for (const std::uint32_t x : values) {
        for (const std::uint16_t y : values) {
            const bool special = (x & 0x7c00U) == 0x7c00U || (y & 0x7c00U) == 0x7c00U;
            const std::uint32_t expected =
                special ? kNanSingle
                        : single_bits(in_single(mpfr_add, half_value(static_cast<std::uint16_t>(x)),
                                                half_value(y)));
            for (const isa::Engine& engine : isa::engines()) {
                isa::Context context;
                context.aux[0] = x | (static_cast<std::uint32_t>(y) << 16U);
                sum(engine, context);
                results.expect(context.aux[4], expected, x, y);
            }
        }
    }
    TESSERA_CHECK_NONE(results);
}
