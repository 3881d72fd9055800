// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "base/float16.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/matmul/matmul.h"
#include "kernels/pipeline/pipeline.h"
#include "kernels/sparse/spmm.h"
#include "kernels/workload/reference.h"
#include "kernels/workload/values.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <algorithm>
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

TEST_CASE("two products on disjoint tiles share their supersteps", "[kernels][pipeline]") {
    Built built;
    const auto a = built.tensor("a", 32, 32);
    const auto b = built.tensor("b", 32, 32);
    const auto c = built.tensor("c", 20, 50);
    const auto d = built.tensor("d", 50, 17);
    std::vector<Node> branches;
    for (const auto& [name, left, right] : {std::tuple("left", a, b), std::tuple("right", c, d)}) {
        std::vector<Node> steps;
        steps.push_back(built.step(matmul::family(), name, {left, right}));
        branches.push_back(Built::around(Node::Kind::Branch, std::move(steps)));
        branches.back().tiles = 8;
    }
    built.made.steps.push_back(Built::around(Node::Kind::Parallel, std::move(branches)));
    const auto machine = small_machine();
    run_and_check(machine, built.made);
    const auto planned = pipeline::plan(machine, built.made);
    CHECK(std::any_of(
        planned.program.exchanges.begin(), planned.program.exchanges.end(),
        [](const program::Exchange& exchange) { return exchange.owner == "left | right"; }));

    built.made.steps[0].children[0].tiles = 10;
    CHECK_THROWS_AS(pipeline::plan(machine, built.made), ConfigError);
}

TEST_CASE("a tensor that is written anew stands where it was", "[kernels][pipeline]") {
    Built built;
    const auto a = built.sparse("a", 30, 30, 1);
    const auto x = built.tensor("x", 30, 12);
    std::vector<Node> steps;
    steps.push_back(built.step(spmm::family(), "next", {a, x}, x));
    built.made.tensors[x].wanted = true;
    auto loop = Built::around(Node::Kind::Repeat, std::move(steps));
    loop.repeats = 2;
    built.made.steps.push_back(std::move(loop));
    const auto machine = small_machine();
    const auto planned = pipeline::plan(machine, built.made);
    REQUIRE(planned.writes.size() == 2);

    // twice by hand
    const auto& matrix = *built.made.tensors[a].type.sparse;
    workload::DenseF16 once{30, 12, std::vector<std::uint16_t>(30 * 12, f32_to_f16(1.0F))};
    std::map<std::string, std::vector<std::byte>> writes;
    const auto bytes_of_halves = [](const std::vector<std::uint16_t>& halves) {
        const auto bytes = std::as_bytes(std::span(halves));
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
    for (const auto& write : planned.writes) {
        writes[write.standing_as] =
            bytes_of_halves(write.tensor == a ? matrix.values : once.values);
    }
    const auto outcome = test::run_program(machine, planned.program, writes);
    for (int round = 0; round < 2; ++round) {
        const auto products = workload::reference(matrix, once).products;
        std::transform(products.begin(), products.end(), once.values.begin(),
                       [](double value) { return f32_to_f16(static_cast<float>(value)); });
    }
    std::string standing;
    for (const auto& write : planned.writes) {
        standing = write.tensor == x ? write.standing_as : standing;
    }
    CHECK(outcome.tensors.at(standing) == bytes_of_halves(once.values));
}

TEST_CASE("an input in rows over all tiles is rearranged by its reader", "[kernels][pipeline]") {
    Built built;
    const auto x = built.tensor("x", 33, 21);
    const auto w = built.tensor("w", 21, 10);
    built.made.tensors[x].row_major = true;
    built.made.steps.push_back(built.step(matmul::family(), "y", {x, w}));
    run_and_check(small_machine(), built.made);
    const auto planned = pipeline::plan(small_machine(), built.made);
    CHECK(std::any_of(planned.program.exchanges.begin(), planned.program.exchanges.end(),
                      [](const program::Exchange& exchange) {
                          return exchange.role == program::Role::Rearrange && exchange.owner == "y";
                      }));
}

TEST_CASE("steps that do not fit together are divided for less memory", "[kernels][pipeline]") {
    Built built;
    auto machine = small_machine();
    machine.chip.tiles = 4;
    const auto x = built.tensor("x", 256, 512);
    const auto w = built.tensor("w", 512, 512);
    const auto v = built.tensor("v", 512, 256);
    built.made.steps.push_back(built.step(matmul::family(), "h", {x, w}));
    built.made.steps.push_back(built.step(matmul::family(), "y", {built.made.steps[0].output, v}));
    run_and_check(machine, built.made);
    Built large;
    const auto p = large.tensor("p", 4096, 4096);
    large.made.steps.push_back(large.step(matmul::family(), "q", {p, p}));
    CHECK_THROWS_AS(pipeline::plan(machine, large.made), DoesNotFit);
}

TEST_CASE("functions of elements stand where a product left its result", "[kernels][pipeline]") {
    Built built;
    const auto x = built.tensor("x", 33, 20);
    const auto w = built.tensor("w", 20, 19);
    const auto b = built.tensor("b", 1, 19);
    const auto v = built.tensor("v", 19, 7);
    auto& steps = built.made.steps;
    steps.push_back(built.step(matmul::family(), "product", {x, w}));
    steps.push_back(built.step(elementwise::bias(), "sum", {steps.back().output, b}));
    steps.push_back(built.step(elementwise::gelu(), "h", {steps.back().output}));
    steps.push_back(
        built.step(elementwise::add(), "twice", {steps.back().output, steps.back().output}));
    steps.push_back(
        built.step(elementwise::multiply(), "squares", {steps.back().output, steps[0].output}));
    steps.push_back(built.step(elementwise::relu(), "y", {steps.back().output}));
    steps.push_back(built.step(matmul::family(), "z", {steps.back().output, v}));
    run_and_check(small_machine(), built.made);
    // only the bias, and what the products want, is brought
    const auto planned = pipeline::plan(small_machine(), built.made);
    CHECK(planned.program.exchanges.size() <= 4);
}
