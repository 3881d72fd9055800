// SPDX-License-Identifier: MIT
// What a check of a result says, beside its definition in reference.h written down a second time: over
// results of several panels of rows, with errors anywhere.
#include "base/float16.h"
#include "kernels/workload/half.h"
#include "kernels/workload/reference.h"
#include "kernels/workload/values.h"
#include "tests/kernels/workload/support.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace {

using namespace tessera;
using namespace tessera::workload;

constexpr std::int64_t kPanelRows = 1024; ///< most of a panel
constexpr double kEndless = std::numeric_limits<double>::infinity();

/// One element as the check has it.
struct Judged {
    double got = 0;
    double expected = 0;
    double allowed = 0;

    [[nodiscard]] bool is_finite() const { return std::isfinite(got); }
    [[nodiscard]] double error() const { return std::fabs(got - expected); }
    /// How bad it is; what is not finite is worst.
    [[nodiscard]] double badness() const {
        return !is_finite()   ? kEndless
               : allowed > 0  ? error() / allowed
               : error() == 0 ? 0
                              : kEndless;
    }
};

CheckResult judged(const std::vector<Judged>& elements, std::int64_t columns, bool exact) {
    CheckResult all;
    all.elements = static_cast<std::int64_t>(elements.size());
    std::int64_t worst = 0;
    for (std::int64_t i = 0; i < all.elements; ++i) {
        const Judged& one = elements[static_cast<std::size_t>(i)];
        const Judged& worst_one = elements[static_cast<std::size_t>(worst)];
        const bool right =
            one.is_finite() && (exact ? one.error() == 0 : one.error() <= one.allowed);
        all.failed_elements += right ? 0 : 1;
        all.non_finite_elements += one.is_finite() ? 0 : 1;
        if (one.is_finite()) {
            all.max_error = std::max(all.max_error, one.error());
            if (one.allowed > 0) {
                all.max_error_over_tolerance =
                    std::max(all.max_error_over_tolerance, one.error() / one.allowed);
            }
        }
        if (worst_one.is_finite() && (!one.is_finite() || one.badness() > worst_one.badness())) {
            worst = i;
        }
    }
    all.passed = all.failed_elements == 0;
    all.worst_row = worst / columns;
    all.worst_column = worst % columns;
    all.worst_got = elements[static_cast<std::size_t>(worst)].got;
    all.worst_expected = elements[static_cast<std::size_t>(worst)].expected;
    return all;
}

void check_same(const CheckResult& found, const CheckResult& wanted) {
    CHECK(found.passed == wanted.passed);
    CHECK(found.elements == wanted.elements);
    CHECK(found.failed_elements == wanted.failed_elements);
    CHECK(found.non_finite_elements == wanted.non_finite_elements);
    CHECK(found.max_error == wanted.max_error);
    CHECK(found.max_error_over_tolerance == Approx(wanted.max_error_over_tolerance).epsilon(1e-12));
    CHECK(found.worst_row == wanted.worst_row);
    CHECK(found.worst_column == wanted.worst_column);
    CHECK((found.worst_got == wanted.worst_got ||
           (std::isnan(found.worst_got) && std::isnan(wanted.worst_got))));
    CHECK(found.worst_expected == wanted.worst_expected);
}

/// Errors to choose from, in steps of 2^-10 of the element: several are equal, few are not finite.
struct Scene {
    std::int64_t rows = 1;
    std::int64_t columns = 1;
    int wrong_of_1000 = 0;
    int endless_of_1000 = 0;
    bool exact = false;
};

} // namespace

TEST_CASE("the check of a result of several panels says what its definition does", "[operands]") {
    std::mt19937 random(1);
    const auto chance = [&](int of_1000) { return static_cast<int>(random() % 1000) < of_1000; };
    const std::vector<Scene> scenes{
        {1, 1, 0, 0, false},
        {1, 1, 1000, 0, false},
        {1, 7, 500, 0, false},
        {kPanelRows, 1, 2, 0, false},
        {kPanelRows + 1, 1, 2, 0, false},
        {3 * kPanelRows - 5, 1, 1, 0, false},
        {3 * kPanelRows, 2, 5, 0, true},
        {3 * kPanelRows + 9, 2, 20, 1, false},
        {4 * kPanelRows, 1, 1000, 0, false},
        {2 * kPanelRows, 1, 0, 1, true},
    };
    for (int round = 0; round < 6; ++round) {
        for (const Scene& scene : scenes) {
            // one product an element: of 0, 1/2, 1 or 2 and 1
            DenseF16 a{scene.rows, 1, {}};
            for (std::int64_t row = 0; row < scene.rows; ++row) {
                const std::vector<float> some{0, 0.5F, 1, 2};
                a.values.push_back(f32_to_f16(some[random() % some.size()]));
            }
            const DenseF16 b = test::dense(
                1, scene.columns, std::vector<float>(static_cast<std::size_t>(scene.columns), 1));
            CheckOptions options;
            options.exact_required = scene.exact;
            options.roundings = round;
            const double tolerance = workload::tolerance(options, 1);
            std::vector<std::uint16_t> result;
            std::vector<Judged> elements;
            for (std::int64_t i = 0; i < scene.rows * scene.columns; ++i) {
                const float product =
                    f16_to_f32(a.values[static_cast<std::size_t>(i / scene.columns)]);
                float got = product;
                if (chance(scene.wrong_of_1000)) {
                    const auto steps = static_cast<float>(random() % 4 + 1);
                    got += (product == 0 ? 1 : product) * (random() % 2 == 0 ? steps : -steps) *
                           0x1p-10F;
                }
                if (chance(scene.endless_of_1000)) {
                    got = std::numeric_limits<float>::quiet_NaN();
                }
                result.push_back(f32_to_f16(got));
                elements.push_back({static_cast<double>(f16_to_f32(result.back())),
                                    static_cast<double>(product),
                                    static_cast<double>(product) * tolerance});
            }
            CAPTURE(round, scene.rows, scene.columns, scene.exact);
            for (const int threads : {0, 1}) {
                options.threads = threads;
                check_same(check(result, a, b, options),
                           judged(elements, scene.columns, scene.exact));
            }
        }
    }
}

TEST_CASE("the worst elements of panels are compared in their order", "[operands]") {
    // a column of ones in four panels, right but for these
    struct Wrong {
        std::int64_t row;
        float got;
    };
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const std::int64_t p = kPanelRows;
    const DenseF16 a{4 * p, 1, std::vector<std::uint16_t>(4 * kPanelRows, f32_to_f16(1))};
    const DenseF16 b = test::dense(1, 1, {1});
    const auto checked = [&](const std::vector<Wrong>& wrong) {
        auto result = a.values;
        std::vector<Judged> elements(result.size(), {1, 1, tolerance({}, 1)});
        for (const Wrong& one : wrong) {
            result[static_cast<std::size_t>(one.row)] = f32_to_f16(one.got);
            elements[static_cast<std::size_t>(one.row)].got = static_cast<double>(one.got);
        }
        const CheckResult found = check(result, a, b, {});
        check_same(found, judged(elements, 1, false));
        return found.worst_row;
    };
    CHECK(checked({}) == 0);
    CHECK(checked({{0, 3}}) == 0);
    CHECK(checked({{p, 3}, {3 * p, 3}}) == p);       // of equal ones the first
    CHECK(checked({{p, 3}, {3 * p, -1}}) == p);      // and of the other side
    CHECK(checked({{p, 2}, {3 * p, 3}}) == 3 * p);   // the larger one
    CHECK(checked({{p, 3}, {2 * p, nan}}) == 2 * p); // what is no number is worse
    CHECK(checked({{p, nan}, {2 * p, nan}}) == p);   // the first of them
    CHECK(checked({{p, nan}, {2 * p, 3}}) == p);     // and stays so
    CHECK(checked({{p, nan}, {2 * p, 3}, {3 * p, nan}}) == p);
    CHECK(checked({{4 * p - 1, 1.5F}}) == 4 * p - 1);
}

TEST_CASE("a sum of magnitudes just as large as the largest number does not saturate",
          "[operands]") {
    constexpr float kLargest = 65504;
    CheckOptions options{.partials = ElementType::F16};
    const auto with = [&](const std::vector<float>& products, float got) {
        const auto k = static_cast<std::int64_t>(products.size());
        const DenseF16 a = test::dense(1, k, products);
        const DenseF16 b = test::dense(k, 1, std::vector<float>(products.size(), 1));
        return check(std::vector<std::uint16_t>{f32_to_f16(got)}, a, b, options);
    };
    const float half = kLargest / 2;
    CHECK(with({half, half}, kLargest).passed);
    CHECK(with({half, half}, 40000).overflow.elements == 0);
    CHECK_FALSE(with({half, half}, 40000).passed);
    // a step more, and less of it again: some order of the sums saturates
    CHECK(with({kLargest, 32, -64}, kLargest - 64).passed);
    CHECK(with({kLargest, 32, -64}, kLargest - 64).overflow.elements == 0); // near enough
}

TEST_CASE("errors far from the border are told with the product in binary64", "[operands]") {
    constexpr std::int64_t kLength = 3000;
    const DenseF16 a = make_dense(40, kLength, {}, 1, Operand::A, 0);
    const DenseF16 b = make_dense(kLength, 3, {}, 1, Operand::B, 0);
    // thirds, so that products in binary32 are rounded
    DenseF16 thirds = b;
    for (std::uint16_t& value : thirds.values) {
        value = f32_to_f16(f16_to_f32(value) / 3);
    }
    const ReferenceResult exact = reference(a, thirds);
    const double allowed = tolerance({}, kLength);
    std::vector<std::uint16_t> result;
    for (std::size_t i = 0; i < exact.products.size(); ++i) {
        const double off = i == 50 ? 0.5 : 0.01; // of what is allowed
        const double sum = static_cast<double>(exact.absolute_sums[i]);
        result.push_back(f64_to_f16(exact.products[i] + off * allowed * sum));
    }
    const double got = static_cast<double>(f16_to_f32(result[50]));
    const double error = std::fabs(got - exact.products[50]);
    REQUIRE(single_precision_error(kLength) < 0.4 * allowed); // it is sure without binary64
    const CheckResult found = check(result, a, thirds, {});
    CHECK(found.passed);
    CHECK(found.max_error == error);
    CHECK(found.max_error_over_tolerance ==
          Approx(error / (allowed * static_cast<double>(exact.absolute_sums[50]))));
    CHECK(found.worst_row == 50 / 3);
    CHECK(found.worst_column == 50 % 3);
    CHECK(found.worst_got == got);
    CHECK(found.worst_expected == exact.products[50]);
}

TEST_CASE("each product and each rounding in binary32 may lose what is no normal number",
          "[operands]") {
    constexpr float kLeast = 0x1p-126F;
    const DenseF32 nearly_none{1, 1, {0x1p-100F}};
    for (const std::int64_t roundings : {0, 1, 5}) {
        const CheckOptions options{.partials = ElementType::F32, .roundings = roundings};
        const auto passes = [&](float got) {
            return check(std::vector<float>{got}, nearly_none, nearly_none, options).passed;
        };
        const auto most = static_cast<float>(1 + roundings + 1); // a product, and the last rounding
        CAPTURE(roundings);
        CHECK(passes(most * kLeast));
        CHECK(passes(-(most - 1) * kLeast));
        CHECK_FALSE(passes((most + 1) * kLeast));
        CHECK_FALSE(passes(-(most + 1) * kLeast));
    }
}
