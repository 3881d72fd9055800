// SPDX-License-Identifier: MIT
#include "tests/unit/models/isa/exec/reference.h"

#include <cmath>
#include <limits>

namespace tessera::test {
namespace {

constexpr mpfr_exp_t kWide = 1 << 20;

class Real {
public:
    explicit Real(mpfr_prec_t bits) { mpfr_init2(value_, bits); }
    Real(mpfr_prec_t bits, double value) : Real(bits) { mpfr_set_d(value_, value, MPFR_RNDN); }
    ~Real() { mpfr_clear(value_); }
    Real(const Real&) = delete;
    Real& operator=(const Real&) = delete;
    operator mpfr_ptr() { return value_; }

private:
    mpfr_t value_;
};

void widen_range() {
    mpfr_set_emin(-kWide);
    mpfr_set_emax(kWide);
}

/// MPFR's exponents are of fractions in [1/2, 1): 2^-24, the smallest half, is 0.5 * 2^-23.
double as_half(Real& value, int ternary) {
    mpfr_set_emin(-23);
    mpfr_set_emax(16);
    ternary = mpfr_check_range(value, ternary, MPFR_RNDN);
    mpfr_subnormalize(value, ternary, MPFR_RNDN);
    const double result = mpfr_get_d(value, MPFR_RNDN);
    widen_range();
    return result;
}

double as_single(Real& value, int ternary) {
    mpfr_set_emax(128);
    mpfr_check_range(value, ternary, MPFR_RNDN);
    const double result = mpfr_get_d(value, MPFR_RNDN);
    widen_range();
    return std::fabs(result) < 0x1p-126 ? std::copysign(0.0, result) : result;
}

} // namespace

double half_value(std::uint16_t half) {
    const double sign = (half & 0x8000U) != 0 ? -1.0 : 1.0;
    const int exponent = (half >> 10U) & 0x1f;
    const int fraction = half & 0x3ff;
    if (exponent == 31) {
        return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                             : sign * std::numeric_limits<double>::infinity();
    }
    return exponent == 0 ? sign * fraction * 0x1p-24
                         : sign * std::ldexp(1024 + fraction, exponent - 25);
}

std::uint16_t half_bits(double exact) {
    const unsigned sign = std::signbit(exact) ? 0x8000U : 0U;
    const double magnitude = std::fabs(exact);
    if (std::isinf(magnitude)) {
        return static_cast<std::uint16_t>(sign | 0x7c00U);
    }
    if (magnitude < 0x1p-14) {
        return static_cast<std::uint16_t>(sign | static_cast<unsigned>(magnitude * 0x1p24));
    }
    int exponent = 0;
    const double fraction = std::frexp(magnitude, &exponent); // [1/2, 1)
    const auto field = static_cast<unsigned>(exponent + 14) << 10U;
    return static_cast<std::uint16_t>(sign |
                                      (field + static_cast<unsigned>(fraction * 2048.0) - 1024U));
}

std::uint16_t nearest_half(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto sign = static_cast<unsigned>(bits >> 48U) & 0x8000U;
    const double magnitude = std::fabs(value);
    if (magnitude >= 65520.0) {
        return static_cast<std::uint16_t>(sign | 0x7c00U);
    }
    int exponent = static_cast<int>((bits >> 52U) & 0x7ffU) - 1023;
    if (exponent < -14) {
        exponent = -14;
    }
    // adding 2^52 units of the last place rounds there, to nearest even
    const double unit =
        std::bit_cast<double>(static_cast<std::uint64_t>(exponent - 10 + 1023) << 52U);
    const double shift = unit * 0x1p52;
    const auto units = static_cast<unsigned>(((magnitude + shift) - shift) / unit);
    return static_cast<std::uint16_t>(sign |
                                      ((static_cast<unsigned>(exponent + 14) << 10U) + units));
}

double single_value(std::uint32_t bits) {
    if ((bits & 0x7f800000U) == 0) {
        bits &= 0x80000000U;
    }
    return static_cast<double>(std::bit_cast<float>(bits));
}

std::uint32_t single_bits(double exact) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(exact));
}

int mpfr_sigmoid(mpfr_t result, const mpfr_t x, mpfr_rnd_t rounding) {
    Real sum(200);
    mpfr_neg(sum, x, MPFR_RNDN);
    mpfr_exp(sum, sum, MPFR_RNDN);
    mpfr_add_ui(sum, sum, 1, MPFR_RNDN);
    return mpfr_ui_div(result, 1, sum, rounding);
}

int mpfr_identity(mpfr_t result, const mpfr_t x, mpfr_rnd_t rounding) {
    return mpfr_set(result, x, rounding);
}

double in_half(Unary function, double x) {
    Real result(11);
    return as_half(result, function(result, Real(53, x), MPFR_RNDN));
}

double in_half(Binary function, double x, double y) {
    Real result(11);
    return as_half(result, function(result, Real(53, x), Real(53, y), MPFR_RNDN));
}

double in_single(Unary function, double x) {
    Real result(24);
    return as_single(result, function(result, Real(53, x), MPFR_RNDN));
}

double in_single(Binary function, double x, double y) {
    Real result(24);
    return as_single(result, function(result, Real(53, x), Real(53, y), MPFR_RNDN));
}

double error_in_ulp(Unary function, double x, double result) {
    Real exact(120);
    function(exact, Real(53, x), MPFR_RNDN);
    const auto exponent = mpfr_get_exp(exact);
    mpfr_sub_d(exact, exact, result, MPFR_RNDN);
    return std::fabs(std::ldexp(mpfr_get_d(exact, MPFR_RNDN), static_cast<int>(24 - exponent)));
}

std::vector<std::uint16_t> some_halves(std::size_t count, unsigned seed) {
    std::vector<std::uint16_t> values;
    for (const unsigned magnitude :
         {0x0000U, 0x0001U, 0x0002U, 0x0003U, 0x01ffU, 0x0200U, 0x03feU, 0x03ffU, 0x0400U,
          0x0401U, 0x07ffU, 0x0800U, 0x1400U, 0x3800U, 0x3bffU, 0x3c00U, 0x3c01U, 0x3fffU,
          0x4000U, 0x4200U, 0x5bffU, 0x6400U, 0x77ffU, 0x7800U, 0x7bfeU, 0x7bffU, 0x7c00U,
          0x7c01U, 0x7dffU, 0x7e00U, 0x7ecdU, 0x7eceU, 0x7fffU}) {
        values.push_back(static_cast<std::uint16_t>(magnitude));
        values.push_back(static_cast<std::uint16_t>(magnitude | 0x8000U));
    }
    std::mt19937 random(seed);
    while (values.size() < count) {
        values.push_back(static_cast<std::uint16_t>(random()));
    }
    return values;
}

std::vector<std::uint32_t> some_singles(std::size_t count, unsigned seed) {
    std::vector<std::uint32_t> values;
    for (const std::uint32_t magnitude :
         {0U,          1U,          0x400000U,   0x7fffffU,   0x800000U,   0x800001U,
          0xffffffU,   0x1000000U,  0x1fffffffU, 0x20000000U, 0x33000000U, 0x33800000U,
          0x3effffffU, 0x3f000000U, 0x3f7fffffU, 0x3f800000U, 0x3f800001U, 0x3fc00000U,
          0x40000000U, 0x4b000000U, 0x4b7fffffU, 0x4effffffU, 0x4f000000U, 0x4f7fffffU,
          0x4f800000U, 0x5f000000U, 0x7effffffU, 0x7f000000U, 0x7f7ffffeU, 0x7f7fffffU,
          0x7f800000U, 0x7f800001U, 0x7fbfffffU, 0x7fc00000U, 0x7fd9c000U, 0x7fffffffU}) {
        values.push_back(magnitude);
        values.push_back(magnitude | 0x80000000U);
    }
    std::mt19937 random(seed);
    while (values.size() < count) {
        // half of them where sums and products of two stay in range
        const auto bits = static_cast<std::uint32_t>(random());
        values.push_back(values.size() % 2 == 0
                             ? bits
                             : (bits & 0x8fffffffU) +
                                   (values.size() % 4 == 1 ? 0x30000000U : 0x38000000U));
    }
    return values;
}

} // namespace tessera::test
