// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul.h"
#include "kernels/pipeline/pipeline.h"
#include "kernels/sparse/spmm.h"
#include "kernels/workload/values.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <cstring>

namespace {

using namespace tessera;
using pipeline::Node;

spec::MachineSpec small_machine() {
    spec::MachineSpec machine;
    machine.chip.tiles = 16;
    return machine;
}

constexpr auto kInteger = workload::ValuesSpec::Kind::Integer;

/// A pipeline that a test puts together, with values of its tensors.
class Built {
public:
    std::size_t tensor(const std::string& name, std::int64_t rows, std::int64_t columns) {
        return add(name, {ElementType::F16, {rows, columns}}, true);
    }
    std::size_t sparse(const std::string& name, std::int64_t rows, std::int64_t columns,
                       std::int64_t block) {
        workload::SpmmWorkload workload;
        workload.m = rows;
        workload.k = columns;
        workload.n = 1;
        workload.block = block;
        workload.pattern.density = 0.3;
        workload.values.kind = kInteger;
        return add(name,
                   {ElementType::F16,
                    {rows, columns},
                    std::make_shared<const workload::SparseF16>(workload::make_sparse(workload))},
                   true);
    }
    Node step(const family::Family& family, const std::string& output,
              std::vector<std::size_t> inputs, std::optional<std::size_t> into = {}) {
        family::Request request;
        for (const std::size_t input : inputs) {
            request.inputs.push_back(made.tensors[input].type);
        }
        Node node;
        node.name = output;
        node.family = &family;
        node.step = family.make(request);
        node.inputs = std::move(inputs);
        node.output = into ? *into : add(output, node.step->output(), false);
        return node;
    }
    static Node around(Node::Kind kind, std::vector<Node> children) {
        Node node;
        node.kind = kind;
        node.children = std::move(children);
        return node;
    }

    pipeline::Pipeline made{"test", {}, {}};

private:
    std::size_t add(const std::string& name, family::TensorType type, bool given) {
        made.tensors.push_back(
            {.name = name, .type = std::move(type), .given = given, .wanted = !given});
        return made.tensors.size() - 1;
    }
};

/// Runs the pipeline on small whole numbers and checks every step against its family's reference.
void run_and_check(const spec::MachineSpec& machine, const pipeline::Pipeline& pipeline) {
    const auto planned = pipeline::plan(machine, pipeline);
    CHECK(test::faults_of(machine, planned.program).empty());
    std::vector<family::Value> values(pipeline.tensors.size());
    std::map<std::string, std::vector<std::byte>> writes;
    for (const auto& write : planned.writes) {
        const auto& type = pipeline.tensors[write.tensor].type;
        auto& value = values[write.tensor];
        value.type = type;
        std::vector<std::uint16_t> halves;
        if (type.sparse != nullptr) {
            halves = type.sparse->values;
        } else {
            const workload::ValuesSpec integer{.kind = kInteger, .path = {}};
            halves = workload::make_dense(type.shape[0], type.shape[1], integer, 7 + write.tensor,
                                          workload::Operand::B, 2048)
                         .values;
        }
        value.whole_numbers = true;
        value.bytes.resize(halves.size() * 2);
        std::memcpy(value.bytes.data(), halves.data(), value.bytes.size());
        writes[write.standing_as] = value.bytes;
    }
    const auto outcome = test::run_program(machine, planned.program, writes);
    for (const auto& finished : planned.finished) {
        std::vector<const family::Value*> inputs;
        for (const std::size_t input : finished.node->inputs) {
            inputs.push_back(&values[input]);
        }
        family::Value& output = values[finished.node->output];
        output.type = pipeline.tensors[finished.node->output].type;
        output.bytes = outcome.tensors.at(finished.standing_as);
        const auto checked = finished.node->step->check(inputs, output, 1);
        INFO(finished.node->name << ": " << checked.sentence);
        CHECK(checked.passed);
    }
}

} // namespace

TEST_CASE("a product reads another one's result", "[kernels][pipeline]") {
    Built built;
    const auto x = built.tensor("x", 33, 20);
    const auto w = built.tensor("w", 20, 19);
    const auto v = built.tensor("v", 19, 7);
    built.made.steps.push_back(built.step(matmul::family(), "h", {x, w}));
    built.made.steps.push_back(built.step(matmul::family(), "y", {built.made.steps[0].output, v}));
    run_and_check(small_machine(), built.made);
}

TEST_CASE("sparse and dense products follow each other", "[kernels][pipeline]") {
    const std::int64_t block = GENERATE(1, 16);
    Built built;
    const auto a = built.sparse("a", 50, 40, block);
    const auto x = built.tensor("x", 40, 21);
    const auto w = built.tensor("w", 21, 9);
    built.made.steps.push_back(built.step(spmm::family(), "h", {a, x}));
    built.made.steps.push_back(built.step(matmul::family(), "y", {built.made.steps[0].output, w}));
    run_and_check(small_machine(), built.made);
}

TEST_CASE("a result is the right operand of the next product", "[kernels][pipeline]") {
    Built built;
    const auto x = built.tensor("x", 24, 18);
    const auto w = built.tensor("w", 18, 30);
    const auto v = built.tensor("v", 11, 24);
    built.made.steps.push_back(built.step(matmul::family(), "h", {x, w}));
    built.made.steps.push_back(built.step(matmul::family(), "y", {v, built.made.steps[0].output}));
    run_and_check(small_machine(), built.made);
}
