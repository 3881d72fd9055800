// SPDX-License-Identifier: MIT
// Families take the last input that they can, and refuse the first that they cannot.
#include "kernels/catalog/catalog.h"
#include "kernels/family/family.h"
#include "kernels/family/gradient.h"
#include "kernels/workload/pattern.h"

#include <catch2/catch.hpp>

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace tessera;
using family::Request;
using family::TensorType;

constexpr ElementType kHalf = ElementType::F16;
constexpr ElementType kSingle = ElementType::F32;
constexpr ElementType kWhole = ElementType::U32;

TensorType tensor(std::vector<std::int64_t> shape, ElementType type = kHalf) {
    return {type, std::move(shape)};
}

/// Of 8 x 8 with blocks of `block`, of which the first is there.
TensorType sparse(std::int64_t block = 1, ElementType type = kHalf) {
    auto pattern = std::make_shared<workload::SparsePattern>();
    pattern->rows = 8;
    pattern->columns = 8;
    pattern->block = block;
    pattern->row_start.assign(static_cast<std::size_t>(8 / block) + 1, 1);
    pattern->row_start.front() = 0;
    pattern->block_column = {0};
    TensorType made = tensor({8, 8}, type);
    made.sparse = pattern;
    return made;
}

const family::Family& family_of(const std::string& name) {
    const family::Family* found = catalog::find(name, catalog::families());
    REQUIRE(found != nullptr);
    return *found;
}

/// "input: message", or "option: message"; "" if the family takes it.
std::string told(const std::string& name, std::vector<TensorType> inputs,
                 family::Options options = {}) {
    try {
        static_cast<void>(family_of(name).make({std::move(inputs), std::move(options)}));
    } catch (const family::Refused& refused) {
        return (refused.option.empty() ? std::to_string(refused.input) : refused.option) + ": " +
               refused.what();
    }
    return "";
}

} // namespace

TEST_CASE("a product says which of its operands does not go with it", "[kernels][family]") {
    const TensorType a = tensor({8, 6});
    const TensorType b = tensor({6, 4});
    const TensorType c = tensor({8, 4});
    const family::Options adds{{"accumulate", true}};
    CHECK(told("matmul", {a, b}).empty());
    CHECK(told("matmul", {a, tensor({5, 4})}) ==
          "1: got f16 8 x 6 and f16 5 x 4, expected as many rows as the left operand has columns");
    CHECK(told("matmul", {tensor({6, 8}), b}, {{"transpose_a", true}}).empty());
    CHECK(told("matmul", {a, tensor({4, 6})}, {{"transpose_b", true}}).empty());
    CHECK(told("matmul", {a, tensor({6, 4}, kSingle)}) ==
          "1: got f16 8 x 6 and f32 6 x 4, expected operands of one type");
    CHECK(told("matmul", {tensor({2, 8, 6}), tensor({2, 6, 4})}).empty());
    CHECK(told("matmul", {tensor({2, 8, 6}), tensor({3, 6, 4})}) ==
          "1: got f16 2 x 8 x 6 and f16 3 x 6 x 4, expected the same sizes before the last two");
    CHECK(told("matmul", {tensor({6}), b}) == "0: got f16 6, expected a matrix of f16, f32 or FP8");
    CHECK(told("matmul", {a, tensor({6, 4}, kWhole)}) ==
          "1: got u32 6 x 4, expected a matrix of f16, f32 or FP8");
    CHECK(told("matmul", {a, sparse()}) == "1: got a sparse matrix, expected a dense one");
    CHECK(told("matmul", {a, b}, adds) ==
          "accumulate: got true, expected a further input to add the product to");
    CHECK(told("matmul", {a, b, c}, adds).empty());
    CHECK(told("matmul", {a, b, tensor({4})}).empty());
    CHECK(told("matmul", {a, b, tensor({4}), c}, adds).empty());
    CHECK(told("matmul", {a, b, tensor({4}), c}) ==
          "3: got one more tensor than is read, expected it with accumulate");
    CHECK(told("matmul", {a, b, tensor({5})}) == "2: got f16 5, expected f16 4");
    CHECK(told("matmul", {a, b, tensor({4}, kSingle)}) == "2: got f32 4, expected f16 4");
    CHECK(told("matmul", {a, b, tensor({4, 8})}, adds) == "2: got f16 4 x 8, expected f16 8 x 4");
    const TensorType dense = tensor({8, 4});
    CHECK(told("spmm", {sparse(), dense}).empty());
    CHECK(told("spmm", {sparse(), dense, dense}, adds).empty());
    CHECK(told("spmm", {sparse(), dense, dense}) ==
          "2: got one more tensor than is read, expected it with accumulate");
}

TEST_CASE("tables have rows of elements that messages carry", "[kernels][family]") {
    const TensorType ids = tensor({5}, kWhole);
    CHECK(told("gather", {tensor({8, 4}), ids}).empty());
    CHECK(told("gather", {tensor({2, 8, 4}), tensor({2, 5}, kWhole)}).empty());
    const std::string expected = ", expected dense matrices of elements of 2 or 4 bytes";
    CHECK(told("gather", {tensor({8}), ids}) == "0: table: got 8 of f16" + expected);
    CHECK(told("gather", {tensor({8, 4}, ElementType::F143), ids}) ==
          "0: table: got 8 x 4 of f143" + expected);
    CHECK(told("gather", {tensor({8, 0}), ids}) == "0: table: got 8 x 0 of f16" + expected);
    CHECK(told("gather", {sparse(), ids}) == "0: table: got 8 x 8 of f16" + expected);
    CHECK(told("gather", {tensor({2, 8, 4}), tensor({3, 5}, kWhole)}) ==
          "1: ids: got 3 x 5, expected row numbers for each of 2 tables");
}

TEST_CASE("casts are between types that differ, by f32 where one is of whole numbers",
          "[kernels][family]") {
    const auto cast = [](ElementType from, const std::string& to) {
        return told("cast", {tensor({8}, from)}, {{"to", to}});
    };
    CHECK(cast(kHalf, "f32").empty());
    CHECK(cast(kSingle, "f16").empty());
    CHECK(cast(kSingle, "u32").empty());
    CHECK(cast(kWhole, "f32").empty());
    CHECK(cast(kWhole, "i32").empty());
    CHECK(cast(kHalf, "f16") == "to: got f16, expected another type than that of x");
    CHECK(cast(kWhole, "u32") == "to: got u32, expected another type than that of x");
    CHECK(
        cast(kWhole, "f16") ==
        "to: got f16, expected another type than that of x, by f32 between f16 and whole numbers");
    CHECK(
        cast(kHalf, "i32") ==
        "to: got i32, expected another type than that of x, by f32 between f16 and whole numbers");
}

TEST_CASE("what goes element by element has one shape, one type and one pattern",
          "[kernels][family]") {
    const std::string patterns = "got two patterns, expected that of the same sparse matrix";
    const TensorType w = sparse();
    const TensorType other = sparse(8);
    CHECK(told("sgd", {w, w}).empty());
    CHECK(told("sgd", {w, other}) == "1: " + patterns);
    CHECK(told("sgd", {tensor({8}), tensor({8}, kSingle)}).empty());
    CHECK(told("sgd", {tensor({8}, kSingle), tensor({8})}) ==
          "1: got f16 for weights of f32, expected f32; cast it before");
    CHECK(told("add", {w, w}).empty());
    CHECK(told("add", {w, other}) == "1: " + patterns);
    CHECK(told("add", {tensor({8}), tensor({8}, kSingle)}) ==
          "1: got f16 and f32, expected equal types");
    const auto adam = [](const TensorType& weights, const TensorType& gradient,
                         const TensorType& first, const TensorType& second,
                         const TensorType& corrections) {
        return told("adam", {weights, gradient, first, second, corrections});
    };
    const TensorType half = tensor({8});
    const TensorType single = tensor({8}, kSingle);
    const TensorType corrections = tensor({2}, kSingle);
    CHECK(adam(half, single, single, single, corrections).empty());
    CHECK(adam(half, half, single, single, corrections).empty());
    for (const int wrong : {1, 2, 3}) {
        std::vector<TensorType> inputs{half, single, single, single, corrections};
        inputs[static_cast<std::size_t>(wrong)].shape = {4};
        CHECK(told("adam", inputs) ==
              std::to_string(wrong) + ": got 8 and 4, expected equal shapes");
        std::vector<TensorType> matrices{sparse(), sparse(1, kSingle), sparse(1, kSingle),
                                         sparse(1, kSingle), corrections};
        for (TensorType& one : matrices) {
            one.sparse = one.sparse == nullptr ? nullptr : w.sparse;
        }
        CHECK(told("adam", matrices).empty());
        matrices[static_cast<std::size_t>(wrong)].sparse = other.sparse;
        CHECK(told("adam", matrices) == std::to_string(wrong) + ": " + patterns);
    }
    CHECK_FALSE(adam(half, single, half, single, corrections).empty());
    CHECK_FALSE(adam(half, single, single, half, corrections).empty());
    CHECK_FALSE(adam(half, single, single, single, tensor({2})).empty());
    CHECK_FALSE(adam(half, single, single, single, tensor({3}, kSingle)).empty());
}

TEST_CASE("rows whose largest elements are wanted are dense, and of a bounded size",
          "[kernels][family]") {
    const family::Options one{{"k", 1.0}};
    CHECK(told("top_k", {tensor({8})}, one).empty());
    CHECK(told("top_k", {tensor({4, 8})}, one).empty());
    CHECK(told("top_k", {tensor({})}, one).starts_with("0: x: got "));
    CHECK(told("top_k", {sparse()}, one) == "0: x: got a sparse matrix, expected a dense tensor");
}

namespace {

/// Returns what is told of the gradient of a step whose inputs and outputs have these types. Wanted
/// are gradients of `wanted`, and those of `has` are there.
std::string gradient_told(const std::string& name, const std::vector<TensorType>& inputs,
                          const std::vector<TensorType>& outputs,
                          const std::vector<std::size_t>& wanted,
                          const std::vector<std::size_t>& has,
                          const std::vector<std::string>& output_names) {
    workload::PipelineStep step;
    step.family = name;
    step.outputs = output_names;
    family::GradientRequest request{step, {}, {}, {}, {}};
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        step.inputs.push_back("in" + std::to_string(i));
        request.inputs.push_back(inputs[i]);
        const bool is_wanted = std::ranges::find(wanted, i) != wanted.end();
        request.of_inputs.push_back(is_wanted ? "d" + step.inputs.back() : "");
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        request.outputs.push_back(outputs[i]);
        const bool is_there = std::ranges::find(has, i) != has.end();
        request.of_outputs.push_back(is_there ? "dout" + std::to_string(i) : "");
    }
    try {
        static_cast<void>(family_of(name).gradient(request));
    } catch (const family::Refused& refused) {
        return std::to_string(refused.input) + ": " + refused.what();
    }
    return "";
}

} // namespace

TEST_CASE("gradients that there are not are refused", "[kernels][family]") {
    const TensorType x = tensor({4, 8});
    const TensorType rows = tensor({4}, kSingle);
    const TensorType scale = tensor({8});
    const auto norm = [&](std::vector<std::size_t> wanted, std::vector<std::size_t> has,
                          const std::vector<std::string>& names) {
        return gradient_told("layer_norm", {x, scale, scale}, {x, rows, rows}, wanted, has, names);
    };
    CHECK(norm({0}, {0}, {"y", "mean", "deviation"}).empty());
    for (const std::size_t other : {1U, 2U}) {
        CHECK(norm({0}, {0, other}, {"y", "mean", "deviation"}) ==
              "-1: got a gradient of the output '" +
                  std::string(other == 1 ? "mean" : "deviation") +
                  "', expected only one of y: others have no gradient");
        std::vector<std::string> names{"y", "mean", "deviation"};
        names[other] = "";
        for (const std::size_t wanted : {0U, 1U}) {
            CHECK(norm({wanted}, {0}, names) ==
                  "-1: got no names of the outputs mean and deviation, expected both, which the "
                  "gradient reads");
        }
        CHECK(norm({2}, {0}, names).empty()); // that of the shift reads neither
    }
    const TensorType ids = tensor({5}, kWhole);
    CHECK(gradient_told("gather", {x, ids}, {tensor({5, 8})}, {0}, {0}, {"y"}).empty());
    CHECK(gradient_told("gather", {x, ids}, {tensor({5, 8})}, {1}, {0}, {"y"}) ==
          "1: the gradient of row numbers is wanted, which have none");
    CHECK(gradient_told("gather", {tensor({2, 4, 8}), tensor({2, 5}, kWhole)}, {tensor({2, 5, 8})},
                        {0}, {0},
                        {"y"}) == "0: the gradient of several tables is wanted, which has none");
    CHECK(gradient_told("bias", {x, tensor({8})}, {x}, {1}, {0}, {"y"}).empty());
    CHECK(gradient_told("bias", {x, tensor({4, 8})}, {x}, {0}, {0}, {"y"}).empty());
    CHECK(gradient_told("bias", {x, tensor({4, 8})}, {x}, {1}, {0}, {"y"}) ==
          "1: got 4 x 8, expected one size of a bias whose gradient is wanted");
}
