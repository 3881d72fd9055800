// SPDX-License-Identifier: MIT
// What a superstep costs the host where the tiles have next to nothing to do: all tiles of a chip
// compute for some cycles, exchange a word with their neighbour, and so on.
//
//   bench_supersteps [SUPERSTEPS]   one line: seconds, nanoseconds a tile and superstep
#include "models/simulation/simulation.h"
#include "tests/component/hand_program.h"

#include <fmt/format.h>
#include <systemc>

#include <chrono>
#include <cstdlib>

using namespace tessera;

int sc_main(int argc, char** argv) {
    const auto supersteps = static_cast<std::uint32_t>(argc > 1 ? std::atoi(argv[1]) : 10000);
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
    hand.repeated(supersteps);
    simulation::Simulation simulation(hand.machine(), hand.program(), {.threads = 2});
    const auto begin = std::chrono::steady_clock::now();
    simulation.run();
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    fmt::print("{{\"supersteps\": {}, \"seconds\": {:.3f}, \"ns_per_tile\": {:.1f}}}\n", supersteps,
               took.count(), 1e9 * took.count() / supersteps / tiles);
    return 0;
}
