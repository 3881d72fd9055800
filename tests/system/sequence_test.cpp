// SPDX-License-Identifier: MIT
// A sequence of patterns drives one program: what the host gives, what it makes of trained values, and
// the rounds of the result.
#include "kernels/job/job.h"
#include "models/listeners/rounds.h"
#include "models/simulation/simulation.h"
#include "sim/run/looks.h"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using workload::PipelineStep;

namespace {

constexpr std::int64_t kPatterns = 4;
constexpr std::int64_t kMoved = 8 * 12 / 4 / 2; ///< half of the kept blocks
constexpr std::int64_t kTiles = 32;

struct Trained {
    job::CheckOutcome check;
    std::vector<job::PatternFacts> patterns;
    std::vector<listeners::Round> rounds;
    Cycles cycles = 0;
};

PipelineStep step(const char* family, std::vector<std::string> inputs, const char* output) {
    PipelineStep made;
    made.family = family;
    made.inputs = std::move(inputs);
    made.outputs = {output};
    return made;
}

/// Patterns of a matrix of 8 x 12 blocks; `updates`: each round adds the gradient of its values to them.
workload::Workload training(std::uint64_t seed, bool updates) {
    workload::PipelineWorkload pipeline;
    workload::PatternSpec pattern;
    pattern.density = 0.25;
    pattern.seed = seed;
    workload::Schedule schedule;
    schedule.patterns = kPatterns;
    schedule.decay = workload::Schedule::Decay::None;
    schedule.seed = seed;
    pipeline.tensors = {{.name = "w",
                         .shape = {32, 48},
                         .pattern = pattern,
                         .block = 4,
                         .is_dynamic = true,
                         .sequence = schedule},
                        {.name = "x", .shape = {48, 16}},
                        {.name = "dy", .shape = {32, 16}}};
    PipelineStep next;
    next.kind = PipelineStep::Kind::Next;
    next.inputs = {"w"};
    next.outputs = {"w"};
    PipelineStep repeat;
    repeat.kind = PipelineStep::Kind::Repeat;
    repeat.repeats = kPatterns;
    repeat.children = {next, step("spmm", {"w", "x"}, "y"), step("sddmm", {"w", "dy", "x"}, "dw")};
    if (updates) {
        repeat.children.push_back(step("add", {"w", "dw"}, "w"));
    }
    pipeline.steps = {repeat};
    return {"sequence", pipeline};
}

/// SystemC has one simulation a process.
Trained train(std::uint64_t seed, bool updates, bool in_timing_mode = false) {
    spec::MachineSpec machine;
    machine.chip.tiles = kTiles;
    auto job = job::make_job(training(seed, updates));
    const program::Program& program =
        job->plan(machine, in_timing_mode ? job::Operands::Known : job::Operands::Made);
    REQUIRE(job->round_copy());
    run::Looks looks(*job, program, 1);
    listeners::Rounds rounds(program, *job->round_copy());
    ipu::RunOptions options{.listeners = {&rounds}};
    if (in_timing_mode) {
        options.timing = ipu::TimingOptions{2};
    } else {
        options.listeners.push_back(&looks);
    }
    const simulation::Simulation* running = nullptr;
    options.ask_host = [&](std::uint32_t copy, std::int64_t row, std::span<std::byte> bytes) {
        job->asked(copy, row, bytes, [&](program::ArrayId array) { return running->read(array); });
    };
    simulation::Simulation simulation(machine, program, std::move(options));
    running = &simulation;
    looks.read_from(simulation);
    for (const auto& operand : job->operands()) {
        simulation.write(operand.array, operand.bytes);
    }
    Trained trained;
    if (!in_timing_mode) {
        looks.begin();
    }
    simulation.run();
    if (!in_timing_mode) {
        trained.check =
            job->check([&](program::ArrayId array) { return simulation.read(array); }, 1);
    }
    trained.patterns = job->patterns();
    trained.rounds = rounds.rounds();
    trained.cycles = simulation.account().cycles();
    return trained;
}

} // namespace

void check_sequence(const Trained& trained) {
    INFO(trained.check.text);
    CHECK(trained.check.passed); // each step on the pattern of its round
    for (const auto& step : trained.check.json.at("steps")) {
        CHECK(step.at("rounds") == kPatterns);
    }
    REQUIRE(trained.patterns.size() == 1);
    CHECK(trained.patterns.front().tensor == "w");
    CHECK(trained.patterns.front().patterns == kPatterns);
    CHECK_FALSE(trained.patterns.front().is_drawn_instead);
    CHECK(trained.patterns.front().went == std::vector<std::int64_t>(kPatterns - 1, kMoved));
}

TEST_CASE("each round has the next pattern, and the values that the last one left") {
    check_sequence(train(1, true));
}

TEST_CASE("a sequence of patterns whose values nobody writes") {
    check_sequence(train(1, false));
}

TEST_CASE(
    "rounds of a sequence follow each other to the end of the run, and say whose cycles are") {
    const Trained trained = train(2, true);
    REQUIRE(trained.rounds.size() == static_cast<std::size_t>(kPatterns));
    for (std::size_t i = 0; i < trained.rounds.size(); ++i) {
        const listeners::Round& round = trained.rounds[i];
        const bool is_last = i + 1 == trained.rounds.size();
        CHECK(round.begin + round.cycles ==
              (is_last ? trained.cycles : trained.rounds[i + 1].begin));
        Cycles sum = 0;
        std::vector<std::string> names;
        for (const auto& [name, cycles] : round.kernels) {
            CHECK(cycles > 0);
            sum += cycles;
            names.push_back(name);
        }
        CHECK(names == std::vector<std::string>{"next_w", "y", "dw", "w"});
        CHECK(sum < round.cycles);
    }
}

TEST_CASE("timing mode draws what a schedule prunes by values, and says so") {
    const Trained trained = train(3, true, true);
    REQUIRE(trained.patterns.size() == 1);
    CHECK(trained.patterns.front().is_drawn_instead);
    CHECK(trained.patterns.front().went == std::vector<std::int64_t>(kPatterns - 1, kMoved));
}

TEST_CASE("another seed has other patterns and the same plan") {
    spec::MachineSpec machine;
    machine.chip.tiles = kTiles;
    const auto one = job::make_job(training(4, true));
    const auto other = job::make_job(training(5, true));
    static_cast<void>(one->plan(machine));
    static_cast<void>(other->plan(machine));
    CHECK(one->plan_json() == other->plan_json());
    const auto operands_of = [](const job::Job& job) {
        std::vector<std::vector<std::byte>> bytes;
        for (const auto& operand : job.operands()) {
            bytes.emplace_back(operand.bytes.begin(), operand.bytes.end());
        }
        return bytes;
    };
    CHECK(operands_of(*one) != operands_of(*other));
}
