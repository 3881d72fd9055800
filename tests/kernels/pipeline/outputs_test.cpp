// SPDX-License-Identifier: MIT
// Steps with several outputs, outputs that are inputs, and what a repeat does not change.
#include "base/error.h"
#include "kernels/catalog/resolve.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/matmul/matmul.h"
#include "kernels/pipeline/pipeline.h"
#include "kernels/sparse/spmm.h"
#include "tests/kernels/pipeline/pipeline_bench.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace tessera;
using pipeline::Node;
using test::run_and_check;
using test::small_machine;
using Built = test::PipelineBench;

namespace {

/// Its input, and the input once more in buffers of its own.
class Twice final : public family::Step {
public:
    explicit Twice(family::TensorType x) : x_(std::move(x)) {}
    [[nodiscard]] std::vector<family::TensorType> outputs() const override { return {x_, x_}; }
    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> where) override {
        family::Request request{{x_}, {{"factor", 1.0}}};
        auto first = elementwise::scale().make(request)->emit(graph, site, where);
        const auto again = elementwise::scale().make(request)->emit(
            graph, site, std::vector{std::optional(first.outputs[0])});
        return {first.inputs,
                {first.outputs[0], again.outputs[0]},
                graph::sequence({first.steps, again.steps})};
    }
    [[nodiscard]] family::Checked check(std::span<const family::Value* const> inputs,
                                        std::span<const family::Value> outputs,
                                        int /*threads*/) const override {
        family::Checked checked;
        checked.passed = std::ranges::all_of(
            outputs, [&](const family::Value& output) { return output.bytes == inputs[0]->bytes; });
        return checked;
    }
    [[nodiscard]] double flops() const override { return 0; }

private:
    family::TensorType x_;
};

const family::Family& twice() {
    static const family::Family family{
        .name = "twice",
        .says = "x, and x",
        .inputs = {"x"},
        .options = {},
        .make = [](const family::Request& request) -> std::unique_ptr<family::Step> {
            return std::make_unique<Twice>(request.inputs[0]);
        },
        .outputs = {"first", "second"}};
    return family;
}

std::size_t exchanges_and_sets_of(const pipeline::Planned& planned, program::Role role) {
    const auto has_role = [&](const auto& one) { return one.role == role; };
    const auto& program = planned.lowered.program;
    return static_cast<std::size_t>(std::ranges::count_if(program.compute_sets, has_role) +
                                    std::ranges::count_if(program.exchanges, has_role));
}

/// Steps of the role inside a repeat.
std::size_t in_repeats(const program::Program& program, const program::Step& step,
                       program::Role role, bool is_inside = false) {
    std::size_t count = 0;
    if (step.kind == program::Step::Kind::ComputeSet) {
        count += is_inside && program.compute_sets[step.index].role == role ? 1 : 0;
    } else if (step.kind == program::Step::Kind::Exchange) {
        count += is_inside && program.exchanges[step.index].role == role ? 1 : 0;
    }
    for (const program::Step& child : step.children) {
        count +=
            in_repeats(program, child, role, is_inside || step.kind == program::Step::Kind::Repeat);
    }
    return count;
}

/// What the program leaves of the pipeline's only result, of whole numbers in all that is given.
std::vector<std::byte> left_of(const pipeline::Pipeline& pipeline) {
    const auto planned = pipeline::plan(small_machine(), pipeline);
    CHECK(test::faults_of(small_machine(), planned.lowered.program).empty());
    REQUIRE(planned.results.size() == 1);
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    for (const auto& write : planned.writes) {
        const auto& type = pipeline.tensors[write.tensor].type;
        std::vector<std::byte>& bytes = writes[write.array];
        for (std::int64_t i = 0; i < type.stored_elements(); ++i) {
            const std::uint16_t half = f32_to_f16(
                static_cast<float>((i * i + static_cast<std::int64_t>(write.tensor)) % 5 - 2));
            bytes.push_back(static_cast<std::byte>(half & 0xffU));
            bytes.push_back(static_cast<std::byte>(half >> 8U));
        }
    }
    return test::run_program(small_machine(), planned.lowered.program, writes)
        .arrays.at(planned.results[0].array);
}

pipeline::Pipeline repeated(Built built, std::vector<Node> steps, std::int64_t repeats) {
    auto loop = Built::around(Node::Kind::Repeat, std::move(steps));
    loop.repeats = repeats;
    built.made.steps.push_back(std::move(loop));
    return std::move(built.made);
}

} // namespace

TEST_CASE("a step may have several outputs, of which some are unwanted", "[kernels][pipeline]") {
    for (const bool wants_first : {true, false}) {
        for (const bool wants_second : {true, false}) {
            CAPTURE(wants_first, wants_second);
            Built built;
            const auto x = built.tensor("x", 12, 20);
            Node node = built.step(twice(), "first", {x});
            built.made.tensors.push_back({.name = "second", .type = node.step->outputs()[1]});
            node.outputs.emplace_back(built.made.tensors.size() - 1);
            if (!wants_first) {
                node.outputs[0].reset();
            }
            if (!wants_second) {
                node.outputs[1].reset();
            }
            built.made.steps.push_back(std::move(node));
            run_and_check(small_machine(), built.made);
            const auto planned = pipeline::plan(small_machine(), built.made);
            CHECK(planned.finished.at(0).outputs.size() == 2);
            const auto is_result = [&](std::size_t tensor) {
                return std::ranges::any_of(planned.results, [&](const pipeline::Standing& one) {
                    return one.tensor == tensor;
                });
            };
            CHECK(is_result(1) == wants_first);
            CHECK(is_result(2) == wants_second);
        }
    }
}

TEST_CASE("a file names several outputs in a list, and null for one that nobody wants",
          "[kernels][pipeline]") {
    const std::vector<const family::Family*> families{&twice(), &elementwise::add()};
    workload::PipelineWorkload told;
    told.tensors.emplace_back();
    told.tensors[0].name = "x";
    told.tensors[0].shape = {8, 8};
    auto& step = told.steps.emplace_back();
    step.family = "twice";
    step.inputs = {"x"};
    step.outputs = {"", "y"};
    const auto resolved = catalog::resolve(told, families);
    REQUIRE(resolved.mistakes.empty());
    const Node& node = resolved.pipeline.steps.at(0);
    CHECK(node.name == "y");
    CHECK_FALSE(node.outputs.at(0));
    CHECK(resolved.pipeline.tensors.at(node.outputs.at(1).value()).name == "y");
    step.outputs = {"y", "y"};
    const auto again = catalog::resolve(told, families);
    REQUIRE(again.mistakes.size() == 1);
    CHECK(again.mistakes[0].pointer == "/steps/0/outputs/1");
    CHECK(again.mistakes[0].message == "got 'y' again, expected each name once");
}

TEST_CASE("an output that is an input is written where that stands, without a copy",
          "[kernels][pipeline]") {
    for (const bool is_second : {false, true}) {
        Built built;
        const auto w = built.tensor("w", 16, 32);
        const auto d = built.tensor("d", 16, 32);
        auto inputs = is_second ? std::vector{d, w} : std::vector{w, d};
        std::vector<Node> steps;
        steps.push_back(built.step(elementwise::add(), "update", std::move(inputs), w));
        auto loop = Built::around(Node::Kind::Repeat, std::move(steps));
        loop.repeats = 3;
        built.made.steps.push_back(std::move(loop));
        const auto planned = pipeline::plan(small_machine(), built.made);
        CHECK(exchanges_and_sets_of(planned, program::Role::Rearrange) == 0);
        REQUIRE(planned.results.size() == 1);
        for (const auto& write : planned.writes) {
            CHECK((write.array == planned.results[0].array) == (write.tensor == w));
        }
    }
}

TEST_CASE("a product is added to a tensor where that stands, in every round",
          "[kernels][pipeline]") {
    for (const std::int64_t block : {0, 1, 4, 16}) { // 0: dense
        for (const char* plan : {"fastest", "published"}) {
            const auto rounds = [&](std::int64_t repeats) {
                Built built;
                const auto a =
                    block == 0 ? built.tensor("a", 48, 32) : built.sparse("a", 48, 32, block);
                const auto b = built.tensor("b", 32, 16);
                const auto c = built.tensor("c", 48, 16);
                std::vector<Node> steps;
                steps.push_back(built.step(block == 0 ? matmul::family() : sparse::family(), "sum",
                                           {a, b, c}, c,
                                           {{"accumulate", true}, {"plan", std::string(plan)}}));
                return repeated(std::move(built), std::move(steps), repeats);
            };
            CAPTURE(block, plan);
            const auto planned = pipeline::plan(small_machine(), rounds(3));
            CHECK(exchanges_and_sets_of(planned, program::Role::Rearrange) == 0);
            const auto one = left_of(rounds(1));
            const auto two = left_of(rounds(2));
            const auto three = left_of(rounds(3));
            const auto number = [](const std::vector<std::byte>& bytes, std::size_t at) {
                return f16_to_f32(
                    static_cast<std::uint16_t>(std::to_integer<unsigned>(bytes[at]) |
                                               std::to_integer<unsigned>(bytes[at + 1]) << 8U));
            };
            int changed = 0;
            for (std::size_t at = 0; at < one.size(); at += 2) {
                const float product = number(two, at) - number(one, at);
                CHECK(number(three, at) - number(two, at) == product);
                changed += product != 0 ? 1 : 0;
            }
            CHECK(changed > 0);
        }
    }
}

TEST_CASE("a sparse operand may be given as its transpose", "[kernels][pipeline]") {
    for (const std::int64_t block : {1, 4, 8, 16}) {
        for (const char* plan : {"fastest", "published"}) {
            Built built;
            const auto a = built.sparse("a", 70, 50, block);
            const auto b = built.tensor("b", 70, 24);
            built.made.steps.push_back(
                built.step(sparse::family(), "c", {a, b}, {},
                           {{"transpose_a", true}, {"plan", std::string(plan)}}));
            CAPTURE(block, plan);
            CHECK(built.made.tensors.back().type.shape == std::vector<std::int64_t>{50, 24});
            run_and_check(small_machine(), built.made);
        }
    }
}

TEST_CASE("rows in which nothing is multiplied are zero again, whatever was written over them",
          "[kernels][pipeline]") {
    for (const std::int64_t block : {1, 8, 16}) {
        for (const char* plan : {"fastest", "published"}) {
            for (const bool by_product : {false, true}) {
                const auto rounds = [&](std::int64_t repeats) {
                    Built built;
                    const auto a = built.sparse("a", 128, 16, block);
                    const auto b = built.tensor("b", 16, 16);
                    const auto d = built.tensor("d", 128, 16);
                    std::vector<Node> steps;
                    steps.push_back(built.step(sparse::family(), "c", {a, b}, {},
                                               {{"plan", std::string(plan)}}));
                    const std::size_t c = built.made.tensors.size() - 1;
                    steps.push_back(by_product ? built.step(matmul::family(), "more", {d, b, c}, c,
                                                            {{"accumulate", true}})
                                               : built.step(elementwise::add(), "more", {c, d}, c));
                    return repeated(std::move(built), std::move(steps), repeats);
                };
                CAPTURE(block, plan, by_product);
                CHECK(left_of(rounds(3)) == left_of(rounds(1)));
            }
        }
    }
}

TEST_CASE("what a repeat does not change is brought before it, if there is memory",
          "[kernels][pipeline]") {
    Built built;
    const auto x = built.tensor("x", 128, 256);
    std::vector<Node> steps;
    for (const std::string name : {"w", "v"}) {
        const auto w = built.tensor(name, 256, 128);
        built.made.tensors[w].row_major = true;
        steps.push_back(built.step(matmul::family(), name + " x", {x, w}));
    }
    auto loop = Built::around(Node::Kind::Repeat, std::move(steps));
    loop.repeats = 3;
    built.made.steps.push_back(std::move(loop));
    run_and_check(small_machine(), built.made);
    const auto in_loop = [](const pipeline::Planned& planned) {
        const auto& program = planned.lowered.program;
        return in_repeats(program, program.control, program::Role::Rearrange);
    };
    const auto planned = pipeline::plan(small_machine(), built.made);
    CHECK(exchanges_and_sets_of(planned, program::Role::Rearrange) > 0);
    CHECK(in_loop(planned) == 0);

    constexpr Bytes kStep = 1024;
    auto least = small_machine(); // in which the pipeline fits
    least.memory.region0_bytes = least.memory.region1_bytes = 8 * kStep;
    std::optional<pipeline::Planned> tight;
    while (!tight) {
        try {
            tight = pipeline::plan(least, built.made);
        } catch (const DoesNotFit&) {
            least.memory.region0_bytes += kStep;
            least.memory.region1_bytes += kStep;
        }
    }
    CHECK(in_loop(*tight) > 0);
    run_and_check(least, built.made);
}

TEST_CASE("two products with one sparse matrix hold it once", "[kernels][pipeline]") {
    for (const std::int64_t block : {1, 4, 8, 16}) {
        for (const std::int64_t columns : {8, 24}) {
            CAPTURE(block, columns);
            Built built;
            const auto a = built.sparse("a", 64, 64, block);
            const auto x = built.tensor("x", 64, 8);
            const auto other = built.tensor("other", 64, columns);
            built.made.steps.push_back(built.step(sparse::family(), "y", {a, x}));
            built.made.steps.push_back(built.step(sparse::family(), "z", {a, other}));
            run_and_check(small_machine(), built.made);
            const auto planned = pipeline::plan(small_machine(), built.made);
            const auto copies = std::ranges::count(planned.writes, a, &pipeline::Standing::tensor);
            CHECK(copies <= 2);
            if (columns == 8) { // and planned alike
                CHECK(copies == 1);
            }
        }
    }
}

TEST_CASE("a sparse matrix is an ordinary tensor beside its pattern", "[kernels][pipeline]") {
    for (const std::int64_t block : {1, 4, 8, 16}) {
        CAPTURE(block);
        Built built;
        const auto a = built.sparse("a", 64, 48, block);
        const auto x = built.tensor("x", 48, 8);
        built.made.steps.push_back(built.step(elementwise::add(), "twice", {a, a}));
        const auto twice_a = built.made.steps.back().outputs.at(0).value();
        CHECK(built.made.tensors[twice_a].type.sparse == built.made.tensors[a].type.sparse);
        built.made.steps.push_back(built.step(elementwise::multiply(), "squares", {a, twice_a}));
        built.made.steps.push_back(
            built.step(sparse::family(), "y", {built.made.steps.back().outputs.at(0).value(), x}));
        run_and_check(small_machine(), built.made);
        CHECK(exchanges_and_sets_of(pipeline::plan(small_machine(), built.made),
                                    program::Role::Rearrange) > 0);
        const auto other = built.sparse("other", 64, 48, block);
        CHECK_THROWS_AS(built.step(elementwise::add(), "sum", {a, other}), family::Refused);
        CHECK_THROWS_AS(built.step(elementwise::add(), "sum", {a, x}), family::Refused);
    }
}
