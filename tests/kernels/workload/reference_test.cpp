// SPDX-License-Identifier: MIT
#include "kernels/workload/blas.h"
#include "kernels/workload/reference.h"
#include "kernels/workload/values.h"
#include "tests/kernels/workload/exactness.h"
#include "tests/kernels/workload/support.h"

#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <string>
#include <sys/resource.h>
#include <thread>

using tessera::f32_to_f16;
using tessera::test::dense;
using tessera::test::densified;
using tessera::test::for_each_contraction;
using namespace tessera::workload;

namespace {

/// The plain-loop product rounded once to binary16: the best possible result.
std::vector<std::uint16_t> rounded_product(const DenseF16& a, const DenseF16& b) {
    std::vector<std::uint16_t> result;
    for_each_contraction(a, b, [&](const std::vector<double>& products) {
        double sum = 0;
        for (const double product : products) {
            sum += product;
        }
        result.push_back(f32_to_f16(static_cast<float>(sum)));
    });
    return result;
}

DenseF16 uniform(std::int64_t rows, std::int64_t columns, Operand operand) {
    return make_dense(rows, columns, {}, 1, operand, 0);
}

SparseF16 sparse_operand(std::int64_t m, std::int64_t k, std::int64_t block, double density = 0.3) {
    SpmmWorkload workload;
    workload.m = m;
    workload.k = k;
    workload.block = block;
    workload.pattern.density = density;
    return make_sparse(workload);
}

constexpr std::uint16_t kInfinity = 0x7c00;
constexpr std::uint16_t kNan = 0x7e00;

/// One product, 1 * 1, so that the reference and |A||B| are both 1.
CheckResult check_one(double result, CheckOptions options) {
    const DenseF16 one = dense(1, 1, {1.0F});
    const std::vector<std::uint16_t> c{f32_to_f16(static_cast<float>(result))};
    return check(c, one, one, options);
}

} // namespace

TEST_CASE("the tolerance follows its formula", "[operands]") {
    CheckOptions options;
    options.roundings = 5;
    CHECK(tolerance(options, 64) == 6 * 0x1p-11 + 64 * 0x1p-24);
    options.partials = tessera::ElementType::F32;
    CHECK(tolerance(options, 64) == 6 * 0x1p-24 + 64 * 0x1p-24 + 0x1p-11);
}

TEST_CASE("the library is not left to take a processor with AVX2 for an old one", "[operands]") {
    if (__builtin_cpu_supports("avx2") != 0 && std::getenv("OPENBLAS_CORETYPE") == nullptr) {
        CHECK(Blas::loaded().core() != "Prescott");
    }
}

TEST_CASE("loading the library leaves its variables as they were", "[operands]") {
    // in a process of its own: the library is loaded once
    const char* const name = "OPENBLAS_NUM_THREADS";
    ::setenv(name, "3", 1);
    static_cast<void>(Blas::loaded());
    REQUIRE(std::getenv(name) != nullptr);
    CHECK(std::string(std::getenv(name)) == "3");
    ::unsetenv(name);
}

TEST_CASE("loading the library sets no variable that was not there", "[operands]") {
    const char* const name = "OPENBLAS_NUM_THREADS";
    ::unsetenv(name);
    CHECK_FALSE(Blas::loaded().core().empty());
    CHECK(std::getenv(name) == nullptr);
}

TEST_CASE("as many products are made at once as the host has processors, where there is room",
          "[operands]") {
    const auto processors = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
    const int at_once = Blas::loaded().most_at_once();
    CHECK(at_once >= 1);
    CHECK(at_once <= processors);
    rlimit limit{};
    if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur == RLIM_INFINITY) {
        CHECK(at_once == processors);
    }
}

TEST_CASE("the dense reference equals a plain product", "[operands]") {
    const DenseF16 a = uniform(7, 300, Operand::A);
    const DenseF16 b = uniform(300, 9, Operand::B);
    for (const int threads : {0, 1, 2}) {
        const ReferenceResult result = reference(a, b, threads);
        REQUIRE(result.products.size() == 63);
        std::size_t at = 0;
        int different = 0;
        for_each_contraction(a, b, [&](const std::vector<double>& products) {
            double sum = 0;
            double absolute_sum = 0;
            for (const double product : products) {
                sum += product;
                absolute_sum += std::fabs(product);
            }
            different += result.products[at] != sum ? 1 : 0;
            different += static_cast<double>(result.absolute_sums[at]) != absolute_sum ? 1 : 0;
            ++at;
        });
        CHECK(different == 0);
    }
}

TEST_CASE("the sparse reference equals the dense one", "[operands]") {
    for (const std::int64_t block : {1, 16}) {
        const SparseF16 a = sparse_operand(50, 70, block);
        const DenseF16 x = uniform(70, 11, Operand::B);
        const ReferenceResult sparse = reference(a, x);
        const ReferenceResult dense_result = reference(densified(a), x);
        CHECK(sparse.products == dense_result.products);
        CHECK(sparse.absolute_sums == dense_result.absolute_sums);
    }
}

TEST_CASE("a correctly rounded result passes", "[operands]") {
    const DenseF16 a = uniform(33, 64, Operand::A);
    const DenseF16 b = uniform(64, 17, Operand::B);
    const CheckResult found = check(rounded_product(a, b), a, b, {});
    CHECK(found.passed);
    CHECK_FALSE(found.exact_required);
    CHECK(found.elements == 33 * 17);
    CHECK(found.failed_elements == 0);
    CHECK(found.max_error > 0.0);
    CHECK(found.max_error_over_tolerance > 0.0);
    CHECK(found.max_error_over_tolerance < 1.0);
    CHECK(found.tolerance == tolerance({}, 64));
}

TEST_CASE("one wrong element fails and is located", "[operands]") {
    const DenseF16 a = uniform(33, 64, Operand::A);
    const DenseF16 b = uniform(64, 17, Operand::B);
    auto result = rounded_product(a, b);
    const ReferenceResult truth = reference(a, b);
    const std::size_t at = 20 * 17 + 4;
    result[at] = f32_to_f16(static_cast<float>(truth.products[at]) + 1.0F);
    const CheckResult found = check(result, a, b, {});
    CHECK_FALSE(found.passed);
    CHECK(found.failed_elements == 1);
    CHECK(found.worst_row == 20);
    CHECK(found.worst_column == 4);
    CHECK(found.worst_expected == truth.products[at]);
    CHECK(found.worst_got - found.worst_expected == Approx(1.0).margin(0.01));
    CHECK(found.max_error == Approx(1.0).margin(0.01));
    CHECK(
        found.max_error_over_tolerance ==
        Approx(found.max_error / (found.tolerance * static_cast<double>(truth.absolute_sums[at]))));
}

TEST_CASE("a sparse FP32 result is checked like a dense one", "[operands]") {
    for (const std::int64_t block : {1, 8}) {
        for (const double density : {0.08, 0.3}) {
            CAPTURE(block, density);
            const SparseF16 half = sparse_operand(50, 70, block, density);
            SparseF32 a;
            static_cast<SparsePattern&>(a) = half;
            for (const std::uint16_t value : half.values) {
                a.values.push_back(tessera::f16_to_f32(value));
            }
            const DenseF16 x_half = uniform(70, 11, Operand::B);
            DenseF32 x{70, 11, {}};
            for (const std::uint16_t value : x_half.values) {
                x.values.push_back(tessera::f16_to_f32(value));
            }
            const ReferenceResult truth = reference(half, x_half);
            std::vector<float> result(truth.products.begin(), truth.products.end());
            const CheckOptions options{.partials = tessera::ElementType::F32, .roundings = 3};
            const CheckResult good = check(result, a, x, options);
            CHECK(good.passed);
            CHECK(good.elements == 550);
            CHECK(good.tolerance == tolerance_f32(options));
            result[11 * 30 + 7] += 1.0F;
            CHECK(check(result, a, x, options).failed_elements == 1);
        }
    }
}

TEST_CASE("products that are rounded to binary16 may each be off by as much", "[operands]") {
    // one product a row: rounded to binary16, so is the sum
    SparseF16 a;
    a.rows = 64;
    a.columns = 64;
    a.row_start.push_back(0);
    DenseF16 x{64, 1, {}};
    std::vector<std::uint16_t> result;
    for (std::int32_t i = 0; i < 64; ++i) {
        const std::uint16_t value = f32_to_f16(1.0F + static_cast<float>(i) / 64.0F);
        a.block_column.push_back(i);
        a.row_start.push_back(i + 1);
        a.values.push_back(value);
        x.values.push_back(f32_to_f16(1.0F + static_cast<float>(63 - i) / 128.0F));
        // half a step up in the product and in the sum
        result.push_back(
            f32_to_f16(tessera::f16_to_f32(value) * tessera::f16_to_f32(x.values.back()) *
                       (1.0F + 0.9F * 0x1p-11F)));
    }
    CheckOptions options{.partials = tessera::ElementType::F32};
    CHECK_FALSE(check(result, a, x, options).passed);
    options.half_products = true;
    CHECK(check(result, a, x, options).passed);
    CHECK(tolerance(options, 64) - 0x1p-11 ==
          Approx(tolerance({.partials = tessera::ElementType::F32}, 64)).epsilon(1e-12));
}

TEST_CASE("a sparse result is checked like a dense one", "[operands]") {
    for (const std::int64_t block : {1, 16}) {
        // Below and above the density at which the dense product takes over.
        for (const double density : {0.08, 0.3}) {
            CAPTURE(block, density);
            const SparseF16 a = sparse_operand(50, 70, block, density);
            const DenseF16 x = uniform(70, 11, Operand::B);
            auto result = rounded_product(densified(a), x);
            const CheckResult good = check(result, a, x, {});
            CHECK(good.passed);
            CHECK(good.elements == 550);
            CHECK(good.tolerance == tolerance({}, 70));
            result[11 * 30 + 7] = f32_to_f16(60.0F);
            const CheckResult bad = check(result, a, x, {});
            CHECK_FALSE(bad.passed);
            CHECK(bad.failed_elements == 1);
            CHECK(bad.max_error == Approx(60.0).margin(15.0));
        }
    }
}

TEST_CASE("an error just within the tolerance passes and just beyond it fails", "[operands]") {
    // One step of binary16 above 1 is 2^-10; with k = 1 the tolerance is (roundings + 1) 2^-11 +
    // 2^-24.
    CheckOptions options;
    options.roundings = 1;
    CHECK(check_one(1.0 + 0x1p-10, options).passed);
    CHECK_FALSE(check_one(1.0 + 0x2p-10, options).passed);
    CHECK(check_one(1.0 - 0x1p-10, options).passed);
    CHECK_FALSE(check_one(1.0 - 0x3p-11, options).passed);
    options.roundings = 0;
    CHECK_FALSE(check_one(1.0 + 0x1p-10, options).passed);
    CHECK(check_one(1.0 - 0x1p-11, options).passed);
    options.partials = tessera::ElementType::F32;
    CHECK(check_one(1.0 - 0x1p-11, options).passed);
    CHECK_FALSE(check_one(1.0 - 0x1p-10, options).passed);
}

TEST_CASE("a binary32 result is held against roundings to binary32", "[operands]") {
    CheckOptions options;
    options.partials = tessera::ElementType::F32;
    options.roundings = 3;
    CHECK(tolerance_f32(options) == 4 * 0x1p-24);
    const DenseF32 third{1, 1, {1.0F / 3}};
    const DenseF32 one{1, 1, {1.0F}};
    const auto with = [&](double factor) {
        const std::vector<float> c{static_cast<float>(factor / 3)};
        return check(std::span<const float>(c), third, one, options);
    };
    CHECK(with(1).passed);
    CHECK(with(1).max_error == 0);
    CHECK(with(1 + 3 * 0x1p-24).passed);
    CHECK_FALSE(with(1 + 6 * 0x1p-24).passed);
    CHECK_FALSE(with(1 - 6 * 0x1p-24).passed);
    options.exact_required = true;
    CHECK_FALSE(with(1 + 3 * 0x1p-24).passed);
    // products that are subnormal are zero on the machine
    options.exact_required = false;
    const DenseF32 tiny{1, 1, {0x1p-70F}};
    const std::vector<float> zero{0.0F};
    CHECK(check(std::span<const float>(zero), tiny, tiny, options).passed);
    const std::vector<float> much{0x1p-120F};
    CHECK_FALSE(check(std::span<const float>(much), tiny, tiny, options).passed);
}

TEST_CASE("results below the normal numbers may be off by half a step a rounding", "[operands]") {
    // 2^-12 * 1.5 * 2^-12 lies between two steps of 2^-24.
    const DenseF16 a{1, 1, {f32_to_f16(0x1p-12F)}};
    const DenseF16 b{1, 1, {f32_to_f16(1.5F * 0x1p-12F)}};
    const auto with = [&](float result, const DenseF16& left) {
        const std::vector<std::uint16_t> c{f32_to_f16(result)};
        return check(c, left, b, {});
    };
    CHECK(with(0x1p-24F, a).passed);
    CHECK(with(2 * 0x1p-24F, a).passed);
    CHECK(with(2 * 0x1p-24F, a).max_error_over_tolerance == Approx(1.0).epsilon(1e-3));
    CHECK_FALSE(with(0, a).passed);
    CHECK_FALSE(with(3 * 0x1p-24F, a).passed);
    CHECK_FALSE(with(0x1p-24F, {1, 1, {0}}).passed); // no product, no rounding
    // half a step for each rounding to binary16, of which the last is always one
    for (const std::int64_t roundings : {0, 1, 2, 5}) {
        for (const auto partials : {tessera::ElementType::F16, tessera::ElementType::F32}) {
            for (const bool half_products : {false, true}) {
                CheckOptions options{
                    .partials = partials, .roundings = roundings, .half_products = half_products};
                const bool half = partials == tessera::ElementType::F16;
                const std::int64_t most = (half ? roundings + 1 : 1) + (half_products ? 1 : 0);
                for (std::int64_t steps = 0; steps < 8; ++steps) { // 1 and 2 are half a step off
                    const std::vector<std::uint16_t> c{
                        f32_to_f16(static_cast<float>(steps) * 0x1p-24F)};
                    const std::int64_t halves = std::abs(2 * steps - 3);
                    CAPTURE(roundings, half, half_products, steps);
                    CHECK(check(c, a, b, options).passed == (halves <= most));
                }
            }
        }
    }
}

TEST_CASE("an error of exactly the tolerance passes", "[operands]") {
    // Of 8192 products one is 1 and the rest are 0: |A||B| = 1 and the tolerance 2^-11 + 2^13 2^-24
    // = 2^-10.
    std::vector<float> values(8192, 0.0F);
    values[5] = 1.0F;
    const DenseF16 a = dense(1, 8192, values);
    const DenseF16 b = dense(8192, 1, values);
    const auto with = [&](float c) {
        return check(std::vector<std::uint16_t>{f32_to_f16(c)}, a, b, {});
    };
    CHECK(with(1.0F + 0x1p-10F).passed);
    CHECK(with(1.0F + 0x1p-10F).max_error_over_tolerance == 1.0);
    CHECK(with(1.0F - 0x1p-10F).passed);
    CHECK_FALSE(with(1.0F - 0x3p-11F).passed);
}

TEST_CASE("where exactness is required the smallest error fails", "[operands]") {
    CheckOptions options;
    options.roundings = 100;
    options.exact_required = true;
    CHECK(check_one(1.0, options).passed);
    CHECK(check_one(1.0, options).exact_required);
    CHECK_FALSE(check_one(1.0 - 0x1p-11, options).passed);
    CHECK(check_one(1.0 - 0x1p-11, options).max_error == 0x1p-11);
    options.exact_required = false;
    CHECK(check_one(1.0 - 0x1p-11, options).passed);
}

TEST_CASE("infinities and NaN never pass", "[operands]") {
    const DenseF16 a = uniform(4, 8, Operand::A);
    const DenseF16 b = uniform(8, 4, Operand::B);
    for (const std::uint16_t bad : {kInfinity, kNan, std::uint16_t{0xfc00}}) {
        for (const bool exact : {false, true}) {
            auto result = rounded_product(a, b);
            result[3] = f32_to_f16(100.0F);
            result[9] = bad;
            CheckOptions options;
            options.roundings = 1000000;
            options.exact_required = exact;
            const CheckResult found = check(result, a, b, options);
            CHECK_FALSE(found.passed);
            CHECK(found.non_finite_elements == 1);
            CHECK(found.worst_row == 2);
            CHECK(found.worst_column == 1);
            CHECK(std::isfinite(found.max_error));
        }
    }
}

TEST_CASE("the worst element is the first of the worst, and not the last", "[operands]") {
    // A product of ones: each element's sum is 1, so errors compare as they are.
    const DenseF16 a = dense(5, 1, {1, 1, 1, 1, 1});
    const DenseF16 b = dense(1, 1, {1});
    const auto found = [&](std::initializer_list<float> results) {
        std::vector<std::uint16_t> halves;
        for (const float result : results) {
            halves.push_back(f32_to_f16(result));
        }
        return check(halves, a, b, {});
    };
    const auto largest = found({1, 3, 1.5F, 3, 1});
    CHECK(largest.worst_row == 1);
    CHECK(largest.max_error == 2);
    CHECK(largest.max_error_over_tolerance == Approx(2 / largest.tolerance));
    CHECK(largest.failed_elements == 3);
    const float nan = std::numeric_limits<float>::quiet_NaN();
    const float infinite = std::numeric_limits<float>::infinity();
    const auto broken = found({1, 3, nan, infinite, nan});
    CHECK(broken.worst_row == 2);
    CHECK(broken.non_finite_elements == 3);
    CHECK(broken.failed_elements == 4);
    CHECK(broken.max_error == 2);
}

TEST_CASE("an operand that is not finite makes its results fail", "[operands]") {
    DenseF16 a = dense(2, 1, {1.0F, 1.0F});
    a.values[1] = kInfinity;
    const DenseF16 b = dense(1, 1, {1.0F});
    const std::vector<std::uint16_t> result{f32_to_f16(1.0F), f32_to_f16(1.0F)};
    const CheckResult found = check(result, a, b, {});
    CHECK_FALSE(found.passed);
    CHECK(found.failed_elements == 1);
    CHECK(found.worst_row == 1);
}

TEST_CASE("a result without products must be zero", "[operands]") {
    const DenseF16 zero = dense(1, 2, {0.0F, 0.0F});
    const DenseF16 b = dense(2, 1, {1.0F, 1.0F});
    CHECK(check(std::vector<std::uint16_t>{0x0000}, zero, b, {}).passed);
    CHECK(check(std::vector<std::uint16_t>{0x8000}, zero, b, {}).passed);
    const CheckResult found = check(std::vector<std::uint16_t>{0x0001}, zero, b, {});
    CHECK_FALSE(found.passed);
    CHECK(found.max_error == 0x1p-24);
    CHECK(found.max_error_over_tolerance == 0.0);
    CHECK(found.worst_row == 0);
}

TEST_CASE("results of more than one panel are checked to their last row", "[operands]") {
    // A panel holds at most 2^22 elements: here three of them, the last one short.
    static constexpr std::int64_t kRows = 5000;
    static constexpr std::int64_t kColumns = 2048;
    DenseF16 a{kRows, 1, std::vector<std::uint16_t>(kRows)};
    for (std::size_t row = 0; row < kRows; ++row) {
        a.values[row] = f32_to_f16(static_cast<float>(row % 7));
    }
    const DenseF16 b{1, kColumns, std::vector<std::uint16_t>(kColumns, f32_to_f16(1.0F))};
    std::vector<std::uint16_t> result(static_cast<std::size_t>(kRows * kColumns));
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] = a.values[i / kColumns];
    }
    CheckOptions options;
    options.exact_required = true;
    const CheckResult good = check(result, a, b, options);
    CHECK(good.passed);
    CHECK(good.elements == kRows * kColumns);
    result.back() = f32_to_f16(50.0F);
    const CheckResult bad = check(result, a, b, options);
    CHECK(bad.failed_elements == 1);
    CHECK(bad.worst_row == kRows - 1);
    CHECK(bad.worst_column == kColumns - 1);
}

TEST_CASE("a product over nothing is zeros", "[operands]") {
    const auto& blas = Blas::loaded();
    std::vector<double> wide(6, 7);
    std::vector<float> narrow(6, 7);
    blas.multiply(2, 3, 0, wide.data(), wide.data(), wide.data());
    blas.multiply(2, 3, 0, narrow.data(), narrow.data(), narrow.data());
    CHECK(wide == std::vector<double>(6, 0));
    CHECK(narrow == std::vector<float>(6, 0));
}

TEST_CASE("a product in binary32 may be off by its bound, not more", "[operands]") {
    CHECK(single_precision_error(0) == 0.0);
    const double gamma = 3000 * 0x1p-24 / (1 - 3000 * 0x1p-24);
    CHECK(single_precision_error(3000) == gamma / (1 - gamma));
    CHECK(std::isinf(single_precision_error(std::int64_t{1} << 23)));
    // the sums of a long row with cancellation, as OpenBLAS makes them
    const DenseF16 a = uniform(8, 3000, Operand::A);
    const DenseF16 b = uniform(3000, 24, Operand::B);
    const ReferenceResult exact = reference(a, b);
    std::vector<float> halves_a;
    std::vector<float> halves_b;
    for (const auto half : a.values) {
        halves_a.push_back(tessera::f16_to_f32(half));
    }
    for (const auto half : b.values) {
        halves_b.push_back(tessera::f16_to_f32(half));
    }
    std::vector<float> products(exact.products.size());
    Blas::loaded().multiply(8, 24, 3000, halves_a.data(), halves_b.data(), products.data());
    for (std::size_t i = 0; i < products.size(); ++i) {
        CHECK(std::fabs(static_cast<double>(products[i]) - exact.products[i]) <=
              single_precision_error(3000) * static_cast<double>(exact.absolute_sums[i]));
    }
}

TEST_CASE("verdicts near the border do not depend on the product in binary32", "[operands]") {
    const DenseF16 a = uniform(16, 3000, Operand::A);
    const DenseF16 b = uniform(3000, 20, Operand::B);
    const ReferenceResult exact = reference(a, b);
    for (const auto partials : {tessera::ElementType::F16, tessera::ElementType::F32}) {
        CheckOptions options;
        options.partials = partials;
        const double allowed = tolerance(options, 3000);
        REQUIRE(single_precision_error(3000) > 0.1 * allowed); // they may all be in question
        for (const double share : {0.97, -0.97, 1.0, -1.0, 1.03, -1.03}) {
            CAPTURE(share);
            std::vector<std::uint16_t> result;
            double largest = 0;
            double furthest = 0;
            std::int64_t beyond = 0;
            std::int64_t about = 0; // so near that the last bits of |A||B| decide
            for (std::size_t i = 0; i < exact.products.size(); ++i) {
                const double may_be_off = allowed * static_cast<double>(exact.absolute_sums[i]);
                result.push_back(
                    f32_to_f16(static_cast<float>(exact.products[i] + share * may_be_off)));
                const double got = tessera::f16_to_f32(result.back());
                const double error = std::fabs(got - exact.products[i]);
                largest = std::max(largest, error);
                furthest = std::max(furthest, error / may_be_off);
                const bool is_about = std::fabs(error / may_be_off - 1) < 3000 * 0x1p-24;
                about += is_about ? 1 : 0;
                beyond += !is_about && error > may_be_off ? 1 : 0;
            }
            const CheckResult found = check(result, a, b, options);
            CHECK(found.failed_elements >= beyond);
            CHECK(found.failed_elements <= beyond + about);
            CHECK(about < 32);
            CHECK(found.max_error == largest);
            CHECK(found.max_error_over_tolerance == Approx(furthest).epsilon(3000 * 0x1p-24));
        }
    }
}
