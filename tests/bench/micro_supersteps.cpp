// SPDX-License-Identifier: MIT
// What a superstep costs the host where the tiles have next to nothing to do: all tiles of a chip
// compute for some cycles, exchange a word with their neighbour, and so on, on two host threads.
// SystemC elaborates once a process, so there is one run, of many supersteps.
#include "models/simulation/simulation.h"
#include "tests/bench/micro.h"
#include "tests/component/hand_program.h"

#include <benchmark/benchmark.h>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::bench {
namespace {

constexpr std::uint32_t kSupersteps = 2000;

void supersteps(benchmark::State& state) {
    static bool elaborated = false;
    if (std::exchange(elaborated, true)) {
        state.SkipWithError("SystemC elaborates once a process");
        return;
    }
    const spec::MachineSpec machine;
    test::HandProgram hand(machine, test::kStubs);
    std::map<TileId, std::string> stubs;
    std::vector<program::Transfer> words;
    const auto tiles = static_cast<TileId>(machine.chip.tiles);
    for (TileId tile = 0; tile < tiles; ++tile) {
        stubs[tile] = tile % 7 == 0 ? "loop_of_50" : "loop_of_5";
        words.push_back({tile, 0x80000, 4, false, {{(tile + 2) % tiles, 0x90000}}});
    }
    hand.then_compute(hand.compute_set("work", stubs));
    hand.then_exchange(hand.exchange("shift", words));
    hand.repeated(kSupersteps);
    simulation::Simulation simulation(hand.machine(), hand.program(), {.threads = 2});
    for (auto _ : state) {
        const auto begin = std::chrono::steady_clock::now();
        simulation.run();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        state.SetIterationTime(took.count() / kSupersteps);
        state.counters["ns_per_tile"] = 1e9 * took.count() / kSupersteps / tiles;
    }
}

} // namespace

void add_supersteps() {
    benchmark::RegisterBenchmark("supersteps", supersteps)
        ->Iterations(1)
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
}

} // namespace tessera::bench
