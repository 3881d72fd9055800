// SPDX-License-Identifier: MIT
// Values that leave the range of a product's types: what the machine then has is right, and told.
#include "kernels/workload/overflow.h"
#include "kernels/workload/reference.h"
#include "tests/kernels/workload/support.h"

#include <cmath>
#include <limits>
#include <vector>

using tessera::ElementType;
using tessera::f16_to_f32;
using tessera::f32_to_f16;
using tessera::test::dense;
using namespace tessera::workload;

namespace {

constexpr float kMost = 65504;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Saturates as the machine does.
std::uint16_t half(float value) {
    return f32_to_f16(std::clamp(value, -kMost, kMost));
}

/// One row by one column of these products, every b being 1, and a machine that answers `got`.
CheckResult check_sum(const std::vector<float>& products, double got, CheckOptions options = {}) {
    const auto k = static_cast<std::int64_t>(products.size());
    const DenseF16 a = dense(1, k, products);
    const DenseF16 b = dense(k, 1, std::vector<float>(products.size(), 1.0F));
    options.roundings = k;
    return check(std::vector<std::uint16_t>{f32_to_f16(static_cast<float>(got))}, a, b, options);
}

CheckResult check_f32(float a, float b, float c, float d, float got) {
    const DenseF32 left{1, 2, {a, c}};
    const DenseF32 right{2, 1, {b, d}};
    return check(std::vector<float>{got}, left, right, {.partials = ElementType::F32});
}

} // namespace

TEST_CASE("a type overflows where rounding to nearest does", "[operands]") {
    CHECK_FALSE(overflows(ElementType::F16, 65519.99));
    CHECK(overflows(ElementType::F16, 65520));
    CHECK(overflows(ElementType::F16, -65520));
    CHECK_FALSE(overflows(ElementType::F16, kInfinity));
    CHECK(in_range(ElementType::F16, 65519) == 65504);
    CHECK(in_range(ElementType::F16, -1e9) == -65504);
    CHECK(in_range(ElementType::F16, 65503) == 65503);
    CHECK_FALSE(overflows(ElementType::F32, 0x1.fffffefp127));
    CHECK(overflows(ElementType::F32, 0x1.ffffffp127));
    CHECK(in_range(ElementType::F32, -0x1p128) == -kInfinity);
    CHECK(in_range(ElementType::F32, 1e38) == 1e38);
}

TEST_CASE("a result that overflows is right where the machine saturates", "[operands]") {
    for (const ElementType partials : {ElementType::F16, ElementType::F32}) {
        for (const float sign : {1.0F, -1.0F}) {
            const std::vector<float> products(4, sign * 30000);
            const auto right = check_sum(products, sign * kMost, {.partials = partials});
            CHECK(right.passed);
            CHECK(right.overflow.elements == 1);
            CHECK(right.overflow.first == 0);
            CHECK(right.overflow.largest == 4 * std::fabs(double{f16_to_f32(half(30000))}));
            CHECK(right.max_error == 0);
            CHECK(right.worst_expected == double{sign * kMost});
            for (const double got : {0.0, sign * 30000.0, -sign * double{kMost}}) {
                CHECK_FALSE(check_sum(products, got, {.partials = partials}).passed);
            }
            CHECK_FALSE(check_sum(products, sign * kInfinity, {.partials = partials}).passed);
        }
    }
}

TEST_CASE("what fits is no overflow", "[operands]") {
    const auto fits = check_sum({30000, 30000}, 60000);
    CHECK(fits.passed);
    CHECK(fits.overflow.elements == 0);
    CHECK(fits.overflow.first == -1);
    // sums that might have saturated and did not
    const auto did_not = check_sum({60000, 60000, -60000, -50000}, 10000);
    CHECK(did_not.passed);
    CHECK(did_not.overflow.elements == 0);
}

TEST_CASE("sums in binary16 may saturate on the way, in any order", "[operands]") {
    const std::vector<float> products{60000, 60000, -60000, -50000}; // 10000
    CheckOptions halves{.partials = ElementType::F16};
    // 60000 + 60000 saturates first: 65504 - 110000 saturates too, or not, by the order
    for (const double got : {5504.0 - 50000.0, -44496.0, 5504.0, 10000.0, 30000.0, 54496.0}) {
        CAPTURE(got);
        const auto found = check_sum(products, got, halves);
        CHECK(found.passed);
        CHECK(found.overflow.elements == (got == 10000.0 ? 0 : 1));
    }
    // no order makes these: 65504 less all that is negative, and the other way round
    for (const double got : {-46000.0, 56000.0}) {
        CAPTURE(got);
        CHECK_FALSE(check_sum(products, got, halves).passed);
    }
    // sums in binary32 do not saturate
    halves.partials = ElementType::F32;
    CHECK(check_sum(products, 10000, halves).passed);
    CHECK_FALSE(check_sum(products, 5504, halves).passed);
    // but products that are rounded to binary16 do
    halves.half_products = true;
    CHECK(check_sum(products, 5504, halves).passed);
}

TEST_CASE("what comes behind a product is done to what it may be", "[operands]") {
    CheckOptions options{.partials = ElementType::F16};
    options.after = [](std::int64_t, std::int64_t, Expected product) {
        return Expected{std::max(product.value - 1000, 0.0), product.tolerance};
    };
    CHECK(check_sum({60000, 60000}, kMost - 1000, options).passed);
    CHECK(check_sum({60000, 60000}, kMost, options).passed); // in one sum with the bias
    CHECK_FALSE(check_sum({60000, 60000}, 60000, options).passed);
    const auto negative = check_sum({-60000, -60000}, 0, options);
    CHECK(negative.passed);
    CHECK(negative.overflow.elements == 0); // the result has nothing of it
}

TEST_CASE("an overflow in binary32 makes infinities, and NaN of two", "[operands]") {
    constexpr float kLarge = 1e30F;
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    CHECK(check_f32(kLarge, kLarge, 1, 1, infinity).overflow.elements == 1);
    CHECK(check_f32(kLarge, kLarge, 1, 1, infinity).passed);
    CHECK(check_f32(kLarge, kLarge, 1, 1, infinity).elements == 1);
    CHECK(check_f32(kLarge, kLarge, 1, 1, infinity).overflow.first == 0);
    CHECK_FALSE(check_f32(kLarge, kLarge, 1, 1, 5).passed);
    CHECK(check_f32(kLarge, kLarge, kLarge, -kLarge, nan).passed);
    CHECK(check_f32(kLarge, kLarge, kLarge, -kLarge, nan).overflow.elements == 1);
    CHECK_FALSE(check_f32(1, 2, 3, 4, infinity).passed);
    // not the values' own fault
    CHECK_FALSE(check_f32(infinity, 1, 1, 1, infinity).passed);
}

TEST_CASE("parts tell of the first overflow of all, by row and column", "[operands]") {
    const DenseF16 a = dense(2, 1, {1, 300});
    const DenseF16 b = dense(1, 3, {1, 300, -400});
    const std::vector<std::uint16_t> c{half(1),   half(300),   half(-400),
                                       half(300), half(90000), half(-120000)};
    const auto part = check(c, a, b, {});
    CHECK(part.passed);
    CHECK(part.overflow.elements == 2);
    CHECK(part.overflow.first == 4);
    CHECK(part.overflow.largest == 120000);
    CHECK(
        overflow_text(part) ==
        "the values overflow f16, which the machine saturates: 2 of 6 elements, the first at row 1 "
        "column 1, magnitudes of the reference up to 120000");
    CheckResult all;
    join(all, part, 10);
    join(all, part, 4);
    CHECK(all.overflow.elements == 4);
    CHECK(all.overflow.first == 5 * 3 + 1);
}

TEST_CASE("an overflow that must be exact is told with the number that the machine has",
          "[operands]") {
    CheckOptions options{.partials = ElementType::F32, .exact_required = true};
    const auto right = check_sum({30000, 30000, 30000}, kMost, options);
    CHECK(right.passed);
    CHECK(right.overflow.elements == 1);
    CHECK(right.worst_expected == double{kMost});
    const auto wrong = check_sum({-30000, -30000, -30000}, 0, options);
    CHECK_FALSE(wrong.passed);
    CHECK(wrong.max_error == double{kMost});
    CHECK(wrong.worst_expected == -double{kMost});
}

TEST_CASE("what was found later is added behind what was found before", "[operands]") {
    Overflow all;
    all.note(7, -3);
    CHECK(all.first == 7);
    CHECK(all.largest == 3);
    all.note(9, 2);
    CHECK(all.first == 7);
    CHECK(all.largest == 3);
    all.note(0, 5);
    CHECK(all.first == 0);
    CHECK(all.elements == 3);
    all.note(4, 1); // element 0 is one, too
    CHECK(all.first == 0);
    CHECK(all.elements == 4);
    Overflow first_of_all;
    first_of_all.note(0, 1);
    Overflow joined = first_of_all;
    joined.add(all, 100);
    CHECK(joined.first == 0);
    CHECK(joined.elements == 5);
    CHECK(joined.largest == 5);
    Overflow none;
    joined.add(none, 0);
    CHECK(joined.first == 0);
    CHECK(joined.elements == 5);
    none.add(all, 100);
    CHECK(none.first == 100);
}
