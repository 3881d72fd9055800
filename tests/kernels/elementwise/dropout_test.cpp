// SPDX-License-Identifier: MIT
// Dropout: the draws of an element follow from its number, wherever it stands, and are random enough.
#include "kernels/codelets/elementwise_cost.h"
#include "kernels/elementwise/draws.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/plan/vertex_cost.h"
#include "tests/kernels/codelets/codelet_bench.h"
#include "tests/kernels/elementwise/elementwise_bench.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace {

using namespace tessera;
using elementwise::Draws;
using family::Request;
using test::Stand;

constexpr ElementType kTypes[] = {ElementType::F16, ElementType::F32};
constexpr double kStandardErrors = 4;

Request request_of(const family::TensorType& x, double rate, double seed, bool has_step = false) {
    Request request{{x}, {{"rate", rate}, {"seed", seed}}};
    if (has_step) {
        request.inputs.push_back({ElementType::U32, {1}});
    }
    return request;
}

test::StepRun run(const family::TensorType& x, Stand stand, double rate, double seed,
                  const std::vector<double>& step = {}, std::int64_t workers = 6) {
    const Request request = request_of(x, rate, seed, !step.empty());
    std::vector<family::Value> values{test::random_value(x, 1)};
    std::vector<Stand> stands{stand};
    if (!step.empty()) {
        values.push_back(
            test::value_of(request.inputs[1], [&](std::int64_t) { return step.front(); }));
        stands.push_back(Stand::Host);
    }
    spec::MachineSpec machine;
    machine.tile.workers = workers;
    return test::run_step(elementwise::dropout(), request, stands, values, machine);
}

std::string refusal(const Request& request) {
    try {
        static_cast<void>(elementwise::dropout().make(request));
    } catch (const family::Refused& refused) {
        return std::to_string(refused.input) + refused.option + ": " + refused.what();
    }
    return "taken";
}

/// Drawn numbers of mean 0 and deviation 1: of elements from `first` on.
std::vector<double> normalised(const Draws& draws, std::uint32_t step, std::int64_t elements) {
    const double share = static_cast<double>(draws.keep) / Draws::kAll;
    std::vector<double> out;
    for (std::int64_t i = 0; i < elements; ++i) {
        out.push_back(((draws.keeps(i, step) ? 1 : 0) - share) / std::sqrt(share * (1 - share)));
    }
    return out;
}

/// The sum of a[i] b[i + lag], by its deviation where they have nothing to do with each other.
double correlation(const std::vector<double>& a, const std::vector<double>& b, std::size_t lag) {
    double sum = 0;
    for (std::size_t i = 0; i + lag < a.size(); ++i) {
        sum += a[i] * b[i + lag];
    }
    return sum / std::sqrt(static_cast<double>(a.size() - lag));
}

} // namespace

TEST_CASE("dropout draws as the host does, and the same wherever x stands",
          "[kernels][elementwise]") {
    const std::vector<std::vector<std::int64_t>> shapes = {{16, 32}, {9, 7},   {1, 1},
                                                           {7, 33},  {3, 250}, {40, 48}};
    for (const ElementType type : kTypes) {
        for (const auto& shape : shapes) {
            std::vector<std::byte> drawn;
            for (const Stand stand : test::kStands) {
                CAPTURE(name_of(type), shape, static_cast<int>(stand));
                const auto outcome = run({type, shape}, stand, 0.3, 5);
                INFO(outcome.checked.sentence);
                CHECK(outcome.checked.passed);
                CHECK(outcome.checked.elements == shape[0] * shape[1]);
                drawn = drawn.empty() ? outcome.output.bytes : drawn;
                CHECK(outcome.output.bytes == drawn);
                const bool whole = shape[1] % Draws{.type = type}.elements_of_block() == 0;
                const bool reads_there =
                    whole && (stand == Stand::Cells || stand == Stand::PaddedRows);
                CHECK(outcome.added == (stand == Stand::Host || reads_there ? 0 : 1));
            }
        }
    }
}

TEST_CASE("dropout works on blocks where they stand, in whatever order of the tensor",
          "[kernels][elementwise]") {
    for (const ElementType type : kTypes) {
        const std::int64_t wide = Draws{.type = type}.elements_of_block();
        // as columns of blocks: the blocks of a column are neighbours
        const family::TensorType x{type, {6, 3 * wide}};
        for (const Bytes apart : {Bytes{Draws::kBlockBytes}, Bytes{Draws::kBlockBytes + 8},
                                  Bytes{Draws::kBlockBytes + 4}}) {
            CAPTURE(name_of(type), apart);
            const Request request = request_of(x, 0.3, 5);
            spec::MachineSpec machine;
            machine.chip.tiles = 2;
            exchange_plan::KnownSchedules known;
            const family::Site site{machine, known, 0, "step"};
            const auto step = elementwise::dropout().make(request);
            graph::Graph graph("test");
            graph::Tensor given{.name = "x", .type = type, .shape = x.shape, .given = true};
            const auto buffer = graph.add_buffer({.name = "x", .alignment = 8});
            graph.hold(buffer, 1, 18 * apart);
            given.pieces.push_back(
                {1,
                 {buffer, 0},
                 0,
                 {{3, wide, 6 * apart}, {6, 3 * wide, apart}, {wide, 1, bytes_of(type)}}});
            const graph::TensorId where = graph.add_tensor(std::move(given));
            const auto emitted = step->emit(graph, site, std::vector{std::optional(where)});
            const bool begins_units = apart % 8 == 0; // else all of it is moved
            CHECK((emitted.inputs.front() == where) == begins_units);
            if (!begins_units) {
                continue;
            }
            graph.tensors[emitted.outputs.front().index].wanted = true;
            graph.tensors[emitted.outputs.front().index].name = "y";
            graph.control = emitted.steps;
            const auto program = lower::lower(machine, std::move(graph)).program;
            const family::Value value = test::random_value(x, 1);
            const auto outcome = test::run_program(
                machine, program,
                std::map<std::string, std::vector<std::byte>>{{"x", value.bytes}});
            CHECK(outcome.tensors.at("y") == run(x, Stand::Host, 0.3, 5).output.bytes);
        }
    }
}

TEST_CASE("dropout draws the same with any number of workers", "[kernels][elementwise]") {
    for (const ElementType type : kTypes) {
        const auto once = run({type, {33, 50}}, Stand::Host, 0.5, 1);
        for (std::int64_t workers = 1; workers <= 8; ++workers) {
            const auto outcome = run({type, {33, 50}}, Stand::Host, 0.5, 1, {}, workers);
            CHECK(outcome.checked.passed);
            CHECK(outcome.output.bytes == once.output.bytes);
        }
    }
}

TEST_CASE("other seeds and other steps draw other elements", "[kernels][elementwise]") {
    const family::TensorType x{ElementType::F16, {40, 40}};
    const auto first = run(x, Stand::Host, 0.5, 0, {0});
    CHECK(first.output.bytes == run(x, Stand::Host, 0.5, 0).output.bytes); // no step is step 0
    for (const double step : {1.0, 2.0, 1000.0}) {
        const auto other = run(x, Stand::Cells, 0.5, 0, {step});
        CHECK(other.checked.passed);
        CHECK(other.output.bytes != first.output.bytes);
        CHECK(other.outcome.cycles.total() ==
              run(x, Stand::Cells, 0.5, 0, {step + 1}).outcome.cycles.total());
    }
    for (const double seed : {1.0, 4294967295.0}) {
        const auto other = run(x, Stand::Host, 0.5, seed, {0});
        CHECK(other.checked.passed);
        CHECK(other.output.bytes != first.output.bytes);
    }
}

TEST_CASE("dropout of rate 0 keeps all elements as they are", "[kernels][elementwise]") {
    for (const ElementType type : kTypes) {
        const family::TensorType x{type, {12, 16}};
        CHECK(run(x, Stand::Host, 0, 3).output.bytes == test::random_value(x, 1).bytes);
    }
}

TEST_CASE("dropout keeps its share, and an element says nothing about others",
          "[kernels][elementwise]") {
    constexpr std::int64_t kElements = 1 << 18;
    for (const ElementType type : kTypes) {
        for (const double rate : {0.1, 0.5, 0.9}) {
            for (const std::uint32_t seed : {0U, 1U, 0xffffffffU}) {
                CAPTURE(name_of(type), rate, seed);
                const auto keep = static_cast<std::uint32_t>(std::lround((1 - rate) * Draws::kAll));
                const Draws draws{seed, keep, type};
                const auto drawn = normalised(draws, 0, kElements);
                const std::vector<double> ones(drawn.size(), 1);
                CHECK(std::fabs(correlation(drawn, ones, 0)) < kStandardErrors);
                for (const std::size_t lag : {1U, 2U, 3U, 4U, 8U, 16U, 32U, 1024U}) {
                    CAPTURE(lag);
                    CHECK(std::fabs(correlation(drawn, drawn, lag)) < kStandardErrors);
                }
                const auto next_step = normalised(draws, 1, kElements);
                CHECK(std::fabs(correlation(drawn, next_step, 0)) < kStandardErrors);
                const auto next_seed = normalised({seed + 1, keep, type}, 0, kElements);
                CHECK(std::fabs(correlation(drawn, next_seed, 0)) < kStandardErrors);
            }
        }
    }
}

TEST_CASE("dropout refuses rates, seeds and steps that it cannot have", "[kernels][elementwise]") {
    const family::TensorType half{ElementType::F16, {16, 7}};
    const family::TensorType single{ElementType::F32, {16, 7}};
    CHECK(refusal(request_of(half, 1, 0)) ==
          "-1rate: got 1, expected 0 to 0.999969482421875 for f16");
    CHECK(refusal(request_of(half, -0.5, 0)).starts_with("-1rate: got -0.5"));
    CHECK(refusal(request_of(half, 1 - 0x1p-15, 0)) == "taken");
    CHECK(refusal(request_of(half, 1 - 0x1p-16, 0)).starts_with("-1rate: "));
    CHECK(refusal(request_of(single, 1 - 0x1p-16, 0)) == "taken");
    CHECK(refusal(request_of(single, 1 - 0x1p-17, 0)).starts_with("-1rate: "));
    CHECK(refusal(request_of(half, 0, 0x1p32 - 1)) == "taken");
    CHECK(refusal(request_of(half, 0, 0x1p32)).starts_with("-1seed: "));
    CHECK(refusal(request_of(half, 0.5, -1)) ==
          "-1seed: got -1, expected a whole number from 0 to 4294967295");
    CHECK(refusal(request_of(half, 0.5, 0.5)).starts_with("-1seed: got 0.5"));
    Request two = request_of(half, 0.5, 0, true);
    two.inputs[1].shape = {2};
    CHECK(refusal(two) == "1: step: got 2, expected one element");
    two.inputs[1] = {ElementType::F32, {1}};
    CHECK(refusal(two).starts_with("1: "));
}

TEST_CASE("vertices of dropout take the predicted cycles", "[kernels][elementwise]") {
    for (std::int64_t workers = 1; workers <= 8; ++workers) {
        test::CodeletBench bench({"elementwise_dropout"}, workers);
        for (const codelets::MapRows& work : std::initializer_list<codelets::MapRows>{
                 {1, 1, 1}, {3, 4, 2}, {6, 7, 7}, {17, 3, 3}, {8, 1, 1}}) {
            for (const std::string vertex : {"dropout_f16", "dropout_f32"}) {
                std::vector<std::uint32_t> state = {static_cast<std::uint32_t>(work.rows),
                                                    static_cast<std::uint32_t>(work.units),
                                                    static_cast<std::uint32_t>(work.last)};
                for (const int side : {0, 1}) {
                    const Bytes stride = work.units * Draws::kBlockBytes;
                    state.insert(state.end(), {bench.pair(side), static_cast<std::uint32_t>(stride),
                                               static_cast<std::uint32_t>((workers - 1) * stride)});
                }
                state.insert(state.end(), {bench.pair(0), 7, 1, bench.pair(4), 0, 0x8000, 0x4000,
                                           Draws::kMix1, Draws::kMix2});
                bench.put(bench.region0_data(), state);
                const auto outcome =
                    bench.call(vertex, program::VertexKind::MultiWorker, bench.region0_data());
                std::vector<std::int64_t> issues;
                for (std::int64_t worker = 0; worker < workers; ++worker) {
                    issues.push_back(
                        codelets::map_issues(codelets::kDropoutLoop, work, worker, workers));
                }
                CAPTURE(workers, vertex, work.rows, work.units, work.last);
                CHECK(outcome.cycles == plan::multi_worker_cycles(bench.machine(), issues));
            }
        }
    }
}
