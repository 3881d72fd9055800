// SPDX-License-Identifier: MIT
// Division, roots and transcendental functions against MPFR: FP16 for every input, FP32 for random
// and special ones within the stated error.
#include "tests/unit/models/isa/exec/instruction.h"
#include "tests/unit/models/isa/exec/reference.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::test;

namespace {

constexpr std::uint32_t kPlusInfinity = 0x7f800000;
constexpr std::uint32_t kMinusInfinity = 0xff800000;

std::uint32_t f32(float value) {
    return std::bit_cast<std::uint32_t>(value);
}

struct Expected {
    std::uint32_t bits;
    std::uint32_t flags;
};

/// What FP16 functions give for x; only the logarithms have a pole or a bound of their domain.
Expected half_function(Unary function, bool logarithm, std::uint16_t x, bool nan_on_overflow) {
    if (half_is_infinite(x) || half_is_signalling(x)) {
        return {kNanHalf, kInvalid};
    }
    if (half_is_nan(x)) {
        return {kNanHalf, 0};
    }
    const double value = half_value(x);
    if (logarithm && value == 0) {
        return {nan_on_overflow ? kNanHalf : 0xfbffU, kDivideByZero};
    }
    if (logarithm && value < 0) {
        return {kNanHalf, kInvalid};
    }
    const double result = in_half(function, value);
    if (std::isinf(result)) {
        return {nan_on_overflow ? kNanHalf : 0x7bffU, kOverflow};
    }
    return {half_bits(result), 0};
}

struct Function {
    std::string name;
    Unary exact;
    double largest_error_ulp;
    float from; ///< of the random arguments
    float to;
};

const std::vector<Function> kFunctions = {
    {"f32exp", mpfr_exp, 1.5, -88, 89},       {"f32exp2", mpfr_exp2, 1.5, -127, 129},
    {"f32ln", mpfr_log, 1.5, 0, 4},           {"f32log2", mpfr_log2, 1.5, 0, 4},
    {"f32tanh", mpfr_tanh, 1.5, -10, 10},     {"f32sigm", mpfr_sigmoid, 2.5, -90, 20},
    {"f32oorx", mpfr_rec_sqrt, 1.5, 0, 1000},
};

} // namespace

TEST_CASE("FP16 functions are correctly rounded for every input", "[unit][isa]") {
    const struct {
        std::string name;
        Unary exact;
        bool logarithm;
    } kHalfFunctions[] = {
        {"f16v2exp", mpfr_exp, false},   {"f16v2exp2", mpfr_exp2, false},
        {"f16v2ln", mpfr_log, true},     {"f16v2log2", mpfr_log2, true},
        {"f16v2tanh", mpfr_tanh, false}, {"f16v2sigm", mpfr_sigmoid, false},
    };
    const isa::FpEnvironment rounding;
    for (const auto& function : kHalfFunctions) {
        const Instruction instruction(function.name + " $a4, $a0");
        Mismatches results;
        Mismatches flags;
        for (std::uint32_t x = 0; x < 0x10000; ++x) {
            const bool nan_on_overflow = x % 2 != 0;
            const Expected expected = half_function(function.exact, function.logarithm,
                                                    static_cast<std::uint16_t>(x), nan_on_overflow);
            for (const isa::Engine& engine : isa::engines()) {
                isa::Context context;
                context.fp_control = nan_on_overflow ? 1U << 20U : 0U;
                context.aux[0] = x * 0x10001U;
                instruction(engine, context);
                results.expect(context.aux[4], expected.bits * 0x10001U, x);
                flags.expect(context.fp_status, expected.flags, x);
            }
        }
        INFO(function.name);
        TESSERA_CHECK_NONE(results);
        TESSERA_CHECK_NONE(flags);
    }
}

TEST_CASE("FP32 functions are within their stated error", "[unit][isa]") {
    constexpr int kArguments = 40000;
    const isa::FpEnvironment rounding;
    std::mt19937 random(13);
    for (const Function& function : kFunctions) {
        const Instruction instruction(function.name + " $a4, $a0");
        double worst = 0;
        Mismatches results;
        for (int n = 0; n < kArguments; ++n) {
            // evenly over the range, and over the exponents where those are many
            const double share = static_cast<double>(random()) / 4294967296.0;
            float x = static_cast<float>(function.from + (function.to - function.from) * share);
            if (n % 2 == 0) {
                x = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
                if (!std::isnormal(x)) {
                    continue;
                }
                const bool outside = x < function.from || (function.from < 0 && x > function.to);
                x = outside ? std::fabs(std::fmod(x, function.to)) : x;
            }
            if (std::fpclassify(x) != FP_NORMAL) {
                continue;
            }
            const double exact = in_single(function.exact, static_cast<double>(x));
            std::vector<std::uint32_t> bits;
            for (const isa::Engine& engine : isa::engines()) {
                isa::Context context;
                context.aux[0] = f32(x);
                instruction(engine, context);
                bits.push_back(context.aux[4]);
                results.expect(bits.back(), bits[0], f32(x));
            }
            if (std::isinf(exact) || exact == 0) {
                results.expect(bits[0], single_bits(exact), f32(x));
            } else {
                worst = std::max(worst, error_in_ulp(function.exact, static_cast<double>(x),
                                                     single_value(bits[0])));
            }
        }
        INFO(function.name);
        TESSERA_CHECK_NONE(results);
        CHECK(worst <= function.largest_error_ulp);
        CHECK(worst > 0.4); // or nothing was tried
        // evaluated in binary64 and rounded once
        CHECK(worst < 0.5001);
    }
}

TEST_CASE("FP32 roots, reciprocals and quotients are correctly rounded", "[unit][isa]") {
    const auto values = some_singles(700, 14);
    const Instruction root("f32sqrt $a4, $a0");
    const Instruction reciprocal("f32oox $a5, $a0");
    const Instruction quotient("f32div $a6, $a0, $a1");
    Mismatches results;
    Mismatches flags;
    const isa::FpEnvironment rounding;
    const auto divided = [](std::uint32_t x, std::uint32_t y) -> Expected {
        if (single_is_nan(x) || single_is_nan(y)) {
            const bool signalling = single_is_signalling(x) || single_is_signalling(y);
            return {kNanSingle, signalling ? kInvalid : 0};
        }
        const double result = in_single(mpfr_div, single_value(x), single_value(y));
        if (std::isnan(result)) {
            return {kNanSingle, kInvalid};
        }
        if (std::isinf(result) && !single_is_infinite(x)) {
            return {single_bits(result), single_value(y) == 0 ? kDivideByZero : kOverflow};
        }
        return {single_bits(result), 0};
    };
    for (const std::uint32_t x : values) {
        for (const isa::Engine& engine : isa::engines()) {
            isa::Context context;
            context.aux[0] = x;
            root(engine, context);
            const double value = single_value(x);
            const bool invalid = single_is_signalling(x) || value < 0;
            results.expect(context.aux[4],
                           invalid || single_is_nan(x) ? kNanSingle
                                                       : single_bits(in_single(mpfr_sqrt, value)),
                           x);
            flags.expect(context.fp_status, invalid ? kInvalid : 0, x);
            context.fp_status = 0;
            reciprocal(engine, context);
            const Expected inverse = divided(f32(1.0F), x);
            results.expect(context.aux[5], inverse.bits, x);
            flags.expect(context.fp_status, inverse.flags, x);
        }
        for (const std::uint32_t y : values) {
            const Expected expected = divided(x, y);
            for (const isa::Engine& engine : isa::engines()) {
                isa::Context context;
                context.aux[0] = x;
                context.aux[1] = y;
                quotient(engine, context);
                results.expect(context.aux[6], expected.bits, x, y);
                flags.expect(context.fp_status, expected.flags, x, y);
            }
        }
    }
    TESSERA_CHECK_NONE(results);
    TESSERA_CHECK_NONE(flags);
}

TEST_CASE("FP32 functions have their limits and poles", "[unit][isa]") {
    struct Row {
        std::string name;
        std::uint32_t x;
        std::uint32_t result;
        std::uint32_t flags;
    };
    const std::uint32_t one = f32(1.0F);
    for (const Row& row : std::vector<Row>{
             {"f32exp", kMinusInfinity, 0, 0},
             {"f32exp", kPlusInfinity, kPlusInfinity, 0},
             {"f32exp", 0, one, 0},
             {"f32exp", 0x80000001, one, 0},
             {"f32exp", f32(89.0F), kPlusInfinity, kOverflow},
             {"f32exp", f32(3e38F), kPlusInfinity, kOverflow},
             {"f32exp", f32(-88.0F), 0, 0}, // would be subnormal
             {"f32exp", f32(-3e38F), 0, 0},
             {"f32exp2", f32(127.0F), 0x7f000000, 0},
             {"f32exp2", f32(128.0F), kPlusInfinity, kOverflow},
             {"f32exp2", f32(-126.0F), 0x00800000, 0},
             {"f32exp2", f32(-127.0F), 0, 0},
             {"f32exp2", f32(-3e38F), 0, 0},
             {"f32exp2", kPlusInfinity, kPlusInfinity, 0},
             {"f32exp2", kMinusInfinity, 0, 0},
             {"f32ln", 0, kMinusInfinity, kDivideByZero},
             {"f32ln", 0x80000000, kMinusInfinity, kDivideByZero},
             {"f32ln", 0x00000001, kMinusInfinity, kDivideByZero},
             {"f32ln", one, 0, 0},
             {"f32ln", f32(-1.0F), kNanSingle, kInvalid},
             {"f32ln", kMinusInfinity, kNanSingle, kInvalid},
             {"f32ln", kPlusInfinity, kPlusInfinity, 0},
             {"f32log2", 0x80000000, kMinusInfinity, kDivideByZero},
             {"f32log2", f32(0.125F), f32(-3.0F), 0},
             {"f32log2", 0x00800000, f32(-126.0F), 0},
             {"f32log2", f32(-1.0F), kNanSingle, kInvalid},
             {"f32log2", kPlusInfinity, kPlusInfinity, 0},
             {"f32tanh", kPlusInfinity, one, 0},
             {"f32tanh", kMinusInfinity, one | 0x80000000U, 0},
             {"f32tanh", 0x80000000, 0x80000000, 0},
             {"f32tanh", 0x00800000, 0x00800000, 0},
             {"f32sigm", kPlusInfinity, one, 0},
             {"f32sigm", kMinusInfinity, 0, 0},
             {"f32sigm", 0, f32(0.5F), 0},
             {"f32sigm", f32(18.0F), one, 0},
             {"f32sigm", f32(-104.0F), 0, 0},
             {"f32oorx", 0, kPlusInfinity, kDivideByZero},
             {"f32oorx", 0x80000000, kMinusInfinity, kDivideByZero},
             {"f32oorx", f32(4.0F), f32(0.5F), 0},
             {"f32oorx", f32(-4.0F), kNanSingle, kInvalid},
             {"f32oorx", kPlusInfinity, 0, 0},
             {"f32oorx", kMinusInfinity, kNanSingle, kInvalid},
             {"f32sqrt", 0x80000000, 0x80000000, 0},
             {"f32sqrt", kPlusInfinity, kPlusInfinity, 0},
             {"f32oox", 0x80000000, kMinusInfinity, kDivideByZero},
             {"f32oox", kMinusInfinity, 0x80000000, 0},
             {"f32oox", 0x7f7fffff, 0, 0}, // would be subnormal
         }) {
        CAPTURE(row.name, row.x);
        const Outcome outcome = outcome_of(row.name + " $a4, $a0", {row.x});
        CHECK(outcome.a[4] == row.result);
        CHECK(outcome.flags == row.flags);
    }
    for (const std::string name : {"f32exp", "f32exp2", "f32ln", "f32log2", "f32tanh", "f32sigm",
                                   "f32oorx", "f32sqrt", "f32oox"}) {
        CAPTURE(name);
        for (const std::uint32_t nan : {0x7fc00000U, 0xffffffffU, 0x7f800001U}) {
            const Outcome outcome = outcome_of(name + " $a4, $a0", {nan});
            CHECK(outcome.a[4] == kNanSingle);
            CHECK(outcome.flags == (nan == 0x7f800001U ? kInvalid : 0));
        }
    }
}
