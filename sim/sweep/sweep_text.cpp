// SPDX-License-Identifier: MIT
#include "sim/sweep/sweep_text.h"

#include "base/config/describe.h"

#include <memory>

namespace tessera::sweep {
namespace {

using config::Describe;
using Json = nlohmann::json;
using ShapePointer = std::shared_ptr<const config::Shape>;

constexpr const char* kSource = "docs/decisions/sweeps.md";

void describe_path(config::FieldLine one) {
    one.says("a parameter as --set has it");
}

void describe_condition(config::FieldLine one) {
    one.says("a condition");
}

Json array_of(const std::string& type, int least, int most) {
    return {{"items", {{"type", type}}}, {"minItems", least}, {"maxItems", most}};
}

ShapePointer axis_shape() {
    Describe<AxisText> d;
    d.field("path", &AxisText::path)
        .empty_if_absent("paths")
        .says("the parameter that the axis changes, as --set has it")
        .from(kSource);
    d.list("paths", &AxisText::paths, describe_path)
        .range(1, 100)
        .empty_if_absent("path")
        .says("parameters whose values go together")
        .from(kSource);
    d.field("values", &AxisText::values)
        .json({"array"}, {{"minItems", 1}})
        .says("its values; with paths, lists of one for each")
        .from(kSource);
    d.field("range", &AxisText::range)
        .json({"array"}, array_of("number", 2, 3))
        .says("[from, to, step]; in a random or latin_hypercube sample [from, to] too")
        .from(kSource);
    d.field("log2", &AxisText::log2)
        .json({"array"}, array_of("integer", 2, 2))
        .says("[from, to]: powers of two")
        .from(kSource);
    d.field("scale", &AxisText::logarithmic, {{"linear", false}, {"log", true}})
        .says("of range [from, to]: as many from 1 to 10 as from 10 to 100, or not")
        .from(kSource);
    return d.shape();
}

ShapePointer sample_shape() {
    Describe<SampleText> d;
    d.field("kind", &SampleText::kind,
            {{"grid", Sampling::Grid},
             {"random", Sampling::Random},
             {"latin_hypercube", Sampling::LatinHypercube},
             {"one_at_a_time", Sampling::OneAtATime}})
        .says("all combinations, points of chance, or the base and every axis by itself")
        .from(kSource);
    d.field("n", &SampleText::n)
        .unit("points")
        .range(1, kMostPoints)
        .zero_if_absent("the points of the axes")
        .used_with("sample.kind", {"random", "latin_hypercube"})
        .says("how many")
        .from(kSource);
    d.field("seed", &SampleText::seed)
        .range(0, std::int64_t{1} << 53U)
        .used_with("sample.kind", {"random", "latin_hypercube"})
        .says("another seed gives another sample")
        .from(kSource);
    return d.shape();
}

ShapePointer objective_shape() {
    Describe<ObjectiveText> d;
    d.field("path", &ObjectiveText::path)
        .required()
        .says("a number of the result, a metric or a parameter")
        .from(kSource);
    d.field("goal", &ObjectiveText::largest, {{"min", false}, {"max", true}})
        .says("which is best")
        .from(kSource);
    d.field("over", &ObjectiveText::over,
            {{"geometric_mean", Objective::Over::GeometricMean},
             {"weighted_sum", Objective::Over::WeightedSum},
             {"worst", Objective::Over::Worst}})
        .says("what becomes of several workloads' numbers")
        .from(kSource);
    d.list("weights", &ObjectiveText::weights, [](config::FieldLine one) { one.range(0, 1e9); })
        .range(1, 1000)
        .empty_if_absent("1 each")
        .says("of weighted_sum, one a workload")
        .from(kSource);
    return d.shape();
}

} // namespace

const config::Shape& sweep_shape() {
    static const ShapePointer shape = [] {
        Describe<SweepText> d;
        d.fixed("schema_version", 1).required().says("version of this file's format");
        d.note("description").says("one sentence for lists of sweeps");
        d.field("machine", &SweepText::machine)
            .json({"string", "array"})
            .says("a machine, or several: names or files")
            .from(kSource);
        d.field("workload", &SweepText::workload)
            .json({"string", "array"})
            .required()
            .says("a workload, or several: names or files")
            .from(kSource);
        d.field("mode", &SweepText::mode)
            .one_of({"timing", "functional", "auto", "estimate"})
            .says("as of tessera run")
            .from(kSource);
        d.field("set", &SweepText::set)
            .json({"object"})
            .says("parameters of all points: {path: value}")
            .from(kSource);
        d.list("axes", &SweepText::axes, axis_shape()).range(0, 100).says("what points differ in");
        d.object("sample", &SweepText::sample, sample_shape())
            .says("which combinations of the axes");
        d.field("points", &SweepText::points)
            .json({"array"}, {{"items", {{"type", "object"}}}})
            .says("points of their own: {path: value} each")
            .from(kSource);
        d.field("derive", &SweepText::derive)
            .json({"object"}, {{"additionalProperties", {{"type", "string"}}}})
            .says("parameters that follow from others: {path: expression}")
            .from(kSource);
        d.list("exclude", &SweepText::exclude, describe_condition)
            .range(0, 1000)
            .says("conditions on parameters: points where one holds are left out")
            .from(kSource);
        d.list("constraints", &SweepText::constraints, describe_condition)
            .range(0, 1000)
            .says("conditions on results: points where one does not hold are never best")
            .from(kSource);
        d.field("metrics", &SweepText::metrics)
            .json({"object"}, {{"additionalProperties", {{"type", "string"}}}})
            .says("numbers that follow from results and parameters: {name: expression}")
            .from(kSource);
        d.list("objectives", &SweepText::objectives, objective_shape())
            .range(0, 100)
            .says("what is good");
        return d.shape();
    }();
    return *shape;
}

} // namespace tessera::sweep
