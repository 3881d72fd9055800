// SPDX-License-Identifier: MIT
// How elements are compared with what is expected, and what families refuse alike.
#include "base/float16.h"
#include "kernels/family/numbers.h"
#include "kernels/family/product.h"
#include "kernels/matmul/matmul.h"
#include "kernels/sparse/spmm.h"
#include "kernels/workload/values.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace {

using namespace tessera;
using family::Refused;
using family::Request;
using family::TensorType;
using family::Value;

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kLeastNormal = 0x1p-126;

Value single(double element) {
    Value value{{ElementType::F32, {1}}, std::vector<std::byte>(4), false};
    const auto narrow = static_cast<float>(element);
    std::memcpy(value.bytes.data(), &narrow, 4);
    return value;
}

Value halves(const std::vector<double>& elements) {
    Value value{{ElementType::F16, {static_cast<std::int64_t>(elements.size())}}, {}, false};
    value.bytes.resize(2 * elements.size());
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const std::uint16_t half = f32_to_f16(static_cast<float>(elements[i]));
        std::memcpy(value.bytes.data() + 2 * i, &half, 2);
    }
    return value;
}

template <class Make> std::string refusal(const Make& make) {
    try {
        static_cast<void>(make());
    } catch (const Refused& refused) {
        return fmt::format("{}: {}", refused.input, refused.what());
    }
    return "taken";
}

} // namespace

TEST_CASE("an element is right within its tolerance, or where both are the same infinity or NaN",
          "[kernels][family]") {
    struct Case {
        double got, expected, tolerance;
        bool right;
        double error, of_tolerance;
    };
    for (const Case& one :
         std::initializer_list<Case>{{1.5, 1.5, 0, true, 0, 0},
                                     {1.5, 1.25, 0.25, true, 0.25, 1},
                                     {1, 1.25, 0.5, true, 0.25, 0.5},
                                     {1.5, 1.25, std::nextafter(0.25, 0), false, 0.25, 1},
                                     {-1, 1, 1, false, 2, 2},
                                     {1, 1.5, 0, false, 0.5, kInfinity},
                                     {kNan, kNan, 0, true, 0, 0},
                                     {kNan, 1, 9, false, 0, 0},
                                     {1, kNan, 9, false, 0, 0},
                                     {kInfinity, kInfinity, 0, true, 0, 0},
                                     {-kInfinity, -kInfinity, 0, true, 0, 0},
                                     {kInfinity, -kInfinity, kInfinity, false, 0, 0},
                                     {kInfinity, 1, kInfinity, false, 0, 0},
                                     {1, kInfinity, kInfinity, false, 0, 0},
                                     {kNan, kInfinity, kInfinity, false, 0, 0},
                                     {kInfinity, kNan, kInfinity, false, 0, 0}}) {
        CAPTURE(one.got, one.expected, one.tolerance);
        family::Comparison comparison;
        comparison.add(one.got, one.expected, one.tolerance);
        const auto checked = comparison.finish();
        CHECK(checked.passed == one.right);
        CHECK(checked.elements == 1);
        CHECK(checked.failed_elements == (one.right ? 0 : 1));
        CHECK(checked.max_error == one.error);
        CHECK(checked.max_error_over_tolerance == Approx(one.of_tolerance));
        CHECK(checked.sentence ==
              (one.right ? fmt::format("{:.1f} % of what is allowed", 100 * one.of_tolerance)
                         : fmt::format("WRONG: 1 of 1 elements; element 0: got {:g}, expected {:g} "
                                       "within {:g}",
                                       one.got, one.expected, one.tolerance)));
    }
}

TEST_CASE("a comparison tells the first failure and the largest error", "[kernels][family]") {
    family::Comparison comparison;
    comparison.add(1, 1.5, 2);
    comparison.add(3, 1, 1);
    comparison.add(1, 1.25, 0.125);
    comparison.add(7, 7, 0);
    const auto checked = comparison.finish();
    CHECK(checked.elements == 4);
    CHECK(checked.failed_elements == 2);
    CHECK(checked.max_error == 2);
    CHECK(checked.max_error_over_tolerance == 2);
    CHECK(checked.sentence == "WRONG: 2 of 4 elements; element 1: got 3, expected 1 within 1");
}

TEST_CASE("FP32 subnormals are zeros of their sign to the machine, FP16 ones are themselves",
          "[kernels][family]") {
    const double below = std::nextafter(static_cast<float>(kLeastNormal), 0.0F);
    for (const double sign : {1.0, -1.0}) {
        CHECK(family::number_at(single(sign * kLeastNormal), 0) == sign * kLeastNormal);
        CHECK(family::number_at(single(sign * below), 0) == 0);
        CHECK(std::signbit(family::number_at(single(sign * below), 0)) == (sign < 0));
        CHECK(family::number_at(halves({0, sign * 0x1p-24}), 1) == sign * 0x1p-24);
    }
}

TEST_CASE("a rounding is half of the last place, of FP16 at least half of the least number",
          "[kernels][family]") {
    for (const double exact : {0.0, 1.0, -3.0, 40000.0, 0x1p-14, 0x1p-20}) {
        CAPTURE(exact);
        CHECK(workload::rounding(ElementType::F16, exact) ==
              std::max(0x1p-11 * std::fabs(exact), 0x1p-25));
        CHECK(workload::rounding(ElementType::F32, exact) ==
              std::max(0x1p-24 * std::fabs(exact), kLeastNormal));
    }
}

TEST_CASE("what is beyond a type is its largest number or infinity", "[kernels][family]") {
    const auto passes = [](const Value& got, double exact) {
        return family::compare(got,
                               [&](std::int64_t) {
                                   return family::Expected{exact, 0};
                               })
            .passed;
    };
    constexpr double kMost = 65504;
    for (const double sign : {1.0, -1.0}) {
        CHECK(passes(halves({sign * kMost}), sign * kMost));
        CHECK(passes(halves({sign * kMost}), sign * 1e9));
        CHECK_FALSE(passes(halves({sign * kMost}), -sign * 1e9));
        CHECK(passes(halves({sign * kInfinity}), sign * kInfinity));
        CHECK_FALSE(passes(halves({sign * kMost}), sign * kInfinity));
        CHECK_FALSE(passes(halves({sign * kInfinity}), sign * kMost));
        // arithmetic on an infinity may give NaN
        CHECK(passes(halves({kNan}), sign * kInfinity));
        CHECK(passes(halves({sign * kInfinity}), kNan));
        const double most = std::numeric_limits<float>::max();
        constexpr double kBeyond = 0x1.ffffffp127; // rounds up
        CHECK(passes(single(sign * kInfinity), sign * kBeyond));
        CHECK_FALSE(passes(single(sign * most), sign * kBeyond));
        CHECK(passes(single(sign * most), sign * most));
        const double inside = std::nextafter(kBeyond, 0);
        CHECK_FALSE(passes(single(sign * kInfinity), sign * inside));
    }
    std::int64_t asked = 0;
    const auto checked = family::compare(halves({1, 2, 3}), [&](std::int64_t element) {
        CHECK(element == asked++);
        return family::Expected{static_cast<double>(element) + 1, 0};
    });
    CHECK(checked.passed);
    CHECK(checked.elements == 3);
}

TEST_CASE("a matrix is asked for in words that name the types", "[kernels][family]") {
    using T = ElementType;
    const auto refuse = [](const TensorType& type, const std::vector<T>& types) {
        return refusal([&] {
            Request request;
            request.inputs = {type};
            return family::matrices_input(request, types);
        });
    };
    CHECK(refuse({T::F16, {1, 1}}, {T::F16}) == "taken");
    CHECK(refuse({T::F16, {3}}, {T::F16}) ==
          "0: got a tensor of 1 size, expected rows and columns");
    CHECK(refuse({T::F16, {3, 1, 1}}, {T::F16}) == "taken");
    CHECK(refuse({T::F16, {}}, {T::F16}) ==
          "0: got a tensor of 0 sizes, expected rows and columns");
    for (const auto& [rows, columns] : {std::pair<std::int64_t, std::int64_t>{0, 2}, {2, 0}}) {
        CHECK(refuse({T::F16, {rows, columns}}, {T::F16}) ==
              fmt::format("0: got {} x {} elements, expected at least one row and one column", rows,
                          columns));
    }
    CHECK(refuse({T::F16, {1, 1}}, {T::F32}) == "0: got elements of type f16, expected f32");
    CHECK(refuse({T::F16, {1, 1}}, {T::F32, T::I32}) ==
          "0: got elements of type f16, expected f32 or i32");
    CHECK(refuse({T::F16, {1, 1}}, {T::F32, T::I32, T::U32}) ==
          "0: got elements of type f16, expected f32, i32 or u32");
    TensorType sparse{T::F16, {1, 1}};
    sparse.sparse = std::make_shared<const workload::SparseF16>();
    CHECK(refuse(sparse, {T::F16}) == "0: got a sparse matrix, expected a dense one");
}

TEST_CASE("products refuse operands that do not go together, and count what they multiply",
          "[kernels][family]") {
    using T = ElementType;
    const TensorType a{T::F16, {3, 5}};
    const TensorType b{T::F16, {5, 7}};
    const auto refuse = [](const TensorType& left, const TensorType& right) {
        return refusal([&] {
            Request request;
            request.inputs = {left, right};
            return matmul::family().make(request);
        });
    };
    CHECK(refuse(a, b) == "taken");
    CHECK(refuse({T::F32, {3, 5}}, {T::F32, {5, 7}}) == "taken");
    CHECK(refuse({T::F143, {3, 5}}, {T::F143, {5, 7}}) == "taken");
    CHECK(refuse({T::F32, {3, 5}}, b) ==
          "1: got f32 3 x 5 and f16 5 x 7, expected operands of one type");
    CHECK(refuse({T::I32, {3, 5}}, {T::I32, {5, 7}}) ==
          "0: got i32 3 x 5, expected a matrix of f16, f32 or FP8");
    CHECK(refuse({T::F16, {15}}, b) == "0: got f16 15, expected a matrix of f16, f32 or FP8");
    CHECK(refuse(a, {T::F16, {5, 7, 1}}) ==
          "1: got f16 3 x 5 and f16 5 x 7 x 1, expected the same sizes before the last two");
    CHECK(refuse({T::F16, {2, 3, 5}}, {T::F16, {2, 5, 7}}) == "taken");
    CHECK(refuse({T::F16, {2, 3, 5}}, {T::F16, {3, 5, 7}}) ==
          "1: got f16 2 x 3 x 5 and f16 3 x 5 x 7, expected the same sizes before the last two");
    CHECK(refuse(a, {T::F16, {3, 7}}) == "1: got f16 3 x 5 and f16 3 x 7, expected as many rows "
                                         "as the left operand has columns");
    workload::SpmmWorkload spmm;
    spmm.m = 5;
    spmm.k = 7;
    spmm.n = 1;
    spmm.pattern.density = 0.2;
    const auto sparse = std::make_shared<const workload::SparseF16>(workload::make_sparse(spmm));
    CHECK(refuse(a, {T::F16, {5, 7}, sparse}) == "1: got a sparse matrix, expected a dense one");
    CHECK(refusal([&] {
              Request all_dense;
              all_dense.inputs = {a, b};
              return sparse::family().make(all_dense);
          }) == "0: got a dense matrix, expected a sparse one (see matmul)");
    CHECK(refuse({T::F16, {5, 7}, sparse}, {T::F16, {7, 4}}) ==
          "0: got a sparse matrix, expected a dense one (see spmm)");
    Request request;
    request.inputs = {{T::F16, {1, 2}}, {T::F16, {2, 2}}};
    const auto small = matmul::family().make(request);
    const auto matrix = [](std::int64_t rows, const std::vector<double>& elements) {
        auto value = halves(elements);
        value.type.shape = {rows, static_cast<std::int64_t>(elements.size()) / rows};
        value.whole_numbers = true;
        return value;
    };
    const auto left = matrix(1, {2, 3});
    const auto right = matrix(2, {1, 4, 2, -1}); // 8 and 5
    const auto good = small->check(std::array{&left, &right}, matrix(1, {8, 5}), 1);
    CHECK(good.passed);
    CHECK(good.elements == 2);
    CHECK(good.sentence == "0.0 % of what is allowed");
    const auto bad = small->check(std::array{&left, &right}, matrix(1, {8, 7}), 1);
    CHECK_FALSE(bad.passed);
    CHECK(bad.failed_elements == 1);
    CHECK(bad.max_error == 2);
    CHECK(bad.sentence == "WRONG: 1 of 2 elements; worst at row 0 column 1: got 7, expected 5");
    request.inputs = {a, b};
    const auto dense = matmul::family().make(request);
    CHECK(dense->flops() == 2 * 3 * 5 * 7);
    CHECK(dense->output().shape == std::vector<std::int64_t>{3, 7});
    request.inputs = {{T::F16, {5, 7}, sparse}, {T::F16, {7, 4}}};
    CHECK(sparse::family().make(request)->flops() == 2.0 * 7 * 4); // 7 of 35 elements are stored
}

TEST_CASE("an option that is not told is as the family says", "[kernels][family]") {
    const family::Family made{.name = "made",
                              .says = "",
                              .inputs = {},
                              .options = {{.key = "one", .words = {}, .number = 3},
                                          {.key = "two", .words = {"a", "b"}, .word = "b"},
                                          {.key = "three", .words = {}, .number = 5}},
                              .make = nullptr};
    Request request;
    CHECK(family::number_of(made, request, "one") == 3);
    CHECK(family::number_of(made, request, "three") == 5);
    CHECK(family::word_of(made, request, "two") == "b");
    request.options = {{"one", 4.0}, {"two", std::string("a")}};
    CHECK(family::number_of(made, request, "one") == 4);
    CHECK(family::word_of(made, request, "two") == "a");
    CHECK(family::shape_text({ElementType::F16, {}}) == "one element");
    CHECK(family::shape_text({ElementType::F16, {4, 2, 1}}) == "4 x 2 x 1");
}
