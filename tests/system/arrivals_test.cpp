// SPDX-License-Identifier: MIT
// Chunks of a remote buffer that land in one place, one after the other, are all looked at.
#include "kernels/job/job.h"
#include "models/simulation/simulation.h"
#include "sim/run/looks.h"

#include <catch2/catch.hpp>

#include <functional>

using namespace tessera;

namespace {

constexpr std::int64_t kChunks = 6;

/// The check of a read of kChunks chunks, twice over, whose program was changed by `change`.
job::CheckOutcome check_after(const std::function<void(program::Program&)>& change) {
    spec::MachineSpec machine;
    machine.chip.tiles = 4;
    workload::RemoteBufferWorkload read;
    read.rows = 2 * kChunks;
    read.row_bytes = 96;
    read.chunk_rows = 2;
    read.repeats = 2;
    auto job = job::make_job({"read", read});
    program::Program program = job->plan(machine);
    change(program);
    run::Looks looks(*job, program, 1);
    simulation::Simulation simulation(machine, program, {.listeners = {&looks}});
    looks.read_from(simulation);
    for (const auto& operand : job->operands()) {
        simulation.write(operand.array, operand.bytes);
    }
    simulation.run();
    return job->check([&](program::ArrayId array) { return simulation.read(array); }, 1);
}

} // namespace

TEST_CASE("every chunk of a read is checked") {
    const auto outcome = check_after([](program::Program&) {});
    CHECK(outcome.text.starts_with("exact"));
    CHECK(outcome.passed);
}

TEST_CASE("a chunk from the wrong rows is told") {
    const auto outcome =
        check_after([](program::Program& program) { program.control.children.at(2).row = 0; });
    CHECK_FALSE(outcome.passed);
    CHECK_THAT(outcome.text, Catch::StartsWith("WRONG: tensor in_tiles after copy 3: byte "));
}

TEST_CASE("a chunk that is left out is told") {
    const auto outcome = check_after([](program::Program& program) { program.control.count = 1; });
    CHECK_FALSE(outcome.passed);
    CHECK(outcome.text == "WRONG: tensor in_tiles: 6 copies arrived, expected 12");
}
