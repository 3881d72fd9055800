// SPDX-License-Identifier: MIT
// Known elements, sizes and axes; the list of operators; and the text of a whole pipeline.
#include "sim/importer/operators.h"
#include "sim/importer/pipeline_text.h"
#include "tests/unit/sim/importer/graphs.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace tessera;
using namespace tessera::test;
using importer::ElementKind;
using workload::ValueType;

namespace {

Sizes values_of(const Elements& elements) {
    Sizes values;
    for (std::int64_t i = 0; i < elements.count(); ++i) {
        values.push_back(std::lround(elements.number(i)));
    }
    return values;
}

/// Returns the words in which something is refused.
template <class Action> std::string refusal(const Action& action) {
    try {
        static_cast<void>(action());
    } catch (const importer::Refused& refused) {
        return refused.what();
    }
    return "taken";
}

} // namespace

TEST_CASE("whole numbers are read as far as they are exact, and no others") {
    const std::int64_t most = std::int64_t{1} << 53;
    CHECK(importer::whole_numbers(
              whole({0, -1, most - 1, 1 - most, most, -most, most * 512, -most * 512})) ==
          Sizes{0, -1, most - 1, 1 - most, most, -most, most, -most});
    CHECK(importer::whole_numbers(numbers({0, 1}, {2}, ValueType::Mask)) == Sizes{0, 1});
    CHECK(importer::whole_numbers(numbers({255}, {}, ValueType::U8)) == Sizes{255});
    CHECK_FALSE(importer::whole_numbers(numbers({1}, {1})));
    CHECK_FALSE(importer::whole_numbers(numbers({1}, {1}, ValueType::F16)));
}

TEST_CASE("elements are made of one value that their type has") {
    using importer::equal_elements;
    for (const Sizes& shape : {Sizes{}, Sizes{3}, Sizes{2, 3}, Sizes{0}}) {
        const Elements made = equal_elements(ValueType::U8, shape, 255);
        CHECK(made.shape == shape);
        CHECK(values_of(made) == Sizes(static_cast<std::size_t>(importer::product_of(shape)), 255));
    }
    CHECK(values_of(equal_elements(ValueType::Mask, {1}, 0)) == Sizes{0});
    CHECK(values_of(equal_elements(ValueType::Mask, {1}, 0.25)) == Sizes{1});
    CHECK(refusal([] { return equal_elements(ValueType::U8, {1}, 256); }) ==
          "got 256, which u8 does not have exactly");
    CHECK(refusal([] { return equal_elements(ValueType::F32, {1}, 0.1); }) ==
          "got 0.1, which f32 does not have exactly");
    CHECK(refusal([] {
              return equal_elements(ValueType::F32, {importer::kMostElements, 2}, 0);
          }) == "got more than 268435456 elements");
}

TEST_CASE("elements are taken and turned into other types") {
    using importer::as_type;
    const Elements all = numbers({1, -2, 0, 300}, {4}, ValueType::I16);
    CHECK(values_of(importer::taken(all, {2, 2}, {3, 0, 0, 1})) == Sizes{300, 1, 1, -2});
    CHECK(importer::taken(all, {2, 2}, {3, 0, 0, 1}).shape == Sizes{2, 2});
    CHECK(values_of(*as_type(all, ValueType::F32)) == Sizes{1, -2, 0, 300});
    CHECK(values_of(*as_type(all, ValueType::Mask)) == Sizes{1, 1, 0, 1});
    CHECK_FALSE(as_type(all, ValueType::I8));
    CHECK_FALSE(as_type(all, ValueType::U16));
    CHECK_FALSE(as_type(numbers({1, 1.5}, {2}), ValueType::I32));
    const Elements wide = numbers({0.1, 2}, {2}, ValueType::F64);
    CHECK(importer::single_of(wide).type == ValueType::F32);
    CHECK(importer::single_of(wide).number(0) == double{0.1F});
    CHECK(importer::single_of(all).type == ValueType::I16);
}

TEST_CASE("places of permuted elements are those of their own axes") {
    const Sizes shape{2, 3, 4};
    for (const std::vector<std::size_t>& order :
         {std::vector<std::size_t>{0, 1, 2}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}}) {
        Sizes expected;
        const Sizes strides{3 * 4, 4, 1};
        for (std::int64_t i = 0; i < shape[order[0]]; ++i) {
            for (std::int64_t j = 0; j < shape[order[1]]; ++j) {
                for (std::int64_t k = 0; k < shape[order[2]]; ++k) {
                    expected.push_back(i * strides[order[0]] + j * strides[order[1]] +
                                       k * strides[order[2]]);
                }
            }
        }
        CHECK(importer::places_permuted(shape, order) == expected);
    }
}

TEST_CASE("sizes of two go together where they are equal or 1, from the last one on") {
    using importer::common_shape;
    CHECK(common_shape({2, 3}, {3}) == Sizes{2, 3});
    CHECK(common_shape({2, 1}, {1, 3}) == Sizes{2, 3});
    CHECK(common_shape({}, {2}) == Sizes{2});
    CHECK(common_shape({}, {}) == Sizes{});
    CHECK(common_shape({5, 1, 3}, {4, 1}) == Sizes{5, 4, 3});
    CHECK(common_shape({0}, {1}) == Sizes{0});
    CHECK(refusal([] {
              return common_shape({2, 3}, {2});
          }) == "got sizes 2 x 3 and 2, which do not go together");
    CHECK(refusal([] { return common_shape({0}, {2}); }) ==
          "got sizes 0 and 2, which do not go together");
    CHECK(importer::sizes_text({}) == "no sizes");
    CHECK(importer::axis_of(-3, 3) == 0);
    CHECK(importer::axis_of(-1, 3) == 2);
    CHECK(importer::axis_of(2, 3) == 2);
    CHECK(refusal([] { return importer::axis_of(3, 3); }) == "got axis 3 of a tensor of 3 sizes");
    CHECK(refusal([] { return importer::axis_of(-4, 3); }) == "got axis -4 of a tensor of 3 sizes");
    CHECK(refusal([] { return importer::axis_of(0, 0); }) == "got axis 0 of a tensor of 0 sizes");
}

TEST_CASE("types of the format are types of tensors, or there is none for them") {
    const std::map<std::int64_t, std::string> expected{
        {1, "FLOAT f32"},    {2, "UINT8 u32"},   {3, "INT8 i32"},    {4, "UINT16 u32"},
        {5, "INT16 i32"},    {6, "INT32 i32"},   {7, "INT64 i32"},   {9, "BOOL u32"},
        {10, "FLOAT16 f16"}, {11, "DOUBLE f32"}, {12, "UINT32 u32"}, {13, "UINT64 u32"}};
    for (std::int64_t number = -1; number < 25; ++number) {
        CAPTURE(number);
        const auto kind = importer::element_kind(number);
        const auto found = expected.find(number);
        CHECK(kind.has_value() == (found != expected.end()));
        if (kind) {
            CHECK(kind->name + " " + importer::type_of(*kind) == found->second);
        }
    }
    CHECK(importer::type_of({ValueType::BF16, "BFLOAT16"}) == nullptr);
    CHECK(importer::type_of({ValueType::F64, "DOUBLE"}) == nullptr);
    CHECK(importer::type_of({std::nullopt, "STRING"}) == nullptr);
}

TEST_CASE("operators are found by their whole names, each once") {
    const auto all = importer::operators();
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(importer::find_operator(all[i].name) == &all[i]);
        CHECK((i == 0 || all[i - 1].name < all[i].name));
        CHECK(importer::find_operator(std::string(all[i].name) + "_") == nullptr);
    }
    for (const char* name : {"", "A", "Reluu", "zzz", "relu"}) {
        CHECK(importer::find_operator(name) == nullptr);
    }
}

TEST_CASE("a pipeline is a file of tensors and steps, whose values are in a file beside it") {
    const importer::Made made = made_of(
        {.inputs = {port("x", {2, 3}), port("a/b", {3})},
         .nodes = {node("MatMul", {"x", "w"}, {"p"}), node("Add", {"p", "a/b"}, {"y"}),
                   node("Mul", {"y", "c"}, {"z"})},
         .known = {{"w", numbers({1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 3})}, {"c", numbers({5}, {})}},
         .outputs = {"y"}});
    CHECK(importer::pipeline_text("m \"1\".onnx", made, "m.safetensors") == R"({
    "schema_version": 1,
    "description": "imported from m \"1\".onnx; inputs: x, a.b ('a/b'); outputs: y",
    "kind": "pipeline",
    "tensors": {
        "x": {"type":"f32","shape":[2,3]},
        "a.b": {"type":"f32","shape":[3]},
        "w": {"type":"f32","shape":[3,3],"values":"m.safetensors"}
    },
    "steps": [
        {"family":"matmul","inputs":["x","w","a.b"],"output":"y"}
    ]
}
)");
    CHECK(importer::names_text({}) == "none");
    // a tensor of a file has a size
    const auto head = [](const Sizes& shape) {
        const auto elements = std::make_shared<const Elements>(numbers({1}, shape));
        const std::string text = importer::values_head({{"w", elements}});
        return nlohmann::json::parse(text.substr(8));
    };
    for (const Sizes& shape : {Sizes{}, Sizes{1}}) {
        CHECK(head(shape)["w"] ==
              nlohmann::json::parse(R"({"dtype": "F32", "shape": [1], "data_offsets": [0, 4]})"));
    }
}
