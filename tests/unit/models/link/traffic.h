// SPDX-License-Identifier: MIT
// Random messages among chips, and what a network makes of them.
#pragma once

#include "models/link/core/packet_network.h"
#include "models/link/core/route_table.h"
#include "models/link/core/topology.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <map>
#include <random>
#include <vector>

namespace tessera::link_test {

/// A machine of 16 chips with the published numbers of GC2.
inline spec::MachineSpec gc2_ladder() {
    spec::MachineSpec machine;
    machine.chip.tiles = 1216;
    machine.chip.clock_hz = 1.6e9;
    machine.system.chips = 16;
    machine.system.links.rung_links = 4;
    return machine;
}

/// A system of few tiles with parameters that `seed` decides.
inline spec::MachineSpec random_machine(unsigned seed) {
    std::mt19937 random{seed};
    const auto from_to = [&](std::int64_t first, std::int64_t last) {
        return std::uniform_int_distribution<std::int64_t>{first, last}(random);
    };
    spec::MachineSpec machine;
    machine.chip.tiles = from_to(1, 6);
    machine.chip.clock_hz = 1e9;
    machine.system.chips = 2 * from_to(1, 4);
    auto& links = machine.system.links;
    links.topology = from_to(0, 3) == 0 ? spec::Topology::Full : spec::Topology::Ladder;
    links.contexts = from_to(1, 3);
    links.rung_links = from_to(1, 4);
    links.rail_links = from_to(1, 3);
    links.gbytes_per_s = static_cast<double>(from_to(1, 150)) / 7;
    links.payload_bytes = 4 * from_to(1, 20);
    links.overhead_bytes = from_to(0, 13);
    links.hop_ns = static_cast<double>(from_to(10, 60));
    links.rung_hop_ns = static_cast<double>(from_to(10, 60));
    links.turn_cycles = from_to(0, 30);
    links.block_cycles = from_to(0, 9);
    links.buffer_packets = from_to(0, 3);
    return machine;
}

/// The messages that one chip sends in one step.
struct Step {
    Cycles ready = 0;
    std::vector<link::Message> messages;
};

/// How random traffic looks.
struct Pattern {
    int steps = 6;
    int most_messages = 20; ///< of a step
    Bytes most_words = 120;
    Cycles most_apart = 400; ///< between two steps
};

/// Steps of random chips in order of time; several are ready in one cycle now and then.
inline std::vector<Step> random_steps(const spec::MachineSpec& machine, const Pattern& pattern,
                                      unsigned seed) {
    std::mt19937 random{seed};
    const auto below = [&](std::int64_t limit) {
        return std::uniform_int_distribution<std::int64_t>{0, limit - 1}(random);
    };
    const auto chip = [&] { return static_cast<std::int32_t>(below(machine.system.chips)); };
    const auto tile = [&] { return static_cast<std::int32_t>(below(machine.chip.tiles)); };
    std::vector<Step> steps;
    Cycles now = 0;
    std::int64_t number = 0;
    for (int i = 0; i < pattern.steps; ++i) {
        now += below(3) == 0 ? 0 : below(pattern.most_apart);
        Step step{now, {}};
        const auto from = chip();
        const auto messages = 1 + below(pattern.most_messages);
        for (std::int64_t k = 0; k < messages; ++k) {
            auto to = chip();
            while (to == from) {
                to = chip();
            }
            step.messages.push_back(
                {number++, from, tile(), to, tile(), 4 * (1 + below(pattern.most_words))});
        }
        steps.push_back(std::move(step));
    }
    return steps;
}

/// A system's links by themselves.
struct System {
    explicit System(const spec::MachineSpec& spec)
        : machine(spec), topology(link::topology(machine)), routes(machine, topology),
          network(machine, topology, routes) {}

    /// Everything that happens, if each step is injected before its cycle comes and the network is
    /// advanced `stride` cycles at a time; 0: from event to event.
    std::vector<link::NetworkEvent> run(const std::vector<Step>& steps, Cycles stride = 0) {
        std::vector<link::NetworkEvent> happened;
        for (const auto& step : steps) {
            if (step.ready > now_) {
                advance_to(step.ready - 1, stride, happened);
            }
            network.inject(step.messages, step.ready);
        }
        while (network.next()) {
            advance_to(*network.next() + stride, stride, happened);
        }
        return happened;
    }

    spec::MachineSpec machine;
    link::Topology topology;
    link::RouteTable routes;
    link::PacketNetwork network;

private:
    void advance_to(Cycles until, Cycles stride, std::vector<link::NetworkEvent>& happened) {
        while (stride > 0 && now_ + stride < until) {
            now_ += stride;
            network.advance(now_, happened);
        }
        while (stride == 0 && network.next() && *network.next() < until) {
            now_ = *network.next();
            network.advance(now_, happened);
        }
        now_ = until;
        network.advance(now_, happened);
    }

    Cycles now_ = 0;
};

/// Returns by message when it arrived.
inline std::map<std::int64_t, Cycles> arrivals(const std::vector<link::NetworkEvent>& happened) {
    std::map<std::int64_t, Cycles> out;
    for (const auto& event : happened) {
        if (event.kind == link::NetworkEvent::Kind::Arrived) {
            out[event.message] = event.cycle;
        }
    }
    return out;
}

} // namespace tessera::link_test
