// SPDX-License-Identifier: MIT
#include "base/error.h"
#include "base/float16.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/matmul/matmul.h"
#include "kernels/pipeline/pipeline.h"
#include "kernels/sparse/spmm.h"
#include "kernels/workload/reference.h"
#include "kernels/workload/values.h"
#include "tests/kernels/pipeline/pipeline_bench.h"
#include "tests/support/gc2.h"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

using namespace tessera;
using pipeline::Node;
using test::kInteger;
using test::run_and_check;
using test::small_machine;
using Built = test::PipelineBench;

namespace {

/// Why a pipeline is not planned on the small machine, with its place.
std::string refusal_of(const pipeline::Pipeline& pipeline) {
    try {
        static_cast<void>(pipeline::plan(small_machine(), pipeline));
    } catch (const ConfigError& error) {
        const Diagnostic& told = error.diagnostics().front();
        return told.pointer + ": " + told.message;
    }
    return {};
}

} // namespace

TEST_CASE("a product reads another one's result", "[kernels][pipeline]") {
    Built built;
    const auto x = built.tensor("x", 33, 20);
    const auto w = built.tensor("w", 20, 19);
    const auto v = built.tensor("v", 19, 7);
    built.made.steps.push_back(built.step(matmul::family(), "h", {x, w}));
    built.made.steps.push_back(
        built.step(matmul::family(), "y", {built.made.steps[0].outputs.at(0).value(), v}));
    run_and_check(small_machine(), built.made);
}

TEST_CASE("sparse and dense products follow each other", "[kernels][pipeline]") {
    const std::int64_t block = GENERATE(1, 16);
    Built built;
    const auto a = built.sparse("a", 50, 40, block);
    const auto x = built.tensor("x", 40, 21);
    const auto w = built.tensor("w", 21, 9);
    built.made.steps.push_back(built.step(sparse::family(), "h", {a, x}));
    built.made.steps.push_back(
        built.step(matmul::family(), "y", {built.made.steps[0].outputs.at(0).value(), w}));
    run_and_check(small_machine(), built.made);
}

TEST_CASE("a result is the right operand of the next product", "[kernels][pipeline]") {
    Built built;
    const auto x = built.tensor("x", 24, 18);
    const auto w = built.tensor("w", 18, 30);
    const auto v = built.tensor("v", 11, 24);
    built.made.steps.push_back(built.step(matmul::family(), "h", {x, w}));
    built.made.steps.push_back(
        built.step(matmul::family(), "y", {v, built.made.steps[0].outputs.at(0).value()}));
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
        planned.lowered.program.exchanges.begin(), planned.lowered.program.exchanges.end(),
        [](const program::Exchange& exchange) { return exchange.owner == "left | right"; }));

    built.made.steps[0].pointer = "/steps/0/parallel";
    CHECK(refusal_of(built.made).empty()); // 8 and 8 of 16
    built.made.steps[0].children[0].tiles = 9;
    CHECK(refusal_of(built.made) ==
          "/steps/0/parallel: got branches with 17 tiles together, expected "
          "at most the 16 that there are");
}

TEST_CASE("IO tiles are whole pairs and no more than half of the tiles, which steps do without",
          "[kernels][pipeline]") {
    Built built;
    const auto a = built.tensor("a", 64, 32);
    const auto b = built.tensor("b", 32, 64);
    built.made.steps.push_back(built.step(matmul::family(), "c", {a, b}));
    const auto expected = [](std::int64_t got) {
        return fmt::format("/io_tiles: got {} IO tiles, expected an even number up to 8 on machine "
                           "'bow' with its 16 tiles (chip.tiles)",
                           got);
    };
    for (const std::int64_t io_tiles : {0, 2, 8}) {
        CAPTURE(io_tiles);
        built.made.io_tiles = io_tiles;
        CHECK(refusal_of(built.made).empty());
        const auto planned = pipeline::plan(small_machine(), built.made);
        for (const auto& set : planned.lowered.program.compute_sets) {
            for (std::size_t tile = static_cast<std::size_t>(16 - io_tiles);
                 tile < set.tiles.size(); ++tile) {
                CHECK(set.tiles[tile].vertices.empty());
            }
        }
    }
    for (const std::int64_t io_tiles : {1, 7, 9, 10}) {
        built.made.io_tiles = io_tiles;
        CHECK(refusal_of(built.made) == expected(io_tiles));
    }
}

TEST_CASE("a product in a loop comes out the same in every round", "[kernels][pipeline]") {
    for (const auto& machine : {small_machine(), test::gc2_with(16)}) {
        for (const std::int64_t block : {0, 1, 4, 8, 16}) { // 0: dense
            Built built;
            const auto x = built.tensor("x", 64, 24);
            std::vector<Node> steps;
            if (block == 0) {
                const auto a = built.tensor("a", 48, 64);
                steps.push_back(built.step(matmul::family(), "y", {a, x}));
            } else {
                const auto a = built.sparse("a", 48, 64, block);
                steps.push_back(built.step(sparse::family(), "y", {a, x}));
            }
            auto loop = Built::around(Node::Kind::Repeat, std::move(steps));
            loop.repeats = 3;
            built.made.steps.push_back(std::move(loop));
            CAPTURE(block, machine.chip.generation == spec::Generation::Ipu1);
            run_and_check(machine, built.made);
        }
    }
}

TEST_CASE("a tensor that is written anew stands where it was", "[kernels][pipeline]") {
    Built built;
    const auto a = built.sparse("a", 30, 30, 1);
    const auto x = built.tensor("x", 30, 12);
    std::vector<Node> steps;
    steps.push_back(built.step(sparse::family(), "next", {a, x}, x));
    built.made.tensors[x].wanted = true;
    auto loop = Built::around(Node::Kind::Repeat, std::move(steps));
    loop.repeats = 2;
    built.made.steps.push_back(std::move(loop));
    const auto machine = small_machine();
    const auto planned = pipeline::plan(machine, built.made);
    REQUIRE(planned.writes.size() == 2);

    // twice by hand
    const auto& matrix =
        static_cast<const workload::SparseF16&>(*built.made.tensors[a].type.sparse);
    workload::DenseF16 once{30, 12, std::vector<std::uint16_t>(30 * 12, f32_to_f16(1.0F))};
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    const auto bytes_of_halves = [](const std::vector<std::uint16_t>& halves) {
        const auto bytes = std::as_bytes(std::span(halves));
        return std::vector<std::byte>(bytes.begin(), bytes.end());
    };
    for (const auto& write : planned.writes) {
        writes[write.array] = bytes_of_halves(write.tensor == a ? matrix.values : once.values);
    }
    const auto outcome = test::run_program(machine, planned.lowered.program, writes);
    for (int round = 0; round < 2; ++round) {
        const auto products = workload::reference(matrix, once).products;
        std::transform(products.begin(), products.end(), once.values.begin(),
                       [](double value) { return f32_to_f16(static_cast<float>(value)); });
    }
    program::ArrayId standing;
    for (const auto& write : planned.writes) {
        standing = write.tensor == x ? write.array : standing;
    }
    CHECK(outcome.arrays.at(standing) == bytes_of_halves(once.values));
    // and as the last step has made it, for those who ask for the answer
    const program::ArrayId answer = planned.results.at(0).array;
    CHECK(planned.results.size() == 1);
    CHECK(answer != standing);
    CHECK(planned.lowered.program.tensors.at(answer.index).kept);
    CHECK(outcome.arrays.at(answer) == bytes_of_halves(once.values));
}

TEST_CASE("an input in rows over all tiles is rearranged by its reader", "[kernels][pipeline]") {
    Built built;
    const auto x = built.tensor("x", 33, 21);
    const auto w = built.tensor("w", 21, 10);
    built.made.tensors[x].row_major = true;
    built.made.steps.push_back(built.step(matmul::family(), "y", {x, w}));
    run_and_check(small_machine(), built.made);
    const auto planned = pipeline::plan(small_machine(), built.made);
    CHECK(std::any_of(planned.lowered.program.exchanges.begin(),
                      planned.lowered.program.exchanges.end(),
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
    built.made.steps.push_back(
        built.step(matmul::family(), "y", {built.made.steps[0].outputs.at(0).value(), v}));
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
    steps.push_back(
        built.step(elementwise::bias(), "sum", {steps.back().outputs.at(0).value(), b}));
    steps.push_back(built.step(elementwise::gelu(), "h", {steps.back().outputs.at(0).value()}));
    steps.push_back(
        built.step(elementwise::add(), "twice",
                   {steps.back().outputs.at(0).value(), steps.back().outputs.at(0).value()}));
    steps.push_back(
        built.step(elementwise::multiply(), "squares",
                   {steps.back().outputs.at(0).value(), steps[0].outputs.at(0).value()}));
    steps.push_back(built.step(elementwise::relu(), "y", {steps.back().outputs.at(0).value()}));
    steps.push_back(built.step(matmul::family(), "z", {steps.back().outputs.at(0).value(), v}));
    run_and_check(small_machine(), built.made);
    // only the bias, and what the products want, is brought
    const auto planned = pipeline::plan(small_machine(), built.made);
    CHECK(planned.lowered.program.exchanges.size() <= 4);
}

TEST_CASE("a pipeline is tried with four budgets, and has the largest that fits",
          "[kernels][pipeline]") {
    constexpr double kNext = 0.85;
    auto machine = small_machine();
    machine.chip.tiles = 4;
    machine.memory.region0_bytes /= 4;
    machine.memory.region1_bytes /= 4;
    const auto budget_of = [&](std::int64_t n) -> double {
        Built built;
        const auto x = built.tensor("x", 128, n);
        const auto w = built.tensor("w", n, n / 2);
        const auto v = built.tensor("v", n / 2, 128);
        auto& steps = built.made.steps;
        steps.push_back(built.step(matmul::family(), "h", {x, w}));
        steps.push_back(built.step(matmul::family(), "y", {steps[0].outputs.at(0).value(), v}));
        return pipeline::plan(machine, built.made).budget;
    };
    CHECK(budget_of(288) == 1);
    CHECK(budget_of(296) == kNext);
    CHECK(budget_of(304) == kNext);
    CHECK_THROWS_AS(budget_of(448), DoesNotFit);
}

namespace {

/// A step that fits when it is tried for the `fits_at`-th time.
class Hungry final : public family::Step {
public:
    explicit Hungry(std::size_t fits_at) : fits_at_(fits_at) {}
    [[nodiscard]] std::vector<family::TensorType> outputs() const override {
        return {{ElementType::F16, {4, 4}}};
    }
    [[nodiscard]] family::Emitted
    emit(graph::Graph& graph, const family::Site& site,
         std::span<const std::optional<graph::TensorId>> /*where*/) override {
        tried.push_back(site.machine.memory);
        known_bytes = site.known.bytes();
        if (tried.size() < fits_at_) {
            throw DoesNotFit("too hungry");
        }
        const auto buffer = graph.add_buffer({.name = "y"});
        graph.hold(buffer, 0, 32);
        auto y = graph::array_tensor("y", ElementType::F16, 16);
        y.shape = {4, 4};
        y.pieces.push_back(graph::run_of(0, {buffer}, 0, 16, ElementType::F16));
        return {{}, {graph.add_tensor(std::move(y))}, graph::sequence({})};
    }
    [[nodiscard]] family::Checked check(std::span<const family::Value* const> /*inputs*/,
                                        std::span<const family::Value> /*outputs*/,
                                        int /*threads*/) const override {
        return {};
    }
    [[nodiscard]] double flops() const override { return 0; }

    std::vector<spec::MemorySpec> tried;
    std::size_t known_bytes = 0; ///< of schedules, when it was tried last

private:
    std::size_t fits_at_;
};

} // namespace

TEST_CASE("each try has a smaller share of both regions, in whole pairs of elements",
          "[kernels][pipeline]") {
    constexpr double kNext = 0.85;
    constexpr std::size_t kTries = 4;
    const auto machine = small_machine();
    const spec::MemorySpec& memory = machine.memory;
    for (std::size_t enough = 1; enough <= kTries + 1; ++enough) {
        CAPTURE(enough);
        pipeline::Pipeline made{"hungry", {{.name = "y", .type = {ElementType::F16, {4, 4}}}}, {}};
        auto step = std::make_unique<Hungry>(enough);
        const Hungry& hungry = *step;
        made.steps.emplace_back();
        made.steps[0].name = "y";
        made.steps[0].outputs = {0};
        made.steps[0].step = std::move(step);
        if (enough > kTries) {
            CHECK_THROWS_WITH(pipeline::plan(machine, made), "too hungry");
        } else {
            CHECK(pipeline::plan(machine, made).budget ==
                  Approx(std::pow(kNext, static_cast<double>(enough) - 1)));
        }
        REQUIRE(hungry.tried.size() == std::min(enough, kTries));
        const auto near_share = [&](Bytes got, Bytes of, double share) {
            const Bytes pair = 2 * memory.element_bytes;
            CHECK(got % pair == 0);
            CHECK(static_cast<double>(got) <= share * static_cast<double>(of));
            CHECK(static_cast<double>(got + pair) > share * static_cast<double>(of));
        };
        CHECK(hungry.tried[0].region0_bytes == memory.region0_bytes);
        CHECK(hungry.tried[0].region1_bytes == memory.region1_bytes);
        for (std::size_t i = 1; i < hungry.tried.size(); ++i) {
            const double share = std::pow(kNext, static_cast<double>(i));
            near_share(hungry.tried[i].region0_bytes, memory.region0_bytes, share);
            near_share(hungry.tried[i].region1_bytes, memory.region1_bytes, share);
        }
    }
}

TEST_CASE("a step's search knows the schedules of those before it", "[kernels][pipeline]") {
    Built built;
    const auto a = built.sparse("a", 256, 256, 16);
    const auto x = built.tensor("x", 256, 64);
    auto step = std::make_unique<Hungry>(1);
    const Hungry& last = *step;
    built.made.steps.push_back(built.step(sparse::family(), "h", {a, x}));
    built.made.tensors.push_back({.name = "y", .type = {ElementType::F16, {4, 4}}});
    built.made.steps.emplace_back();
    built.made.steps[1].name = "y";
    built.made.steps[1].step = std::move(step);
    built.made.steps[1].outputs = {built.made.tensors.size() - 1};
    static_cast<void>(pipeline::plan(small_machine(), built.made));
    CHECK(last.known_bytes > 0);
}
