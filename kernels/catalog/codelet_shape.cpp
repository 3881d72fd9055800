// SPDX-License-Identifier: MIT
#include "kernels/catalog/codelet_shape.h"

#include "base/config/describe.h"
#include "kernels/catalog/operand_shapes.h"
#include "kernels/workload/pipeline_workload.h"

#include <string>

namespace tessera::catalog {
namespace {

using config::Describe;
using config::FieldLine;
using nlohmann::json;
using workload::OwnCodelet;
using Split = OwnCodelet::Split;

constexpr const char* kSource = "docs/workloads.md#codelets-of-your-own";
constexpr int kMostDimensions = 8;

std::shared_ptr<const config::Shape> output_shape() {
    Describe<OwnCodelet::Output> d;
    d.field("tensor", &OwnCodelet::Output::tensor)
        .name()
        .empty_if_absent("called as the array")
        .says("name of the tensor that it is, new or anew")
        .from(kSource);
    d.list("shape", &OwnCodelet::Output::shape,
           [](FieldLine one) { one.unit("elements").range(1, kLongestDimension); })
        .unit("sizes")
        .range(1, kMostDimensions)
        .empty_if_absent("as the first input")
        .says("sizes of the tensor")
        .from(kSource);
    d.field("type", &OwnCodelet::Output::type)
        .empty_if_absent("that of the array")
        .says("type of its elements")
        .from(kSource);
    return d.shape();
}

/// Names of tensors, as a list or by array.
json inputs_form() {
    const json name = {{"type", "string"}, {"pattern", config::kNamePattern}};
    return {{"items", name}, {"additionalProperties", name}};
}

} // namespace

std::shared_ptr<const config::Shape> codelet_shape() {
    Describe<OwnCodelet> d;
    d.field("codelet", &OwnCodelet::source)
        .required()
        .suffix(".S")
        .suffix(".s")
        .says("assembly source, beside the workload file or in a data/ folder")
        .from(kSource);
    d.field("vertex", &OwnCodelet::vertex)
        .required()
        .suffix(".json")
        .says("vertex file: state, arrays and parameters of the codelet")
        .from(kSource);
    d.field("name", &OwnCodelet::name)
        .name()
        .empty_if_absent("as the first output")
        .says("of the step, in results")
        .from(kSource);
    d.field("inputs", &OwnCodelet::inputs)
        .json({"array", "object"}, inputs_form())
        .required()
        .name()
        .says("names of the tensors that it reads: of arrays of the vertex file in their order, or "
              "{\"array\": \"tensor\"}")
        .from(kSource);
    d.map("outputs", &OwnCodelet::outputs, &OwnCodelet::Output::array, output_shape())
        .required()
        .says("what it writes, by array of the vertex file")
        .from(kSource);
    d.field("split", &OwnCodelet::split,
            {{"rows", Split::Rows}, {"elements", Split::Elements}, {"tiles", Split::Tiles}})
        .says("what tiles share out: rows, single elements, or the first size, of which each tile "
              "has one")
        .from(kSource);
    d.field("grain", &OwnCodelet::grain)
        .range(1, kLongestDimension)
        .zero_if_absent("1 row, or the elements in 8 bytes")
        .says("a tile has a multiple of so many rows or elements")
        .from(kSource);
    d.field("parameters", &OwnCodelet::parameters)
        .json({"object"}, {{"additionalProperties", {{"type", "number"}}}})
        .written_if<OwnCodelet>([](const OwnCodelet& told) { return !told.parameters.empty(); })
        .says("parameters of the vertex file")
        .from(kSource);
    d.field("expect", &OwnCodelet::expect)
        .json({"object"})
        .written_if<OwnCodelet>([](const OwnCodelet& told) { return !told.expect.is_null(); })
        .says(
            "values of the arrays of a tile after the step, as in a vertex file, whose \"expect\" "
            "it takes the place of")
        .from(kSource);
    return d.shape();
}

} // namespace tessera::catalog
