// SPDX-License-Identifier: MIT
// The steps that become of each operator: families, options, names, and that there is none too many.
#include "tests/unit/sim/importer/graphs.h"

#include <catch2/catch.hpp>

using namespace tessera;
using namespace tessera::test;
using importer::Attribute;
using importer::ElementKind;
using workload::ValueType;

namespace {

const ElementKind kShort{ValueType::I16, "INT16"};
const ElementKind kWhole{ValueType::I32, "INT32"};

/// Tensors that all graphs here may read.
Graph graph_of(const std::vector<importer::Node>& nodes, std::map<std::string, Elements> known = {},
               const Lines& outputs = {"y"}) {
    return {.inputs = {port("x", {2, 3}), port("x2", {2, 3}), port("row", {3}),
                       port("column", {2, 1}), port("one", {1}), port("t", {2, 3, 4}),
                       port("t2", {2, 4, 5}), port("thin", {1, 3, 1, 2}),
                       port("deep", {2, 3, 4, 5}), port("h", {2, 3}, kHalf), port("h1", {1}, kHalf),
                       port("h2", {3, 2}, kHalf), port("u8", {4}, kByte), port("i16", {4}, kShort),
                       port("i", {4}, kWhole), port("l", {4}, kLong)},
            .nodes = nodes,
            .known = std::move(known),
            .outputs = outputs};
}
Lines steps(const std::vector<importer::Node>& nodes, std::map<std::string, Elements> known = {},
            const Lines& outputs = {"y"}) {
    return steps_of(made_of(graph_of(nodes, std::move(known), outputs)));
}
/// Of one node that makes y.
Lines steps(const std::string& op, const Lines& inputs,
            const std::map<std::string, Attribute>& attributes = {},
            std::map<std::string, Elements> known = {}, std::int64_t opset = 17) {
    Graph graph = graph_of({node(op, inputs, {"y"}, attributes)}, std::move(known));
    graph.opset = opset;
    return steps_of(made_of(graph));
}

} // namespace

TEST_CASE("operators of each element are steps of their families") {
    CHECK(steps("Relu", {"x"}) == Lines{"relu(x) -> y"});
    CHECK(steps("Neg", {"x"}) == Lines{"scale(x; factor=-1.0) -> y"});
    CHECK(steps("LeakyRelu", {"x"}, {{"alpha", 0.5F}}) ==
          Lines{"relu(x) -> y_relu", "scale(x; factor=-1.0) -> y_scale",
                "relu(y_scale) -> y_relu_2", "scale(y_relu_2; factor=-0.5) -> y_scale_2",
                "add(y_relu, y_scale_2) -> y"});
    CHECK(steps("LeakyRelu", {"x"}, {{"alpha", -1.0F}}).size() == 4); // nothing to scale
    CHECK(steps("Abs", {"x"}) ==
          Lines{"scale(x; factor=-1.0) -> y_scale", "maximum(x, y_scale) -> y"});
    CHECK(steps("Clip", {"x"}, {{"min", -1.0F}, {"max", 2.0F}}, {}, 10) ==
          Lines{"maximum(x, number) -> y_maximum", "minimum(y_maximum, number_2) -> y"});
    CHECK(steps("Clip", {"x"}, {{"max", 2.0F}}, {}, 10) == Lines{"minimum(x, number) -> y"});
    // largest FLOAT16: 65504
    CHECK(steps("Clip", {"h"}, {{"max", 65504.0F}}, {}, 10) == Lines{"minimum(h, number) -> y"});
    CHECK(steps("Clip", {"h"}, {{"max", 65536.0F}, {"min", 0.0F}}, {}, 10) ==
          Lines{"maximum(h, number) -> y"});
    CHECK(steps("Sum", {"x", "x2", "x"}) == Lines{"add(x, x2) -> y_add", "add(y_add, x) -> y"});
    CHECK(steps("Mean", {"x", "x2"}) ==
          Lines{"add(x, x2) -> y_add", "scale(y_add; factor=0.5) -> y"});
    CHECK(steps("Mean", {"x"}) == Lines{"reshape(x; size_1=2, size_2=3) -> y"});
}

TEST_CASE("powers are as few products as there can be") {
    const auto power = [](double exponent) {
        return steps("Pow", {"x", "c"}, {}, {{"c", numbers({exponent}, {})}});
    };
    CHECK(power(1) == Lines{"reshape(x; size_1=2, size_2=3) -> y"});
    CHECK(power(2) == Lines{"multiply(x, x) -> y"});
    CHECK(power(3) == Lines{"multiply(x, x) -> y_multiply", "multiply(x, y_multiply) -> y"});
    CHECK(power(4) ==
          Lines{"multiply(x, x) -> y_multiply", "multiply(y_multiply, y_multiply) -> y"});
    CHECK(power(-2) == Lines{"multiply(x, x) -> y_multiply", "divide(number, y_multiply) -> y"});
    CHECK(power(0.5) == Lines{"sqrt(x) -> y"});
    CHECK(power(64).size() == 6); // 2^6
    CHECK(power(-64).size() == 7);
    const Lines by_logarithm{"log(x) -> y_log", "scale(y_log; factor=65.0) -> y_scale",
                             "exp(y_scale) -> y"};
    CHECK(power(65) == by_logarithm);
}

TEST_CASE("a row or a number is added to all rows as a bias, and others are spread first") {
    const std::map<std::string, Elements> known{{"c", numbers({7}, {})}};
    CHECK(steps("Add", {"x", "x2"}) == Lines{"add(x, x2) -> y"});
    CHECK(steps("Add", {"x", "row"}) == Lines{"bias(x, row) -> y"});
    CHECK(steps("Add", {"row", "x"}) == Lines{"bias(x, row) -> y"});
    CHECK(steps("Add", {"x", "c"}, {}, known) == Lines{"bias(x, c) -> y"});
    CHECK(steps("Add", {"t", "t3"}, {}, {{"t3", numbers({1, 2, 3, 4}, {1, 1, 4})}}) ==
          Lines{"reshape(t; size_1=6, size_2=4) -> y_reshape", "bias(y_reshape, t3) -> y_bias",
                "reshape(y_bias; size_1=2, size_2=3, size_3=4) -> y"});
    CHECK(steps("Add", {"x", "column"}) == Lines{"reshape(column; size_1=1, size_2=2) -> y_reshape",
                                                 "gather(y_reshape, y_rows) -> y_gather",
                                                 "transpose(y_gather) -> y_transpose",
                                                 "add(x, y_transpose) -> y"});
    CHECK(steps("Sub", {"x", "x2"}) == Lines{"subtract(x, x2) -> y"});
    CHECK(steps("Sub", {"x", "row"}) ==
          Lines{"scale(row; factor=-1.0) -> y_scale", "bias(x, y_scale) -> y"});
    CHECK(steps("Sub", {"row", "x"}).back() == "subtract(y_gather, x) -> y");
}

TEST_CASE("products with one number are scales, others are spread first") {
    const std::map<std::string, Elements> known{{"c", numbers({4}, {})},
                                                {"zero", numbers({0}, {})}};
    CHECK(steps("Mul", {"x", "x2"}) == Lines{"multiply(x, x2) -> y"});
    CHECK(steps("Mul", {"x", "c"}, {}, known) == Lines{"scale(x; factor=4.0) -> y"});
    CHECK(steps("Mul", {"c", "x"}, {}, known) == Lines{"scale(x; factor=4.0) -> y"});
    CHECK(steps("Mul", {"x", "one"}) == Lines{"scale_by(x, one) -> y"});
    CHECK(steps("Mul", {"one", "x"}) == Lines{"scale_by(x, one) -> y"});
    CHECK(steps("Mul", {"h", "h1"}).back() ==
          "multiply(h, y_transpose) -> y"); // of FLOAT16 there is none
    CHECK(steps("Mul", {"x", "row"}) == Lines{"reshape(row; size_1=1, size_2=3) -> y_reshape",
                                              "gather(y_reshape, y_rows) -> y_gather",
                                              "multiply(x, y_gather) -> y"});
    CHECK(steps("Div", {"x", "x2"}) == Lines{"divide(x, x2) -> y"});
    CHECK(steps("Div", {"x", "c"}, {}, known) == Lines{"scale(x; factor=0.25) -> y"});
    CHECK(steps("Div", {"x", "zero"}, {}, known) ==
          Lines{"divide(x, zero) -> y"}); // it has no inverse
    CHECK(steps("Div", {"x", "all"}, {}, {{"all", numbers({1, 2, 4, 8, 16, 32}, {2, 3})}}) ==
          Lines{"multiply(x, all_inverse) -> y"});
}

TEST_CASE("axes are permuted by as few views as move them") {
    const auto turned = [](const std::string& x, const Sizes& perm) {
        return steps("Transpose", {x}, {{"perm", perm}});
    };
    CHECK(turned("x", {1, 0}) == Lines{"transpose(x) -> y"});
    CHECK(steps("Transpose", {"x"}) == Lines{"transpose(x) -> y"});
    CHECK(turned("x", {0, 1}) == Lines{"reshape(x; size_1=2, size_2=3) -> y"});
    CHECK(turned("t", {0, 2, 1}) == Lines{"transpose(t) -> y"});
    CHECK(turned("t", {1, 0, 2}) == Lines{"reshape(t; size_1=2, size_2=12) -> y_reshape",
                                          "heads(y_reshape; batch=1, heads=3) -> y_heads",
                                          "reshape(y_heads; size_1=3, size_2=2, size_3=4) -> y"});
    CHECK(turned("t", {2, 0, 1}) ==
          Lines{"reshape(t; size_1=6, size_2=4) -> y_reshape",
                "transpose(y_reshape) -> y_transpose",
                "reshape(y_transpose; size_1=4, size_2=2, size_3=3) -> y"});
    CHECK(turned("t", {1, 2, 0}) ==
          Lines{"reshape(t; size_1=2, size_2=12) -> y_reshape",
                "transpose(y_reshape) -> y_transpose",
                "reshape(y_transpose; size_1=3, size_2=4, size_3=2) -> y"});
    CHECK(turned("t", {2, 1, 0}) ==
          Lines{"reshape(t; size_1=6, size_2=4) -> y_reshape",
                "transpose(y_reshape) -> y_transpose",
                "reshape(y_transpose; size_1=4, size_2=2, size_3=3) -> y_reshape_2",
                "transpose(y_reshape_2) -> y"});
    // sizes of 1 go nowhere
    CHECK(turned("thin", {0, 3, 2, 1}) ==
          Lines{"reshape(thin; size_1=3, size_2=2) -> y_reshape",
                "transpose(y_reshape) -> y_transpose",
                "reshape(y_transpose; size_1=1, size_2=2, size_3=1, size_4=3) -> y"});
    CHECK(turned("thin", {2, 1, 0, 3}) ==
          Lines{"reshape(thin; size_1=1, size_2=3, size_3=1, size_4=2) -> y"});
    // axes that stay together move together
    CHECK(turned("deep", {0, 2, 3, 1}) ==
          Lines{"reshape(deep; size_1=2, size_2=3, size_3=20) -> y_reshape",
                "transpose(y_reshape) -> y_transpose",
                "reshape(y_transpose; size_1=2, size_2=4, size_3=5, size_4=3) -> y"});
    CHECK(turned("deep", {0, 2, 1, 3}) == Lines{"reshape(deep; size_1=6, size_2=20) -> y_reshape",
                                                "heads(y_reshape; batch=2, heads=4) -> y"});
}

TEST_CASE("a view of a view is one of what that is of") {
    const std::map<std::string, Elements> known{{"six", whole({6})},
                                                {"three", whole({3, 2})},
                                                {"back", whole({2, 3})},
                                                {"axis", whole({0})},
                                                {"open", whole({-1, 1})}};
    CHECK(steps({node("Reshape", {"x", "six"}, {"a"}), node("Reshape", {"a", "three"}, {"y"})},
                known) == Lines{"reshape(x; size_1=3, size_2=2) -> y"});
    CHECK(steps({node("Reshape", {"x", "six"}, {"a"}), node("Reshape", {"a", "back"}, {"b"}),
                 node("Relu", {"b"}, {"y"})},
                known) == Lines{"relu(x) -> y"});
    CHECK(steps({node("Flatten", {"t"}, {"a"}, {{"axis", std::int64_t{2}}}),
                 node("Relu", {"a"}, {"y"})}) ==
          Lines{"reshape(t; size_1=6, size_2=4) -> a", "relu(a) -> y"});
    CHECK(steps({node("Unsqueeze", {"x", "axis"}, {"y"})}, known) ==
          Lines{"reshape(x; size_1=1, size_2=2, size_3=3) -> y"});
    CHECK(steps({node("Squeeze", {"thin", "axis"}, {"y"})}, known) ==
          Lines{"reshape(thin; size_1=3, size_2=1, size_3=2) -> y"});
    CHECK(steps({node("Reshape", {"x", "open"}, {"y"})}, known) ==
          Lines{"reshape(x; size_1=6, size_2=1) -> y"});
    // one element without sizes is a tensor of one
    CHECK(steps("Squeeze", {"one"}) == Lines{"reshape(one; size_1=1) -> y"});
}

TEST_CASE("products are of matrices, or of as many as both have") {
    const Elements w = numbers({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {3, 4});
    const Elements v = numbers({1, 2, 3, 4, 5, 6, 7, 8}, {4, 2});
    const Elements b = numbers({1, 2, 3, 4}, {4});
    const std::map<std::string, Elements> known{{"w", w}, {"b", b}, {"v", v}};
    CHECK(steps("MatMul", {"x", "w"}, {}, known) == Lines{"matmul(x, w) -> y"});
    CHECK(steps("MatMul", {"row", "w"}, {}, known) ==
          Lines{"reshape(row; size_1=1, size_2=3) -> y_reshape", "matmul(y_reshape, w) -> y_matmul",
                "reshape(y_matmul; size_1=4) -> y"});
    CHECK(steps("MatMul", {"x", "row"}) == Lines{"reshape(row; size_1=3, size_2=1) -> y_reshape",
                                                 "matmul(x, y_reshape) -> y_matmul",
                                                 "reshape(y_matmul; size_1=2) -> y"});
    CHECK(steps("MatMul", {"t", "v"}, {}, known) ==
          Lines{"reshape(t; size_1=6, size_2=4) -> y_reshape", "matmul(y_reshape, v) -> y_matmul",
                "reshape(y_matmul; size_1=2, size_2=3, size_3=2) -> y"});
    CHECK(steps("MatMul", {"t", "t2"}) == Lines{"matmul(t, t2) -> y"});
    CHECK(steps("MatMul", {"h", "h2"}) == Lines{"matmul(h, h2; partials=\"f32\") -> y"});
    CHECK(steps("Gemm", {"x", "w", "b"}, {}, known) == Lines{"matmul(x, w, b) -> y"});
    CHECK(steps("Gemm", {"x", "x2"}, {{"transA", std::int64_t{1}}}) ==
          Lines{"matmul(x, x2; transpose_a=true) -> y"});
    CHECK(steps("Gemm", {"x", "x2"}, {{"transB", std::int64_t{1}}}) ==
          Lines{"matmul(x, x2; transpose_b=true) -> y"});
    CHECK(steps("Gemm", {"x", "w", "b"}, {{"alpha", 0.5F}}, known) ==
          Lines{"matmul(x, w) -> y_matmul", "scale(y_matmul; factor=0.5) -> y_scale",
                "bias(y_scale, b) -> y"});
    CHECK(steps("Gemm", {"x", "w", "b"}, {{"beta", 0.0F}}, known) == Lines{"matmul(x, w) -> y"});
    CHECK(steps("Gemm", {"x", "w", "b"}, {{"beta", 2.0F}}, known) ==
          Lines{"scale(b; factor=2.0) -> y_scale", "matmul(x, w, y_scale) -> y"});
}

TEST_CASE("a bias joins the product that it is added to, if nothing else reads that") {
    const std::map<std::string, Elements> known{{"w", numbers({1, 2, 3, 4, 5, 6}, {3, 2})},
                                                {"b", numbers({1, 2}, {2})}};
    const auto product = node("MatMul", {"x", "w"}, {"p"});
    const auto added = node("Add", {"p", "b"}, {"y"});
    CHECK(steps({product, added}, known) == Lines{"matmul(x, w, b) -> y"});
    CHECK(
        steps({product, added}, known, {"y", "p"}) == // no step reads an output
        Lines{"matmul(x, w) -> p_2", "bias(p_2, b) -> y", "reshape(p_2; size_1=2, size_2=2) -> p"});
    CHECK(steps({product, added, node("Relu", {"p"}, {"r"})}, known, {"y", "r"}) ==
          Lines{"matmul(x, w) -> p", "bias(p, b) -> y", "relu(p) -> r"});
    CHECK(steps({product, added, node("Add", {"y", "b"}, {"z"})}, known, {"z"}) ==
          Lines{"matmul(x, w, b) -> y", "bias(y, b) -> z"});
}

TEST_CASE("rows are reduced along axes that are brought to the end") {
    const std::map<std::string, Attribute> last{{"axes", Sizes{-1}}, {"keepdims", std::int64_t{0}}};
    CHECK(steps("ReduceMax", {"x"}, last, {}, 13) == Lines{"reduce(x; op=\"max\") -> y"});
    CHECK(steps("ReduceMin", {"x"}, last, {}, 13) ==
          Lines{"scale(x; factor=-1.0) -> y_scale", "reduce(y_scale; op=\"max\") -> y_reduce",
                "scale(y_reduce; factor=-1.0) -> y"});
    CHECK(steps("ReduceMean", {"x"}, {{"axes", Sizes{1}}}, {}, 13) ==
          Lines{"reduce(x; op=\"sum\") -> y_reduce",
                "scale(y_reduce; factor=0.3333333333333333) -> y_scale",
                "reshape(y_scale; size_1=2, size_2=1) -> y"});
    CHECK(steps("ReduceMax", {"x"}, {{"axes", Sizes{0}}, {"keepdims", std::int64_t{0}}}, {}, 13) ==
          Lines{"transpose(x) -> y_transpose", "reduce(y_transpose; op=\"max\") -> y"});
    CHECK(steps("ReduceMax", {"h"}, last, {}, 13) == Lines{"reduce(h; op=\"max\") -> y"});
    CHECK(steps("ReduceMean", {"h"}, last, {}, 13) == // of FP32: half types overflow
          Lines{"cast(h; to=\"f32\") -> y_cast", "reduce(y_cast; op=\"sum\") -> y_reduce",
                "scale(y_reduce; factor=0.3333333333333333) -> y_scale",
                "cast(y_scale; to=\"f16\") -> y"});
    CHECK(steps("Softmax", {"x"}) == Lines{"softmax(x) -> y"});
    CHECK(steps("Softmax", {"x"}, {{"axis", std::int64_t{0}}}) ==
          Lines{"transpose(x) -> y_transpose", "softmax(y_transpose) -> y_softmax",
                "transpose(y_softmax) -> y"});
    CHECK(steps("LayerNormalization", {"x", "s"}, {{"epsilon", 0.5F}},
                {{"s", numbers({1, 2, 3}, {3})}}) ==
          Lines{"layer_norm(x, s, zeros; epsilon=0.5) -> y, null, null"});
    CHECK(steps("GlobalMaxPool", {"t"}) ==
          Lines{"reshape(t; size_1=6, size_2=4) -> y_reshape",
                "reduce(y_reshape; op=\"max\") -> y_reduce",
                "reshape(y_reduce; size_1=2, size_2=3, size_3=1) -> y"});
}

TEST_CASE("the largest elements and their numbers are outputs of one step") {
    const std::map<std::string, Elements> known{{"k", whole({2})}};
    const auto largest = node("TopK", {"x", "k"}, {"v", "n"});
    CHECK(steps({largest}, known, {"v", "n"}) == Lines{"top_k(x; k=2) -> v, n"});
    CHECK(steps({largest}, known, {"v"}) == Lines{"top_k(x; k=2) -> v, null"});
    CHECK(steps({largest}, known, {"n"}) == Lines{"top_k(x; k=2) -> null, n"});
    CHECK(steps({node("TopK", {"x", "k"}, {"v", "n"}, {{"largest", std::int64_t{0}}})}, known,
                {"v", "n"}) == Lines{"scale(x; factor=-1.0) -> v_scale",
                                     "top_k(v_scale; k=2) -> v_top_k, n",
                                     "scale(v_top_k; factor=-1.0) -> v"});
    CHECK(steps("ArgMax", {"x"}, {{"axis", std::int64_t{1}}, {"keepdims", std::int64_t{0}}}) ==
          Lines{"top_k(x; k=1) -> null, y_top_k_2", "reshape(y_top_k_2; size_1=2) -> y"});
}

TEST_CASE("elements that are selected are rows of a gather") {
    const std::map<std::string, Elements> known{{"ids", whole({1, 0})},
                                                {"all", whole({0, 1})},
                                                {"last", whole({-1})},
                                                {"zero", whole({0})},
                                                {"two", whole({2})}};
    CHECK(steps("Gather", {"x", "ids"}, {}, known) == Lines{"gather(x, y_rows) -> y"});
    CHECK(steps("Gather", {"x", "all"}, {}, known) == Lines{"reshape(x; size_1=2, size_2=3) -> y"});
    CHECK(steps("Gather", {"x", "ids"}, {{"axis", std::int64_t{1}}}, known) ==
          Lines{"transpose(x) -> y_transpose", "gather(y_transpose, y_rows) -> y_gather",
                "transpose(y_gather) -> y"});
    const importer::Made made =
        made_of(graph_of({node("Slice", {"x", "last", "two"}, {"y"})}, known));
    CHECK(steps_of(made) == Lines{"gather(x, y_rows) -> y"});
    REQUIRE(made.known.size() == 1);
    CHECK(importer::whole_numbers(*made.known[0].elements) == Sizes{1});
    CHECK(steps({node("Split", {"x"}, {"y", "z"})}, known, {"y", "z"}) ==
          Lines{"gather(x, y_rows) -> y", "gather(x, y_rows_2) -> z"});
    CHECK(steps({node("Concat", {"x", "x2"}, {"y"}, {{"axis", std::int64_t{0}}})}) ==
          Lines{"concat(x, x2) -> y"});
    CHECK(steps({node("Concat", {"x", "x2"}, {"y"}, {{"axis", std::int64_t{1}}})}) ==
          Lines{"transpose(x) -> y_transpose", "transpose(x2) -> y_transpose_2",
                "concat(y_transpose, y_transpose_2) -> y_concat", "transpose(y_concat) -> y"});
}

TEST_CASE("types change by a cast, and by their bits where those are fewer") {
    const auto cast = [](const std::string& x, std::int64_t to) {
        return steps("Cast", {x}, {{"to", to}});
    };
    constexpr std::int64_t kToFloat = 1;
    constexpr std::int64_t kToByte = 2;
    constexpr std::int64_t kToSignedByte = 3;
    constexpr std::int64_t kToWhole = 6;
    constexpr std::int64_t kToLong = 7;
    constexpr std::int64_t kToHalf = 10;
    constexpr std::int64_t kToUnsigned = 12;
    const auto unchanged = [](const std::string& x) {
        return Lines{"reshape(" + x + "; size_1=4) -> y"};
    };
    CHECK(cast("x", kToHalf) == Lines{"cast(x; to=\"f16\") -> y"});
    CHECK(cast("x", kToFloat) == Lines{"reshape(x; size_1=2, size_2=3) -> y"});
    CHECK(cast("i", kToFloat) == Lines{"cast(i; to=\"f32\") -> y"});
    CHECK(cast("i", kToHalf) ==
          Lines{"cast(i; to=\"f32\") -> y_cast", "cast(y_cast; to=\"f16\") -> y"});
    CHECK(cast("h", kToWhole) ==
          Lines{"cast(h; to=\"f32\") -> y_cast", "cast(y_cast; to=\"i32\") -> y"});
    CHECK(cast("i", kToLong) == unchanged("i"));
    CHECK(cast("l", kToWhole) == unchanged("l")); // both are i32
    CHECK(cast("i", kToUnsigned) == Lines{"cast(i; to=\"u32\") -> y"});
    CHECK(cast("i", kToSignedByte) == Lines{"narrow(i; bits=8) -> y"});
    CHECK(cast("i", kToByte) ==
          Lines{"cast(i; to=\"u32\") -> y_cast", "narrow(y_cast; bits=8) -> y"});
    CHECK(cast("i16", kToSignedByte) == Lines{"narrow(i16; bits=8) -> y"});
    CHECK(cast("i16", kToWhole) == unchanged("i16"));
    CHECK(cast("u8", kToSignedByte) ==
          Lines{"cast(u8; to=\"i32\") -> y_cast", "narrow(y_cast; bits=8) -> y"});
    CHECK(cast("u8", kToWhole) == Lines{"cast(u8; to=\"i32\") -> y"}); // it has all of them
    CHECK(steps("Add", {"i", "i"}) == Lines{"add(i, i) -> y"});
    CHECK(steps("Add", {"u8", "u8"}) ==
          Lines{"add(u8, u8) -> y_add", "narrow(y_add; bits=8) -> y"});
    CHECK(steps("Mul", {"i16", "i16"}) ==
          Lines{"multiply(i16, i16) -> y_multiply", "narrow(y_multiply; bits=16) -> y"});
}

TEST_CASE("attributes that say nothing more, or that older operator sets had, are taken") {
    const std::map<std::string, Elements> known{
        {"w", numbers({1, 2, 3, 4, 5, 6}, {3, 2})}, {"b", numbers({1, 2}, {2})}, {"k", whole({2})}};
    constexpr std::int64_t kOne = 1;
    CHECK(steps("Gemm", {"x", "w", "b"}, {{"broadcast", kOne}}, known, 6) ==
          Lines{"matmul(x, w, b) -> y"});
    CHECK(steps("TopK", {"x", "k"}, {{"sorted", kOne}}, known) ==
          Lines{"top_k(x; k=2) -> y, null"});
    CHECK(steps("TopK", {"x"}, {{"k", kOne}}, {}, 9) == Lines{"top_k(x; k=1) -> y, null"});
    const Lines same{"reshape(x; size_1=2, size_2=3) -> y"};
    CHECK(steps("Dropout", {"x"}, {{"is_test", kOne}, {"ratio", 0.5F}}, {}, 6) == same);
    CHECK(steps("Dropout", {"x"}, {{"seed", kOne}}) == same);
    CHECK(steps("Dropout", {"x"}, {{"ratio", 0.5F}}, {}, 10) == same);
    CHECK(steps("Cast", {"x"}, {{"to", kOne}}) == same);
    const std::map<std::string, Elements> of_channels{{"s", numbers({1, 2, 3}, {3})}};
    const auto norm = [&](const std::map<std::string, Attribute>& attributes, std::int64_t opset) {
        return steps("BatchNormalization", {"x", "s", "s", "s", "s"}, attributes, of_channels,
                     opset);
    };
    CHECK(norm({{"spatial", kOne}}, 7) == norm({}, 9));
    CHECK(norm({{"is_test", kOne}}, 6) == norm({}, 9));
}

TEST_CASE("names are those of the model where it has some, each once") {
    // what is seen first has its name first: outputs, then what is given
    CHECK(steps({node("Relu", {"x"}, {"a b"}), node("Tanh", {"a b"}, {"a_b"})}, {}, {"a_b"}) ==
          Lines{"relu(x) -> a_b_2", "tanh(a_b_2) -> a_b"});
    CHECK(steps({node("Relu", {"x"}, {"y"}), node("Identity", {"y"}, {"z"})}, {}, {"y", "z"}) ==
          Lines{"relu(x) -> y_2", "reshape(y_2; size_1=2, size_2=3) -> y",
                "reshape(y_2; size_1=2, size_2=3) -> z"});
    const importer::Made made = made_of(
        graph_of({node("Add", {"x", "row"}, {"y"}), node("Mul", {"one", "w/2"}, {"z"})},
                 {{"w/2", numbers({1, 2}, {2})}, {"unused", numbers({1}, {})}}, {"z", "y"}));
    CHECK(made.tensors.dump() ==
          R"({"x":{"type":"f32","shape":[2,3]},"row":{"type":"f32","shape":[3]},)"
          R"("one":{"type":"f32","shape":[1]},"w.2":{"type":"f32","shape":[2]}})");
    Lines names;
    for (const auto* list : {&made.given, &made.left}) {
        for (const auto& one : *list) {
            names.push_back(one.tensor + " of " + one.of);
        }
    }
    CHECK(names == Lines{"x of x", "row of row", "one of one", "z of z", "y of y"});
    REQUIRE(made.known.size() == 1);
    CHECK(made.known[0].tensor == "w.2");
}

TEST_CASE("a range whose limit is its start has no numbers", "[unit][importer]") {
    // a tensor of one element is reshaped to no sizes, and to one of size 1
    for (const double limit : {3.0, 2.0, 4.0}) {
        CAPTURE(limit);
        Graph graph{.inputs = {port("x", {1})},
                    .nodes = {node("Range", {"start", "limit", "step"}, {"sizes"}),
                              node("Reshape", {"x", "sizes"}, {"a"}), node("Relu", {"a"}, {"y"})}};
        for (const auto& [name, value] :
             {std::pair<std::string, double>{"start", 3}, {"limit", limit}, {"step", 1}}) {
            graph.known[name] = numbers({value}, {}, workload::ValueType::I64);
        }
        if (limit <= 3) {
            CHECK_NOTHROW(made_of(graph));
        } else { // [3]: as many elements as x has not
            CHECK_THROWS(made_of(graph));
        }
    }
}
