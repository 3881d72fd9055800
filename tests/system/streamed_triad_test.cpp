// SPDX-License-Identifier: MIT
// A triad over data in streaming memory takes the longer of computing and moving where it streams
// ahead, and their sum where it does not.
#include "kernels/lower/lower.h"
#include "kernels/micro/micro.h"
#include "kernels/plan/repeat_limit.h"
#include "models/simulation/simulation.h"
#include "models/timing/port_timing.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace tessera;

namespace {

struct Outcome {
    Cycles cycles = 0;
    Cycles computing = 0; ///< phases of computation, and what hands rows over on the chip
    Cycles reading = 0;   ///< for which the link needs to bring b and c
    Cycles transfers = 0; ///< from start to end of all copies, one after the other
    Cycles streaming = 0; ///< waited
};

spec::MachineSpec machine_of(std::int64_t tiles) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    return machine;
}

/// Runs the workload and checks its answer and its books.
Outcome run(const spec::MachineSpec& machine, const workload::StreamedTriadWorkload& workload) {
    auto emitted = micro::emit(machine, workload);
    const auto program = lower::lower(machine, std::move(emitted.graph)).program;
    const auto values = emitted.values();
    simulation::Simulation simulation(machine, program, {});
    for (const auto& operand : values.given) {
        simulation.write(operand.array, operand.bytes);
    }
    simulation.run();
    for (const auto& expected : values.expected) {
        CHECK(simulation.read(expected.array) == expected.bytes);
    }
    const auto& account = simulation.account();
    Outcome outcome;
    outcome.cycles = account.cycles();
    outcome.streaming = account.phases().stream;
    outcome.computing =
        account.phases().compute + account.phases().exchange + account.phases().sync;
    for (const auto& tile : account.tiles()) {
        CHECK(tile.sum() == account.cycles());
        CHECK(tile.idle >= 0);
    }
    for (std::size_t copy = 0; copy < account.streams().size(); ++copy) {
        const auto& record = account.streams()[copy];
        CHECK(record.bytes == record.sent_bytes);
        const bool read =
            program.stream_copies[copy].direction == program::StreamCopy::Direction::Read;
        outcome.reading += read ? record.bound_cycles : 0;
        outcome.transfers += record.bound_cycles +
                             record.executions * timing::streaming_port(machine).latency_cycles;
    }
    CAPTURE(outcome.cycles, outcome.computing, outcome.reading, outcome.streaming);
    CHECK(outcome.cycles >= std::max(outcome.computing, outcome.reading));
    return outcome;
}

workload::StreamedTriadWorkload triad(std::int64_t rounds, std::int64_t tiles,
                                      std::int64_t io_tiles, std::int64_t chunk_elements) {
    workload::StreamedTriadWorkload workload;
    workload.elements = rounds * (tiles - io_tiles) * chunk_elements;
    workload.io_tiles = io_tiles;
    workload.chunk_elements = chunk_elements;
    return workload;
}

} // namespace

TEST_CASE("a streamed triad that moves longer than it computes takes its transfers") {
    auto workload = triad(64, 64, 8, 256);
    workload.prefetch = 4;
    const auto outcome = run(machine_of(64), workload);
    CAPTURE(outcome.cycles, outcome.computing, outcome.reading, outcome.streaming);
    REQUIRE(outcome.reading > 2 * outcome.computing);
    CHECK(100 * outcome.cycles < 105 * outcome.reading);
}

TEST_CASE("a streamed triad that computes longer than it moves takes its computation") {
    auto workload = triad(16, 8, 4, 1024);
    workload.repeats = 100;
    const auto outcome = run(machine_of(8), workload);
    CAPTURE(outcome.cycles, outcome.computing, outcome.reading, outcome.streaming);
    REQUIRE(outcome.computing > 2 * outcome.reading);
    CHECK(100 * outcome.cycles < 105 * outcome.computing);
}

TEST_CASE("without prefetch a streamed triad takes the sum of both") {
    auto workload = triad(16, 8, 4, 1024);
    workload.repeats = 20;
    workload.prefetch = 0;
    const auto outcome = run(machine_of(8), workload);
    CHECK(outcome.cycles == outcome.computing + outcome.transfers);
    CHECK(outcome.streaming == outcome.transfers);
}

TEST_CASE("one row buffer hides transfers but not their latency") {
    auto workload = triad(16, 64, 8, 256);
    workload.dtype = ElementType::F16;
    workload.prefetch = 1;
    const auto machine = machine_of(64);
    const auto outcome = run(machine, workload);
    CHECK(outcome.cycles < outcome.computing + outcome.transfers);
    CHECK(outcome.cycles > outcome.reading + 16 * timing::streaming_port(machine).latency_cycles);
}

TEST_CASE("slices with more rounds than a repeat counts are computed") {
    auto machine = machine_of(4);
    machine.chip.generation = spec::Generation::Ipu1;
    machine.tile.workers = 1;
    auto workload = triad(2, 4, 2, 10'000);
    const auto words = workload.chunk_elements / 2;
    REQUIRE(words > plan::most_rounds(machine));
    workload.repeats = 2;
    run(machine, workload);
}
