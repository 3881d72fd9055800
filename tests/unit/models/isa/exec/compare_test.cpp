// SPDX-License-Identifier: MIT
// Minimum, maximum, clamping, comparisons and classes against the same on values in binary64.
#include "tests/unit/models/isa/exec/instruction.h"
#include "tests/unit/models/isa/exec/reference.h"

#include <cmath>
#include <functional>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::test;

namespace {

/// A format as the tests see it.
struct Format {
    std::string prefix;
    unsigned bits;
    std::uint32_t nan;
    double (*value)(std::uint32_t);
    bool (*is_signalling)(std::uint32_t);
    std::uint32_t (*bits_of)(double);
};

const Format kHalf = {
    "f16v4",
    16,
    kNanHalf,
    [](std::uint32_t x) { return half_value(static_cast<std::uint16_t>(x)); },
    half_is_signalling,
    [](double x) -> std::uint32_t { return half_bits(x); },
};
const Format kSingle = {"f32v2", 32, kNanSingle, single_value, single_is_signalling, single_bits};

struct Expected {
    std::uint32_t bits;
    std::uint32_t flags;
};

bool below(double x, double y) {
    return x < y || (x == y && std::signbit(x) && !std::signbit(y));
}

Expected selected(const Format& f, std::uint32_t x, std::uint32_t y, bool larger, bool absolute) {
    if (f.is_signalling(x) || f.is_signalling(y)) {
        return {f.nan, kInvalid};
    }
    double left = f.value(x);
    double right = f.value(y);
    if (std::isnan(left) && std::isnan(right)) {
        return {f.nan, 0};
    }
    if (absolute) {
        left = std::fabs(left);
        right = std::fabs(right);
    }
    if (std::isnan(left) || std::isnan(right)) {
        return {f.bits_of(std::isnan(left) ? right : left), 0};
    }
    return {f.bits_of(below(left, right) == larger ? right : left), 0};
}

Expected clamped(const Format& f, std::uint32_t x, std::uint32_t lo, std::uint32_t hi) {
    const double value = f.value(x);
    const double low = f.value(lo);
    const double high = f.value(hi);
    if (std::isnan(value) || std::isnan(low) || std::isnan(high)) {
        const bool invalid = f.is_signalling(x) || f.is_signalling(lo) || f.is_signalling(hi);
        return {f.nan, invalid ? kInvalid : 0};
    }
    if (value > high) {
        return {f.bits_of(high), 0};
    }
    return {f.bits_of(below(value, low) ? low : value), 0};
}

using Relation = std::function<bool(double, double)>;

Expected compared(const Format& f, std::uint32_t x, std::uint32_t y, const Relation& relation) {
    const double left = f.value(x);
    const double right = f.value(y);
    const bool nan = std::isnan(left) || std::isnan(right);
    const std::uint32_t ones = f.bits == 16 ? 0xffffU : ~0U;
    return {relation(left, right) ? ones : 0, nan ? kInvalid : 0};
}

/// Puts x and y into the last element of both operands and compares that element of the result.
template <typename Expectation>
void check_pairs(const Format& f, const std::string& name, const std::vector<std::uint32_t>& values,
                 const Expectation& expectation) {
    const Instruction wide(f.prefix + name + " $a4:5, $a0:1, $a2:3");
    const Instruction narrow((f.bits == 16 ? "f16v2" : "f32") + name + " $a6, $a1, $a3");
    const unsigned shift = 32 - f.bits;
    Mismatches results;
    Mismatches flags;
    const isa::FpEnvironment rounding;
    for (const std::uint32_t x : values) {
        for (const std::uint32_t y : values) {
            const Expected expected = expectation(x, y);
            for (const isa::Engine& engine : isa::engines()) {
                isa::Context context;
                context.aux[1] = x << shift;
                context.aux[3] = y << shift;
                wide(engine, context);
                results.expect(context.aux[5] >> shift, expected.bits, x, y);
                flags.expect(context.fp_status, expected.flags, x, y);
                context.fp_status = 0;
                narrow(engine, context);
                results.expect(context.aux[6] >> shift, expected.bits, x, y);
                flags.expect(context.fp_status, expected.flags, x, y);
            }
        }
    }
    INFO(f.prefix << name);
    TESSERA_CHECK_NONE(results);
    TESSERA_CHECK_NONE(flags);
}

std::vector<std::uint32_t> values_of(const Format& f) {
    if (f.bits == 32) {
        return some_singles(500, 4);
    }
    const auto halves = some_halves(700, 4);
    return {halves.begin(), halves.end()};
}

} // namespace

TEST_CASE("minimum and maximum pass over one quiet NaN and order the zeros", "[unit][isa]") {
    for (const Format& f : {kHalf, kSingle}) {
        const auto values = values_of(f);
        check_pairs(f, "min", values,
                    [&](auto x, auto y) { return selected(f, x, y, false, false); });
        check_pairs(f, "max", values,
                    [&](auto x, auto y) { return selected(f, x, y, true, false); });
        check_pairs(f, "absmax", values,
                    [&](auto x, auto y) { return selected(f, x, y, true, true); });
    }
}

TEST_CASE("comparisons give masks and a NaN is only unequal", "[unit][isa]") {
    const std::vector<std::pair<std::string, Relation>> relations = {
        {"cmpeq", std::equal_to<>{}}, {"cmpne", std::not_equal_to<>{}},
        {"cmplt", std::less<>{}},     {"cmple", std::less_equal<>{}},
        {"cmpgt", std::greater<>{}},  {"cmpge", std::greater_equal<>{}},
    };
    for (const Format& f : {kHalf, kSingle}) {
        const auto values = values_of(f);
        for (const auto& entry : relations) {
            const Relation& relation = entry.second;
            check_pairs(f, entry.first, values,
                        [&](auto x, auto y) { return compared(f, x, y, relation); });
        }
    }
}

TEST_CASE("clamping compares with the upper limit first", "[unit][isa]") {
    const auto limits = some_halves(80, 5);
    const Instruction v4("f16v4clamp $a4:5, $a0:1, $a2");
    const Instruction v2("f16v2clamp $a6, $a0, $a2");
    Mismatches results;
    Mismatches flags;
    const isa::FpEnvironment rounding;
    for (const std::uint32_t lo : limits) {
        for (const std::uint32_t hi : limits) {
            for (const std::uint32_t x : some_halves(120, 6)) {
                const Expected expected = clamped(kHalf, x, lo, hi);
                for (const isa::Engine& engine : isa::engines()) {
                    isa::Context context;
                    context.aux[0] = x * 0x10001U;
                    context.aux[1] = x * 0x10001U;
                    context.aux[2] = lo | (hi << 16U);
                    v4(engine, context);
                    v2(engine, context);
                    for (const unsigned i : {4U, 5U, 6U}) {
                        results.expect(context.aux[i], expected.bits * 0x10001U, x, context.aux[2]);
                    }
                    flags.expect(context.fp_status, expected.flags, x, context.aux[2]);
                }
            }
        }
    }
    TESSERA_CHECK_NONE(results);
    TESSERA_CHECK_NONE(flags);
}

TEST_CASE("FP32 clamping takes its limits from a pair", "[unit][isa]") {
    const auto limits = some_singles(100, 7);
    const Instruction v2("f32v2clamp $a4:5, $a0:1, $a2:3");
    const Instruction v1("f32clamp $a6, $a0, $a2:3");
    Mismatches results;
    Mismatches flags;
    const isa::FpEnvironment rounding;
    for (const std::uint32_t lo : limits) {
        for (const std::uint32_t hi : limits) {
            for (const std::uint32_t x : some_singles(90, 8)) {
                const Expected expected = clamped(kSingle, x, lo, hi);
                for (const isa::Engine& engine : isa::engines()) {
                    isa::Context context;
                    context.aux[0] = x;
                    context.aux[1] = x;
                    context.aux[2] = lo;
                    context.aux[3] = hi;
                    v2(engine, context);
                    v1(engine, context);
                    for (const unsigned i : {4U, 5U, 6U}) {
                        results.expect(context.aux[i], expected.bits, x, lo);
                    }
                    flags.expect(context.fp_status, expected.flags, x, lo);
                }
            }
        }
    }
    TESSERA_CHECK_NONE(results);
    TESSERA_CHECK_NONE(flags);
    // with lo > hi a value up to hi becomes lo
    CHECK(outcome_of("f32clamp $a4, $a0, $a2:3", {0, 0, 0x40000000, 0x3f800000}).a[4] ==
          0x40000000);
}

TEST_CASE("classes stand one in a byte", "[unit][isa]") {
    // docs/deviations.md, class-codes
    CHECK(outcome_of("f32class $a4, $a0", {0x7fc00000}).a[4] == 2);
    CHECK(outcome_of("f32class $a4, $a0", {0x80000000}).a[4] == 5);
    CHECK(outcome_of("f32class $a4, $a0", {0x80000001}).a[4] == 5); // a subnormal is zero
    CHECK(outcome_of("f32v2class $a4, $a0:1", {0x7f800001, 0xff800000}).a[4] == 0x0301);
    CHECK(outcome_of("f32v2class $a4, $a0:1", {0x7f800000, 0xbf800000}).a[4] == 0x0408);
    CHECK(outcome_of("f16v2class $a4, $a0", {0x80010001}).a[4] == 0x090a);
    CHECK(outcome_of("f16v4class $a4, $a0:1", {0x80000000, 0x3c007e00}).a[4] == 0x07020506);
    const Instruction v2("f16v2class $a4, $a0");
    Mismatches results;
    for (std::uint32_t x = 0; x < 0x10000; ++x) {
        const double value = half_value(static_cast<std::uint16_t>(x));
        const bool negative = x >= 0x8000U;
        std::uint32_t code = 0;
        switch (std::fpclassify(value)) {
        case FP_NAN:
            code = half_is_signalling(x) ? 1 : 2;
            break;
        case FP_INFINITE:
            code = negative ? 3 : 8;
            break;
        case FP_ZERO:
            code = negative ? 5 : 6;
            break;
        default:
            code = std::fabs(value) < 0x1p-14 ? (negative ? 9 : 10) : (negative ? 4 : 7);
        }
        for (const isa::Engine& engine : isa::engines()) {
            isa::Context context;
            context.aux[0] = x * 0x10001U;
            v2(engine, context);
            results.expect(context.aux[4], code * 0x101U, x);
            results.expect(context.fp_status, 0, x);
        }
    }
    TESSERA_CHECK_NONE(results);
}

TEST_CASE("the larger of neighbours is packed", "[unit][isa]") {
    CHECK(outcome_of("f16v2maxc $a4, $a0", {0xc0003c00}).a[4] == 0x3c003c00);
    CHECK(outcome_of("f16v2maxc $a4, $a0", {0x80000000}).a[4] == 0);
    CHECK(outcome_of("f16v4maxc $a4, $a0:1", {0x7c003c00, 0x7e00c000}).a[4] == 0xc0007c00);
    CHECK(outcome_of("f16v4maxc $a4, $a0:1", {0x7c013c00, 0x7e007e01}).a[4] == 0x7ece7ece);
    CHECK(outcome_of("f16v4maxc $a4, $a0:1", {0x7c013c00, 0}).flags == kInvalid);
}
