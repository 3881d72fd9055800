// SPDX-License-Identifier: MIT
// Families over rows between others.
#include "kernels/matmul/matmul.h"
#include "kernels/pipeline/pipeline.h"
#include "kernels/reduce/reduce.h"
#include "kernels/softmax/softmax.h"
#include "kernels/views/views.h"
#include "tests/kernels/family/matrix_step.h"

namespace {

using namespace tessera;

class Built {
public:
    std::size_t given(const std::string& name, std::int64_t rows, std::int64_t columns) {
        pipeline.tensors.push_back(
            {.name = name, .type = {ElementType::F16, {rows, columns}}, .given = true});
        return pipeline.tensors.size() - 1;
    }
    std::size_t step(const family::Family& family, const std::string& name,
                     std::vector<std::size_t> inputs, const std::string& op = "") {
        family::Request request;
        for (const std::size_t input : inputs) {
            request.inputs.push_back(pipeline.tensors[input].type);
        }
        if (!op.empty()) {
            request.options["op"] = op;
        }
        pipeline::Node node;
        node.name = name;
        node.family = &family;
        node.step = family.make(request);
        node.inputs = std::move(inputs);
        pipeline.tensors.push_back({.name = name, .type = node.step->output(), .wanted = true});
        node.outputs = {pipeline.tensors.size() - 1};
        pipeline.steps.push_back(std::move(node));
        return pipeline.steps.back().outputs.at(0).value();
    }

    pipeline::Pipeline pipeline{"test", {}, {}};
};

/// Every step against its reference, on what stood on the tiles.
void run_and_check(const spec::MachineSpec& machine, const pipeline::Pipeline& pipeline) {
    const auto planned = pipeline::plan(machine, pipeline);
    CHECK(test::faults_of(machine, planned.lowered.program).empty());
    std::vector<family::Value> values(pipeline.tensors.size());
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    for (const auto& write : planned.writes) {
        values[write.tensor] = test::random_value(pipeline.tensors[write.tensor].type, 1,
                                                  static_cast<std::uint64_t>(write.tensor));
        writes[write.array] = values[write.tensor].bytes;
    }
    const auto outcome = test::run_program(machine, planned.lowered.program, writes);
    for (const auto& finished : planned.finished) {
        const auto& node = *finished.node;
        std::vector<const family::Value*> inputs;
        for (const std::size_t input : node.inputs) {
            inputs.push_back(&values[input]);
        }
        values[node.outputs.at(0).value()] = {node.step->output(),
                                              outcome.arrays.at(finished.outputs.at(0)), false};
        const auto checked = node.step->check(inputs, values[node.outputs.at(0).value()], 1);
        INFO(node.name << ": " << checked.sentence);
        CHECK(checked.passed);
        CHECK(checked.elements == node.step->output().elements());
    }
}

} // namespace

TEST_CASE("attention is products, a transpose and a softmax", "[kernels][rows]") {
    for (const std::int64_t length : {16, 19}) {
        for (const std::int64_t tiles : {4, 16}) {
            CAPTURE(length, tiles);
            Built built;
            const auto q = built.given("q", length, 9);
            const auto k = built.given("k", length, 9);
            const auto v = built.given("v", length, 7);
            const auto turned = built.step(views::transpose(), "k turned", {k});
            const auto scores = built.step(matmul::family(), "scores", {q, turned});
            const auto weights = built.step(softmax::family(), "weights", {scores});
            built.step(matmul::family(), "out", {weights, v});
            built.step(reduce::family(), "sums", {weights}, "sum");
            run_and_check(test::machine_of(tiles), built.pipeline);
        }
    }
}

TEST_CASE("columns are reduced as rows of the transpose", "[kernels][rows]") {
    Built built;
    const auto x = built.given("x", 13, 10);
    const auto p = built.step(softmax::family(), "p", {x});
    const auto turned = built.step(views::transpose(), "turned", {p});
    built.step(reduce::family(), "largest", {turned}, "max");
    built.step(views::transpose(), "back", {turned});
    run_and_check(test::machine_of(4), built.pipeline);
}

TEST_CASE("what is a view of a tensor cannot be there when that is written anew",
          "[kernels][pipeline]") {
    using Catch::Matchers::Contains;
    const auto machine = test::machine_of(4);
    SECTION("its own output") {
        Built built;
        const auto h = built.step(softmax::family(), "h", {built.given("x", 8, 8)});
        built.step(views::transpose(), "turn", {h});
        built.pipeline.steps.back().outputs = {h};
        CHECK_THROWS_WITH(pipeline::plan(machine, built.pipeline),
                          Contains("'turn' writes 'h' anew") &&
                              Contains("its own output is a view"));
    }
    SECTION("another tensor") {
        Built built;
        const auto h = built.step(softmax::family(), "h", {built.given("x", 8, 8)});
        built.step(views::transpose(), "turned", {h});
        built.step(softmax::family(), "again", {h});
        built.pipeline.steps.back().outputs = {h};
        CHECK_THROWS_WITH(pipeline::plan(machine, built.pipeline),
                          Contains("'again' writes 'h' anew") && Contains("'turned' is a view"));
    }
}
