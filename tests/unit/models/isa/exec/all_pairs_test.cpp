// SPDX-License-Identifier: MIT
// Two-operand FP16 instructions on all pairs. The expected values come from exact binary64
// arithmetic, which is checked against MPFR first.
#include "tests/unit/models/isa/exec/instruction.h"
#include "tests/unit/models/isa/exec/reference.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace tessera;
using namespace tessera::test;

namespace {

const std::vector<double>& values() {
    static const auto table = [] {
        std::vector<double> all(0x10000);
        for (std::size_t x = 0; x < all.size(); ++x) {
            all[x] = half_value(static_cast<std::uint16_t>(x));
        }
        return all;
    }();
    return table;
}

bool is_special(std::uint32_t half) {
    return (half & 0x7c00U) == 0x7c00U;
}

/// All pairs through both engines; `expected` gives the result of halves x and y.
template <typename Expected> void check_all(const std::string& name, const Expected& expected) {
    const Instruction instruction("f16v4" + name + " $a4:5, $a0:BL, $a2:3");
    const isa::FpEnvironment rounding;
    Mismatches results;
    for (std::uint32_t x = 0; x < 0x10000; ++x) {
        isa::Context context;
        context.aux[0] = x;
        for (std::uint32_t y = 0; y < 0x10000; y += 4) {
            context.aux[2] = y | ((y + 1) << 16U);
            context.aux[3] = (y + 2) | ((y + 3) << 16U);
            std::uint64_t wanted = 0;
            for (unsigned i = 0; i < 4; ++i) {
                wanted |= static_cast<std::uint64_t>(expected(x, y + i)) << (16 * i);
            }
            for (const isa::Engine& engine : isa::engines()) {
                instruction(engine, context);
                results.expect(pair_of(context, 4), wanted, x, y);
            }
        }
    }
    INFO(name);
    TESSERA_CHECK_NONE(results);
}

template <typename Operation> void check_arithmetic(const std::string& name, Operation operation) {
    check_all(name, [operation](std::uint32_t x, std::uint32_t y) -> std::uint16_t {
        if (is_special(x) || is_special(y)) {
            return kNanHalf;
        }
        const std::uint16_t half = nearest_half(operation(values()[x], values()[y]));
        return is_special(half) ? static_cast<std::uint16_t>(half - 1U) : half;
    });
}

template <typename Operation> void check_comparison(const std::string& name, Operation operation) {
    check_all(name, [operation](std::uint32_t x, std::uint32_t y) -> std::uint16_t {
        return operation(values()[x], values()[y]) ? 0xffff : 0;
    });
}

std::uint16_t selected(std::uint32_t x, std::uint32_t y, bool larger) {
    if (half_is_signalling(x) || half_is_signalling(y) || (half_is_nan(x) && half_is_nan(y))) {
        return kNanHalf;
    }
    if (half_is_nan(x) || half_is_nan(y)) {
        return static_cast<std::uint16_t>(half_is_nan(x) ? y : x);
    }
    const double left = values()[x];
    const double right = values()[y];
    const bool below = left < right || (left == right && x > y); // of zeros the negative one
    return static_cast<std::uint16_t>(below == larger ? y : x);
}

} // namespace

TEST_CASE("the reference rounds like MPFR", "[slow][isa]") {
    for (std::uint32_t x = 0; x < 0x7c00; x += 5) {
        for (std::uint32_t y = 0; y < 0x7c00; y += 37) {
            const double left = values()[x];
            const double right = values()[y];
            REQUIRE(nearest_half(left * right) == half_bits(in_half(mpfr_mul, left, right)));
            REQUIRE(nearest_half(left - right) == half_bits(in_half(mpfr_sub, left, right)));
        }
    }
}

TEST_CASE("f16v4add on all pairs", "[slow][isa]") {
    check_arithmetic("add", [](double x, double y) { return x + y; });
}
TEST_CASE("f16v4sub on all pairs", "[slow][isa]") {
    check_arithmetic("sub", [](double x, double y) { return x - y; });
}
TEST_CASE("f16v4mul on all pairs", "[slow][isa]") {
    check_arithmetic("mul", [](double x, double y) { return x * y; });
}
TEST_CASE("f16v4absadd on all pairs", "[slow][isa]") {
    check_arithmetic("absadd", [](double x, double y) { return std::fabs(x) + std::fabs(y); });
}
TEST_CASE("f16v4min on all pairs", "[slow][isa]") {
    check_all("min", [](std::uint32_t x, std::uint32_t y) { return selected(x, y, false); });
}
TEST_CASE("f16v4max on all pairs", "[slow][isa]") {
    check_all("max", [](std::uint32_t x, std::uint32_t y) { return selected(x, y, true); });
}
TEST_CASE("f16v4absmax on all pairs", "[slow][isa]") {
    check_all("absmax", [](std::uint32_t x, std::uint32_t y) {
        return selected(x & 0x7fffU, y & 0x7fffU, true);
    });
}
TEST_CASE("f16v4cmpeq on all pairs", "[slow][isa]") {
    check_comparison("cmpeq", [](double x, double y) { return x == y; });
}
TEST_CASE("f16v4cmpne on all pairs", "[slow][isa]") {
    check_comparison("cmpne", [](double x, double y) { return x != y; });
}
TEST_CASE("f16v4cmplt on all pairs", "[slow][isa]") {
    check_comparison("cmplt", [](double x, double y) { return x < y; });
}
TEST_CASE("f16v4cmple on all pairs", "[slow][isa]") {
    check_comparison("cmple", [](double x, double y) { return x <= y; });
}
TEST_CASE("f16v4cmpgt on all pairs", "[slow][isa]") {
    check_comparison("cmpgt", [](double x, double y) { return x > y; });
}
TEST_CASE("f16v4cmpge on all pairs", "[slow][isa]") {
    check_comparison("cmpge", [](double x, double y) { return x >= y; });
}

TEST_CASE("f16v4clamp on all pairs of limits", "[slow][isa]") {
    const Instruction instruction("f16v4clamp $a4:5, $a0:1, $a2");
    const std::uint32_t xs[4] = {0x8000, 0x3c00, 0x7c00, 0xc123};
    const isa::FpEnvironment rounding;
    Mismatches results;
    isa::Context context;
    context.aux[0] = xs[0] | (xs[1] << 16U);
    context.aux[1] = xs[2] | (xs[3] << 16U);
    for (std::uint32_t lo = 0; lo < 0x10000; ++lo) {
        for (std::uint32_t hi = 0; hi < 0x10000; ++hi) {
            context.aux[2] = lo | (hi << 16U);
            std::uint64_t wanted = 0;
            for (unsigned i = 0; i < 4; ++i) {
                std::uint64_t half = kNanHalf;
                if (!half_is_nan(lo) && !half_is_nan(hi)) {
                    half = values()[xs[i]] > values()[hi] ? hi : selected(xs[i], lo, true);
                }
                wanted |= half << (16 * i);
            }
            for (const isa::Engine& engine : isa::engines()) {
                instruction(engine, context);
                results.expect(pair_of(context, 4), wanted, lo, hi);
            }
        }
    }
    TESSERA_CHECK_NONE(results);
}
