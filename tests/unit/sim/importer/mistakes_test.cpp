// SPDX-License-Identifier: MIT
// What a model or what is told of it has wrong, in the words that people read; and the nearest that is taken.
#include "sim/importer/onnx_reader.h"
#include "tests/support/scratch_folder.h"
#include "tests/unit/sim/importer/graphs.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <limits>

using namespace tessera;
using namespace tessera::test;
using importer::Attribute;
using importer::ElementKind;
using importer::Port;
using workload::ValueType;

namespace {

const ElementKind kText{std::nullopt, "STRING"};
constexpr std::int64_t kOne = 1;

/// Of one node, in whose name its mistake begins.
Lines told(const importer::Node& node, const std::vector<Port>& inputs,
           const std::map<std::string, Elements>& known = {}, std::int64_t opset = 17) {
    return mistakes_of({.inputs = inputs, .nodes = {node}, .known = known, .opset = opset});
}
Lines relu_of(const Port& input) {
    return told(node("Relu", {"x"}, {"y"}), {input});
}
Lines of_node(const std::string& op, const std::string& message) {
    return {"node that makes 'y' (" + op + "): " + message};
}

} // namespace

TEST_CASE("inputs that an output needs are tensors with sizes") {
    CHECK(relu_of(port("x", {2, 3})).empty());
    CHECK(relu_of({"x", false, kFloat, true, {}}) ==
          Lines{"input 'x': got no tensor, expected one"});
    CHECK(relu_of({"x", true, kFloat, false, {}}) ==
          Lines{"input 'x': got no sizes, expected them"});
    CHECK(relu_of(port("x", {2, ""})) == Lines{"input 'x': size 1 has neither number nor name"});
    CHECK(relu_of(port("x", {-1})) == Lines{"input 'x': got a size of -1, expected 0..268435456"});
    CHECK(relu_of(port("x", {2}, kText)) ==
          of_node("Relu", "'x' has elements of STRING, expected FLOAT or FLOAT16"));
    CHECK(relu_of(port("x", {1, 1, 1, 1, 1, 1, 1, 2})).empty());
    CHECK(relu_of(port("x", {1, 1, 1, 1, 1, 1, 1, 1, 2})) ==
          of_node("Relu", "'x' has 9 sizes, expected at most 8"));
    // others are not looked at
    const std::vector<Port> inputs{port("x", {2}), {"a", false, kText, true, {}}, port("b", {"n"})};
    CHECK(told(node("Relu", {"x"}, {"y"}), inputs).empty());
}

TEST_CASE("a size is told by its name, once for all inputs that have it") {
    Graph graph{.inputs = {port("x", {"batch", "m"}), port("x2", {"batch", "m"})},
                .nodes = {node("Add", {"x", "x2"}, {"y"})}};
    CHECK(mistakes_of(graph) ==
          Lines{"input 'x': size 'batch' has no number, expected --size batch=N",
                "input 'x': size 'm' has no number, expected --size m=N"});
    graph.told.sizes = {{"batch", 2}, {"bath", 3}};
    CHECK(mistakes_of(graph) == Lines{"--size: no input has a size 'bath'; did you mean 'batch'?",
                                      "input 'x': size 'm' has no number, expected --size m=N"});
    graph.told.sizes = {{"batch", 2}, {"m", 3}};
    CHECK(made_of(graph).tensors["x"]["shape"] == Sizes{2, 3});
}

TEST_CASE("a constant is what the model says of its input") {
    const auto with = [](const Port& input, const Elements& constant) {
        return mistakes_of({.inputs = {port("x", {2, 3}), input},
                            .nodes = {node("Reshape", {"x", "k"}, {"y"})},
                            .told = {{}, {{"k", constant}}}});
    };
    CHECK(with(port("k", {2}, kLong), whole({3, 2})).empty());
    CHECK(with(port("k", {"n"}, kLong), whole({3, 2})).empty());
    CHECK(with({"k", true, kLong, false, {}}, whole({3, 2})).empty());
    CHECK(with(port("k", {2}, kByte), whole({3, 2})).empty());
    CHECK(with(port("k", {2}, kText), whole({3, 2})) ==
          Lines{"--constant k: the model wants STRING"});
    CHECK(with(port("k", {1}, kByte), whole({256})) ==
          Lines{"--constant k: got an element that UINT8 does not have"});
    CHECK(with(port("k", {3}, kLong), whole({3, 2})) ==
          Lines{"--constant k: got 2, which are other sizes than the model's"});
    CHECK(with(port("k", {1, 2}, kLong), whole({3, 2})) ==
          Lines{"--constant k: got 2, which are other sizes than the model's"});
    CHECK(with(port("k", {"n", 2}, kLong), importer::whole_elements({6, 1, 1, 6}, Sizes{1, 4})) ==
          Lines{"--constant k: got 1 x 4, which are other sizes than the model's"});

    Graph graph{.inputs = {port("x", {2, 3}), port("shape", {2}, kLong)},
                .nodes = {node("Reshape", {"x", "k"}, {"y"})},
                .known = {{"k", whole({6})}}};
    CHECK(steps_of(made_of(graph)) == Lines{"reshape(x; size_1=6) -> y"});
    graph.told.constants = {{"k", whole({3, 2})}}; // instead of what the model has
    CHECK(steps_of(made_of(graph)) == Lines{"reshape(x; size_1=3, size_2=2) -> y"});
    graph.told.constants = {{"shap", whole({3, 2})}};
    CHECK(mistakes_of(graph) ==
          Lines{"--constant: the model has no input 'shap'; did you mean 'shape'?"});
}

TEST_CASE("all that is read is made before, and all outputs are made") {
    const std::vector<Port> x{port("x", {2})};
    CHECK(told(node("Relu", {"z"}, {"y"}), x) ==
          of_node("Relu", "reads 'z', which no node before it makes"));
    CHECK(mistakes_of({.inputs = x, .nodes = {node("Relu", {"x"}, {"z"})}}) ==
          Lines{"output 'y': no node makes it"});
    CHECK(mistakes_of({.inputs = x, .nodes = {}, .outputs = {}}) ==
          Lines{"got a graph without outputs"});
    // behind a mistake others that follow from it are not told
    CHECK(mistakes_of({.inputs = x,
                       .nodes = {node("No", {"x"}, {"a"}), node("Relu", {"a"}, {"b"}),
                                 node("None", {"x"}, {"c"}), node("Add", {"b", "c"}, {"y"})}}) ==
          Lines{"node that makes 'a' (No): no family has this operator",
                "node that makes 'c' (None): no family has this operator"});
    CHECK(told(node("Relu", {"x"}, {"y", "z"}), x).empty()); // which nothing needs
    CHECK(mistakes_of(
              {.inputs = x, .nodes = {node("Relu", {"x"}, {"y", "z"})}, .outputs = {"y", "z"}}) ==
          of_node("Relu", "output 1 is not translated"));
}

TEST_CASE("a node is called by its name, or by what it makes") {
    const std::vector<Port> x{port("x", {2})};
    importer::Node one = node("Rel", {"x"}, {"", "y"});
    CHECK(told(one, x) == of_node("Rel", "no family has this operator"));
    one.domain = "com.acme";
    one.op = "Relu";
    CHECK(told(one, x) == of_node("com.acme.Relu", "no family has this operator"));
    one.name = "first";
    CHECK(told(one, x) == Lines{"node 'first' (com.acme.Relu): no family has this operator"});
    for (const char* op : {"If", "Loop", "Scan", "SequenceMap"}) {
        CHECK(told(node(op, {"x"}, {"y"}), x) == of_node(op, "control flow is not translated"));
    }
}

TEST_CASE("attributes are those of the operator") {
    const std::vector<Port> x{port("x", {2, 3})};
    const auto with = [&](const char* op, const std::string& key, const Attribute& value) {
        return told(node(op, {"x"}, {"y"}, {{key, value}}), x);
    };
    CHECK(with("LeakyRelu", "alpha", 0.5F).empty());
    CHECK(with("LeakyRelu", "alpha", kOne) ==
          of_node("LeakyRelu", "attribute 'alpha' is of another kind than the operator has"));
    CHECK(with("Softmax", "axis", 1.0F) ==
          of_node("Softmax", "attribute 'axis' is of another kind than the operator has"));
    CHECK(with("Transpose", "perm", std::vector<float>{1, 0}) ==
          of_node("Transpose", "attribute 'perm' is of another kind than the operator has"));
    CHECK(with("LeakyRelu", "slope", 0.5F) ==
          of_node("LeakyRelu", "attribute 'slope' is not translated"));
    CHECK(with("Transpose", "perm", Sizes{1, 1}) == of_node("Transpose", "got axis 1 twice"));
    CHECK(with("Softmax", "axis", std::int64_t{2}) ==
          of_node("Softmax", "got axis 2 of a tensor of 2 sizes"));
    CHECK(with("Softmax", "axis", std::int64_t{-3}) ==
          of_node("Softmax", "got axis -3 of a tensor of 2 sizes"));
    const std::string trains = "in training (is_test is 0), which draws random numbers";
    for (const std::int64_t opset : {std::int64_t{6}, std::int64_t{7}}) {
        CHECK(told(node("Dropout", {"x"}, {"y"}), x, {}, opset) ==
              (opset < 7 ? of_node("Dropout", trains) : Lines{}));
    }
    CHECK(told(node("BatchNormalization", {"x", "s", "s", "s", "s"}, {"y"},
                    {{"spatial", std::int64_t{0}}}),
               x, {{"s", numbers({1, 2, 3}, {3})}},
               7) == of_node("BatchNormalization",
                             "got a norm of another meaning than that of operator sets from 9 on"));
    CHECK(with("Cast", "to", std::int64_t{8}) == // texts
          of_node("Cast", "to a type that no tensor of a pipeline has, expected FLOAT or FLOAT16"));
    CHECK(told(node("Constant", {}, {"y"}, {{"value_string", std::string("a")}}), x) ==
          of_node("Constant", "got no value of numbers"));
    CHECK(told(node("ConstantOfShape", {"k"}, {"y"}, {{"value", numbers({1, 2}, {2})}}), x,
               {{"k", whole({3})}}) ==
          of_node("ConstantOfShape", "attribute 'value' is no tensor of one element"));
}

TEST_CASE("inputs of a node are there, known where they must be, and alike") {
    const std::vector<Port> inputs{port("x", {2, 3}), port("k", {1}, kLong),
                                   port("h", {2, 3}, kHalf),
                                   port("b", {2, 3}, {ValueType::Mask, "BOOL"})};
    const std::map<std::string, Elements> known{{"two", numbers({1, 2}, {2})},
                                                {"six", whole({6})},
                                                {"zero", whole({0})},
                                                {"most", whole({std::int64_t{1} << 40})}};
    const auto with = [&](const char* op, const Lines& names) {
        return told(node(op, names, {"y"}), inputs, known);
    };
    CHECK(with("Add", {"x", "x"}).empty());
    CHECK(with("Add", {"x"}) == of_node("Add", "input 1 is not there"));
    CHECK(with("Add", {"", "x"}) == of_node("Add", "input 0 is not there"));
    CHECK(with("Add", {"x", "h"}) == of_node("Add", "got FLOAT and FLOAT16, expected one type"));
    CHECK(with("Reshape", {"x", "six"}).empty());
    CHECK(with("Reshape", {"x", "k"}) ==
          of_node("Reshape", "input 'k' is not known when the model is imported, expected an "
                             "initialiser, or --constant k=FILE.npy"));
    CHECK(with("Reshape", {"x", "two"}) == of_node("Reshape", "input 1 has no whole numbers"));
    CHECK(with("Reshape", {"x"}) == of_node("Reshape", "got no shape"));
    CHECK(with("Unsqueeze", {"x"}) == of_node("Unsqueeze", "got no axes"));
    CHECK(with("Dropout", {"x", "two"}) ==
          of_node("Dropout", "input 1 has 2 elements, expected one"));
    CHECK(with("And", {"x", "x"}) == of_node("And", "'x' has elements of FLOAT, expected BOOL"));
    CHECK(with("And", {"b", "b"}).empty());
    CHECK(with("Relu", {"k"}) ==
          of_node("Relu", "'k' has elements of INT64, expected FLOAT or FLOAT16"));
    CHECK(with("Gather", {"x", "h"}) ==
          of_node("Gather", "'h' has elements of FLOAT16, expected whole numbers"));
    CHECK(with("Neg", {"most"}) == // as a result it would be i32
          Lines{"output: 'y' has a number that i32 does not hold"});
    CHECK(with("Div", {"six", "zero"}) == of_node("Div", "a known number is divided by 0"));
    CHECK(with("Reshape", {"x", "zero"}) ==
          of_node("Reshape", "got sizes 2 for 2 x 3, expected as many elements"));
}

TEST_CASE("factors are of one type, which the units multiply") {
    const std::vector<Port> inputs{port("x", {2, 2}), port("h", {2, 2}, kHalf),
                                   port("i", {2, 2}, {ValueType::I32, "INT32"})};
    for (const char* op : {"Gemm", "MatMul"}) {
        const auto with = [&](const char* a, const char* b) {
            return told(node(op, {a, b}, {"y"}), inputs);
        };
        CHECK(with("x", "x").empty());
        CHECK(with("h", "h").empty());
        CHECK(with("x", "h") == of_node(op, "got FLOAT and FLOAT16, expected one type"));
        CHECK(with("i", "i") ==
              of_node(op, "'i' has elements of INT32, expected FLOAT or FLOAT16"));
        CHECK(with("x", "i") ==
              of_node(op, "'i' has elements of INT32, expected FLOAT or FLOAT16"));
    }
}

TEST_CASE("norms and pools are of numbers that they can be computed of") {
    const ElementKind whole{ValueType::I32, "INT32"};
    const std::map<std::string, Elements> known{{"s", numbers({1, 2, 3}, {3})}};
    const auto norm = [&](const ElementKind& kind) {
        return told(node("BatchNormalization", {"x", "s", "s", "s", "s"}, {"y"}),
                    {port("x", {2, 3}, kind)}, known);
    };
    CHECK(norm(kFloat).empty());
    CHECK(norm(whole) ==
          of_node("BatchNormalization", "'x' has elements of INT32, expected FLOAT or FLOAT16"));
    const auto pool = [&](const ElementKind& kind) {
        return told(node("MaxPool", {"x"}, {"y"}, {{"kernel_shape", Sizes{2}}}),
                    {port("x", {1, 1, 4}, kind)});
    };
    CHECK(pool(kFloat).empty());
    CHECK(pool(kByte).empty());
    CHECK(pool({ValueType::I16, "INT16"}).empty()); // FP32 has all of them
    CHECK(pool(whole) == of_node("MaxPool", "got whole numbers of more than 16 bits"));
}

TEST_CASE("operators take the sizes, numbers and attributes that they are about, and no others") {
    const std::vector<Port> inputs{port("x", {2, 3}),        port("row", {3}),
                                   port("t", {2, 3, 4}),     port("slope", {3, 1}),
                                   port("i", {2, 3}, kLong), port("text", {2, 3}, kText)};
    const auto places = [](std::int64_t rows, std::int64_t columns) {
        const auto count = static_cast<std::size_t>(rows * columns);
        return importer::whole_elements(Sizes(count, 1), Sizes{rows, columns});
    };
    const auto powers = [](std::int64_t one) {
        return importer::whole_elements({63, 0, one, 0, 1, 2}, Sizes{2, 3});
    };
    const std::map<std::string, Elements> known{
        {"three", numbers({1, 2, 3}, {3})},
        {"wide", numbers({1, 2, 3}, {1, 3})},
        {"t3", numbers({1, 2, 3, 4, 5, 6}, {3, 2})},
        {"of_one", numbers({1, 2}, {2, 1})},
        {"most", powers(63)},
        {"many", powers(64)},
        {"below", powers(-1)},
        {"halves", numbers({0.5, 1.5, 1}, {3})},
        {"rows", places(2, 1)},
        {"cube", importer::whole_elements({1, 0}, Sizes{2, 1, 1})},
        {"depth", whole({3})},
        {"values", numbers({0, 1}, {2})},
        {"one", whole({1})},
        {"number", importer::whole_elements({1}, Sizes{})},
        {"pair", places(2, 2)},
        {"triple", places(2, 3)},
        {"threes", places(3, 1)},
        {"nothing", places(2, 0)}};
    struct Case {
        const char* op;
        Lines taken;
        Lines refused;
        std::string message;
        std::map<std::string, Attribute> of_taken = {};
        std::map<std::string, Attribute> of_refused = {};
    };
    const std::map<std::string, Attribute> one_batch{{"batch_dims", kOne}};
    const std::map<std::string, Attribute> two_batches{{"batch_dims", std::int64_t{2}}};
    const std::string power = "got a power of whole numbers below 0 or from 64 on";
    const std::string ranks = "got indices of another number of sizes than x";
    const std::string updates = "got other sizes of indices than of updates";
    const std::vector<Case> cases{
        {"Gemm", {"x", "t3"}, {"x", "t"}, "got tensors that are no matrices"},
        {"Gemm", {"x", "t3"}, {"t", "t3"}, "got tensors that are no matrices"},
        {"PRelu", {"x", "row"}, {"row", "x"}, "a slope of more elements than x has"},
        {"PRelu",
         {"t", "slope"},
         {"x", "t3"},
         "got sizes 2 x 3 and 3 x 2, which do not go together"},
        {"Pow", {"i", "most"}, {"i", "many"}, power},
        {"Pow", {"i", "most"}, {"i", "below"}, power},
        {"Pow", {"x", "three"}, {"i", "halves"}, "got whole numbers to a power that is none"},
        {"Add",
         {"i", "i"},
         {"text", "text"},
         "'text' has elements of STRING, expected FLOAT, FLOAT16 or whole numbers"},
        {"LayerNormalization",
         {"x", "three"},
         {"x", "wide"},
         "got sizes 1 x 3, which do not become 3"},
        {"LayerNormalization",
         {"x", "three"},
         {"x", "three"},
         "attribute 'stash_type' is another than FLOAT",
         {{"stash_type", kOne}},
         {{"stash_type", std::int64_t{10}}}},
        {"BatchNormalization",
         {"x", "three", "three", "three", "three"},
         {"row", "three", "three", "three", "three"},
         "got no channels in 3"},
        {"GatherElements", {"x", "rows"}, {"x", "cube"}, ranks},
        {"GatherElements", {"t", "cube"}, {"row", "rows"}, ranks},
        {"ScatterElements", {"x", "rows", "of_one"}, {"x", "rows", "row"}, updates},
        {"ScatterElements", {"x", "rows", "of_one"}, {"t", "rows", "of_one"}, updates},
        {"OneHot",
         {"i", "depth", "values"},
         {"x", "depth", "values"},
         "'x' has elements of FLOAT and is not known when the model is imported, expected whole "
         "numbers"},
        {"GatherND",
         {"x", "one"},
         {"x", "number"},
         "got indices of no sizes for 2 x 3 with 0 sizes of batches"},
        {"GatherND",
         {"x", "pair"},
         {"x", "triple"},
         "got indices of 2 x 3 for 2 x 3 with 0 sizes of batches"},
        {"GatherND",
         {"x", "rows"},
         {"x", "nothing"},
         "got indices of 2 x 0 for 2 x 3 with 0 sizes of batches"},
        {"GatherND",
         {"x", "rows"},
         {"x", "pair"},
         "got indices of 2 x 2 for 2 x 3 with 1 sizes of batches",
         one_batch,
         one_batch},
        {"GatherND",
         {"x", "rows"},
         {"x", "threes"},
         "got indices of 3 x 1 for 2 x 3 with 1 sizes of batches",
         one_batch,
         one_batch},
        {"GatherND",
         {"x", "rows"},
         {"x", "rows"},
         "got indices of 2 x 1 for 2 x 3 with 2 sizes of batches",
         {},
         two_batches}};
    for (const Case& one : cases) {
        CAPTURE(one.op, one.message);
        const auto with = [&](const Lines& names,
                              const std::map<std::string, Attribute>& attributes) {
            return told(node(one.op, names, {"y"}, attributes), inputs, known);
        };
        CHECK(with(one.taken, one.of_taken) == Lines{});
        CHECK(with(one.refused, one.of_refused) == of_node(one.op, one.message));
    }
}

TEST_CASE("pads are of at most as many elements as a tensor has") {
    constexpr std::int64_t kMost = importer::kMostElements;
    const std::vector<Port> x{port("x", {4})};
    const auto padded = [&](std::int64_t before, std::int64_t behind) {
        return told(node("Pad", {"x"}, {"y"}, {{"pads", Sizes{before, behind}}}), x, {}, 10);
    };
    const Lines refused = of_node("Pad", "got a pad of more elements than a tensor has");
    CHECK(padded(-kMost, kMost).empty());
    CHECK(padded(kMost, -kMost).empty());
    CHECK(padded(-kMost - 1, kMost) == refused);
    CHECK(padded(-kMost, kMost + 1) == refused);
    CHECK(padded(kMost + 1, -kMost) == refused);
    CHECK(padded(kMost, -kMost - 1) == refused);
    CHECK(padded(-5, 0) == of_node("Pad", "got a size of -1, expected 0..268435456"));
    CHECK(padded(-4, 0) == of_node("Pad", "'y' has no elements (0)"));
}

TEST_CASE("known results are numbers that a file of values has") {
    const auto left = [](const Elements& elements) {
        return mistakes_of({.inputs = {}, .nodes = {}, .known = {{"y", elements}}});
    };
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    CHECK(left(numbers({1, 2}, {2})).empty());
    CHECK(left(numbers({1, kInfinity, -kInfinity}, {3})) ==
          Lines{"known tensor 'y_2': got element 1, which is not finite, expected numbers that a "
                "file of values has"});
    CHECK(left(numbers({std::nan("")}, {1})) ==
          Lines{"known tensor 'y_2': got element 0, which is not finite, expected numbers that a "
                "file of values has"});
    CHECK(left(numbers({}, {0})) == Lines{"output: 'y' has no elements (0)"});
}

TEST_CASE("tensors of FP64 are named, as far as an output needs them") {
    const ElementKind wide{ValueType::F64, "DOUBLE"};
    Graph graph{.inputs = {port("x", {2}, wide), port("z", {2}, wide), port("row", {2})},
                .nodes = {node("Mul", {"x", "c"}, {"y"}), node("Add", {"y", "row"}, {"w"})},
                .known = {{"c", numbers({0.1, 2}, {2}, ValueType::F64)},
                          {"d", numbers({1}, {1}, ValueType::F64)}}};
    const importer::Made made = made_of(graph);
    CHECK(made.narrowed == Lines{"c", "x"});
    REQUIRE(made.known.size() == 1);
    CHECK(made.known[0].elements->type == ValueType::F32);
    CHECK(made.known[0].elements->number(0) == double{0.1F});
    CHECK(made.tensors["x"]["type"] == "f32");
}

TEST_CASE("a model file has at most the bytes of a message of protobuf, which is told unread") {
    if (!importer::reads_onnx()) {
        return;
    }
    constexpr std::uintmax_t kMost = std::uintmax_t{2047} << 20U;
    const ScratchFolder folder;
    const std::string file = folder.write("m.onnx", "");
    std::filesystem::resize_file(file, kMost + 1); // a hole, of no bytes on the disk
    CHECK_THROWS_WITH(importer::read_onnx_file(file),
                      fmt::format("{}: got {} bytes, expected at most {}, as of a message of "
                                  "protobuf; its tensors may be in files beside it",
                                  file, kMost + 1, kMost));
}
