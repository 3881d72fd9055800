// SPDX-License-Identifier: MIT
// Rows that loads and stores of a pipeline move: each is looked at, and one from a wrong place is told.
#include "kernels/job/job.h"
#include "models/simulation/simulation.h"
#include "sim/run/looks.h"

#include <catch2/catch.hpp>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using workload::PipelineStep;
using workload::PipelineTensor;
using workload::Place;

namespace {

constexpr std::int64_t kRows = 5;
constexpr std::int64_t kRounds = 3;
constexpr std::int64_t kHeight = 32;
constexpr std::int64_t kWidth = 40;

PipelineTensor rows(const std::string& name, Place place, workload::ValuesSpec::Kind values) {
    PipelineTensor made;
    made.name = name;
    made.shape = {kRows, kHeight, kWidth};
    made.place = place;
    made.values.kind = values;
    return made;
}

PipelineStep move(PipelineStep::Kind kind, const std::string& from, const std::string& to,
                  std::int64_t row) {
    PipelineStep made;
    made.kind = kind;
    made.inputs = {from};
    made.outputs = {to};
    made.row = row;
    return made;
}

struct Ran {
    job::CheckOutcome check;
    std::vector<std::int64_t> asked; ///< rows
    std::set<std::string> written;   ///< buffers before the run
};

/// Rows 1, 2, 3 of `data` are added to themselves and become rows 2, 3, 4 of `log`. `change`: what is
/// wrong with the program.
Ran run_rows(Place place, const std::function<void(program::Program&)>& change = {}) {
    spec::MachineSpec machine;
    machine.chip.tiles = 4;
    workload::PipelineWorkload pipeline;
    using Kind = workload::ValuesSpec::Kind;
    pipeline.tensors = {rows("data", place, Kind::Uniform), rows("log", place, Kind::Constant)};
    PipelineStep add;
    add.family = "add";
    add.inputs = {"x", "x"};
    add.outputs = {"y"};
    PipelineStep repeat;
    repeat.kind = PipelineStep::Kind::Repeat;
    repeat.repeats = kRounds;
    repeat.children = {move(PipelineStep::Kind::Load, "data", "x", 1), add,
                       move(PipelineStep::Kind::Store, "y", "log", 2)};
    pipeline.steps = {repeat};
    auto job = job::make_job({"rows", pipeline});
    program::Program program = job->plan(machine);
    if (change) {
        change(program);
    }
    Ran ran;
    run::Looks looks(*job, program, 1);
    ipu::RunOptions options{.listeners = {&looks}};
    const simulation::Simulation* running = nullptr;
    options.ask_host = [&](std::uint32_t copy, std::int64_t row, std::span<std::byte> bytes) {
        ran.asked.push_back(row);
        job->asked(copy, row, bytes, [&](program::ArrayId array) { return running->read(array); });
    };
    simulation::Simulation simulation(machine, program, std::move(options));
    running = &simulation;
    looks.read_from(simulation);
    for (const auto& operand : job->operands()) {
        simulation.write(operand.array, operand.bytes);
        REQUIRE(operand.array.kind == program::ArrayId::Kind::RemoteBuffer);
        ran.written.insert(program.remote_buffers.at(operand.array.index).name);
    }
    looks.begin();
    simulation.run();
    ran.check = job->check([&](program::ArrayId array) { return simulation.read(array); }, 1);
    return ran;
}

/// The first two runs of the one copy in this direction change their places in the rows.
void swap_runs(program::Program& program, program::StreamCopy::Direction direction) {
    auto& copies = program.stream_copies;
    REQUIRE(copies.size() == 2);
    auto& pieces = copies[copies[0].direction == direction ? 0 : 1].pieces;
    REQUIRE(pieces.size() >= 2);
    REQUIRE(pieces[0].bytes == pieces[1].bytes);
    std::swap(pieces[0].offset, pieces[1].offset);
}

} // namespace

TEST_CASE("rows of the host's memory are given as they are asked for, each once") {
    const Ran ran = run_rows(Place::Host);
    CHECK(ran.check.passed);
    CHECK(ran.asked == std::vector<std::int64_t>{1, 2, 3});
    CHECK(ran.written == std::set<std::string>{"log"});
    for (const auto& step : ran.check.json.at("steps")) {
        CHECK(step.at("rounds") == kRounds);
        CHECK(step.at("elements") == kHeight * kWidth);
    }
}

TEST_CASE("rows of streaming memory are there before the run") {
    const Ran ran = run_rows(Place::Remote);
    CHECK(ran.check.passed);
    CHECK(ran.asked.empty());
    CHECK(ran.written == std::set<std::string>{"data", "log"});
}

TEST_CASE("a row that is loaded from a wrong place of the tiles' memory is told") {
    const Ran ran = run_rows(Place::Remote, [](program::Program& program) {
        swap_runs(program, program::StreamCopy::Direction::Read);
    });
    CHECK_FALSE(ran.check.passed);
    CHECK_THAT(ran.check.text, Catch::StartsWith("WRONG: step x: WRONG: "));
}

TEST_CASE("rows that are stored elsewhere are told") {
    const Ran ran = run_rows(Place::Remote, [](program::Program& program) {
        swap_runs(program, program::StreamCopy::Direction::Write);
    });
    CHECK_FALSE(ran.check.passed);
    CHECK_THAT(ran.check.text, Catch::StartsWith("WRONG: result log: byte "));
}
