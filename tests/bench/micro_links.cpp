// SPDX-License-Identifier: MIT
// The links of a whole ladder, outside of SystemC, on one core: every tile of every chip sends to random
// tiles of random other chips. A hop is a packet's way over one edge.
#include "models/link/core/packet_network.h"
#include "models/link/core/route_table.h"
#include "models/link/core/topology.h"
#include "tests/bench/micro.h"

#include <benchmark/benchmark.h>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace tessera::bench {
namespace {

void packets(benchmark::State& state, std::int64_t chips, Bytes bytes) {
    spec::MachineSpec machine;
    machine.system.chips = chips;
    const auto topology = link::topology(machine);
    const link::RouteTable routes{machine, topology};
    std::mt19937 random{1};
    std::vector<std::vector<link::Message>> messages(static_cast<std::size_t>(chips));
    std::int64_t number = 0;
    const auto tiles = machine.chip.tiles;
    const auto below = [&](std::int64_t limit) {
        return static_cast<std::int32_t>(
            std::uniform_int_distribution<std::int64_t>{0, limit - 1}(random));
    };
    for (std::int32_t chip = 0; chip < chips; ++chip) {
        for (std::int32_t tile = 0; tile < tiles; ++tile) {
            const auto other = below(chips - 1);
            messages[static_cast<std::size_t>(chip)].push_back(
                {number++, chip, tile, other < chip ? other : other + 1, below(tiles), bytes});
        }
    }
    link::PacketNetwork network{machine, topology, routes};
    std::vector<link::NetworkEvent> happened;
    Cycles now = 0;
    Cycles cycles = 0;
    for (auto _ : state) {
        for (const auto& of_chip : messages) {
            network.inject(of_chip, now);
        }
        const Cycles begin = now;
        while (const auto next = network.next()) {
            now = *next;
            happened.clear();
            network.advance(now, happened);
        }
        cycles = now - begin;
        ++now;
    }
    std::int64_t hops = 0;
    for (const auto& edge : network.edges()) {
        hops += edge.packets;
    }
    state.SetItemsProcessed(hops);
    state.counters["cycles"] = static_cast<double>(cycles);
}

} // namespace

void add_links() {
    for (const std::int64_t chips : {4, 16, 64}) {
        for (const Bytes bytes : {4, 1024}) {
            const auto name = "links/" + std::to_string(chips) + "/" + std::to_string(bytes);
            benchmark::RegisterBenchmark(name.c_str(), packets, chips, bytes)
                ->Unit(benchmark::kMillisecond);
        }
    }
}

} // namespace tessera::bench
