// SPDX-License-Identifier: MIT
#include "base/ceil_div.h"
#include "models/link/core/packet_network.h"
#include "models/timing/link_timing.h"
#include "tests/unit/models/link/plain_network.h"
#include "tests/unit/models/link/traffic.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

using namespace tessera;
using link::Message;
using link::NetworkEvent;
using link_test::arrivals;
using link_test::gc2_ladder;
using link_test::random_machine;
using link_test::Step;
using link_test::System;
using timing::LinkTiming;
using Kind = NetworkEvent::Kind;

namespace {

/// Cycles that a link needs for bytes, as a fraction.
double on_link(const spec::MachineSpec& machine, Bytes bytes) {
    return static_cast<double>(bytes) * machine.chip.clock_hz /
           (machine.system.links.gbytes_per_s * 1e9);
}

Cycles up(double cycles) {
    return static_cast<Cycles>(std::ceil(cycles - 1e-4)); // ticks round a rate to 4e-6
}

/// The one event of a kind; the last of several.
Cycles last_of(const std::vector<NetworkEvent>& happened, Kind kind) {
    Cycles last = -1;
    for (const auto& event : happened) {
        if (event.kind == kind) {
            last = event.cycle;
        }
    }
    return last;
}

} // namespace

TEST_CASE("a lone word takes its turn, its lanes, its blocks, and a link and a hop for each edge",
          "[unit][link]") {
    for (const auto& [from, to] :
         std::vector<std::pair<std::int32_t, std::int32_t>>{{0, 1}, {0, 2}, {3, 14}, {15, 0}}) {
        const auto machine = gc2_ladder();
        const auto& links = machine.system.links;
        System system{machine};
        const Bytes packet = 4 + links.overhead_bytes;
        const Cycles lane = ceil_div(packet, 4);
        Cycles hops = 0;
        for (const auto edge : system.routes.route(from, to)) {
            hops += up(on_link(machine, packet)) +
                    system.topology.edges.at(static_cast<std::size_t>(edge)).hop_cycles;
        }
        const Cycles ready = 1000;
        const auto happened = system.run({{ready, {{7, from, 100, to, 200, 4}}}});
        const Cycles over = ready + links.turn_cycles + lane;
        CAPTURE(from, to);
        REQUIRE(happened.size() == 3);
        CHECK((happened ==
               std::vector<NetworkEvent>{
                   {Kind::TurnBegins, ready, from, 100, -1},
                   {Kind::TurnOver, over, from, 100, -1},
                   {Kind::Arrived, over + 2 * links.block_cycles + hops + lane, to, 200, 7}}));
    }
}

TEST_CASE("a lone message of many packets goes at the rate of a lane", "[unit][link]") {
    const auto machine = gc2_ladder();
    const auto& links = machine.system.links;
    const Bytes packet = links.payload_bytes + links.overhead_bytes;
    REQUIRE(packet % 4 == 2); // each second packet ends within a cycle
    REQUIRE(on_link(machine, packet) <
            static_cast<double>(packet) / 4); // so no packet waits for a link
    for (const std::int64_t packets : {1, 2, 3, 20, 1000}) {
        System system{machine};
        const auto happened = system.run({{0, {{0, 0, 0, 2, 5, packets * links.payload_bytes}}}});
        const Cycles over = links.turn_cycles + ceil_div(packets * packet, 4);
        CAPTURE(packets);
        CHECK(last_of(happened, Kind::TurnOver) == over);
        // The receiving lane begins when the first packet is there, rounded up by half a cycle, and is
        // busy from then on.
        const Cycles first = links.turn_cycles + ceil_div(packet, 4) + links.block_cycles +
                             up(on_link(machine, packet)) +
                             timing::link_timing(machine).rail_hop_cycles;
        CHECK(last_of(happened, Kind::Arrived) ==
              first + ceil_div(packets * packet, 4) + links.block_cycles);
    }
}

TEST_CASE("tiles of a context take turns, contexts do not wait for each other", "[unit][link]") {
    auto machine = gc2_ladder();
    auto& links = machine.system.links;
    links.buffer_packets = 0;
    const auto tiles = static_cast<std::int32_t>(machine.chip.tiles);
    const auto turns = ceil_div(tiles, links.contexts);
    const Bytes packet = 4 + links.overhead_bytes;
    const Cycles turn = links.turn_cycles + ceil_div(packet, 4);
    for (const std::int32_t to : {1, 2}) {
        System system{machine};
        std::vector<Message> words;
        for (std::int32_t tile = tiles - 1; tile >= 0; --tile) {
            words.push_back({tile, 0, tile, to, tile, 4});
        }
        const auto happened = system.run({{0, words}});
        std::map<std::int32_t, Cycles> begun;
        std::map<std::int32_t, Cycles> over;
        for (const auto& event : happened) {
            if (event.kind == Kind::TurnBegins) {
                begun[event.tile] = event.cycle;
            } else if (event.kind == Kind::TurnOver) {
                over[event.tile] = event.cycle;
            }
        }
        for (std::int32_t tile = 0; tile < tiles; ++tile) {
            CHECK(begun.at(tile) == tile % turns * turn);
            CHECK(over.at(tile) == begun.at(tile) + turn);
        }
        // One packet of each context comes to the edge at once.
        const auto& edge =
            system.topology.edges.at(static_cast<std::size_t>(*system.topology.edge(0, to)));
        const auto deep = static_cast<double>(ceil_div(links.contexts, edge.links));
        CHECK(last_of(happened, Kind::Arrived) == turns * turn + 2 * links.block_cycles +
                                                      up(deep * on_link(machine, packet)) +
                                                      edge.hop_cycles + ceil_div(packet, 4));
    }
}

TEST_CASE("a busy edge carries its links' rate, less overheads", "[unit][link]") {
    for (const std::int32_t to : {1, 2}) {
        auto machine = gc2_ladder();
        auto& links = machine.system.links;
        links.buffer_packets = 0;
        System system{machine};
        const Bytes bytes = 200 * links.payload_bytes;
        std::vector<Message> messages;
        for (std::int32_t context = 0; context < links.contexts; ++context) {
            messages.push_back({context, 0, 38 * context, to, 38 * context, bytes});
        }
        const auto happened = system.run({{0, messages}});
        const auto number = static_cast<std::size_t>(*system.topology.edge(0, to));
        const auto& edge = system.topology.edges.at(number);
        const Bytes packet = links.payload_bytes + links.overhead_bytes;
        const auto all = static_cast<double>(links.contexts * bytes / links.payload_bytes);
        const double busy = all * on_link(machine, packet) / edge.links;
        const Cycles before = links.turn_cycles + ceil_div(packet, 4) + links.block_cycles;
        const Cycles after = edge.hop_cycles + links.block_cycles;
        const Cycles took = last_of(happened, Kind::Arrived) - before - after;
        CHECK(static_cast<double>(took) > busy);
        // The last packets come together, a lane takes few of them, and none is early by more.
        CHECK(static_cast<double>(took) < busy + 8 * static_cast<double>(packet) / 4);
        const auto& use = system.network.edges().at(number);
        CHECK(use.busy_cycles == Approx(all * on_link(machine, packet)).epsilon(1e-5));
        CHECK(use.packets == static_cast<std::int64_t>(all));
    }
}

TEST_CASE("packets that come to an edge at once wait, but for one of each of its links",
          "[unit][link]") {
    auto machine = gc2_ladder();
    machine.system.links.buffer_packets = 0;
    const auto of_context =
        static_cast<std::int32_t>(timing::link_timing(machine).tiles_per_context);
    for (const std::int32_t more : {-1, 0, 1, 5}) {
        System system{machine};
        const auto number = static_cast<std::size_t>(*system.topology.edge(0, 1));
        const auto packets = system.topology.edges.at(number).links + more;
        std::vector<Message> words;
        for (std::int32_t i = 0; i < packets; ++i) {
            words.push_back({i, 0, i * of_context, 1, i * of_context, 4});
        }
        static_cast<void>(system.run({{0, words}}));
        CAPTURE(more);
        CHECK(system.network.edges().at(number).most_waiting == std::max(0, more));
        CHECK(system.network.edges().at(number).packets == packets);
    }
}

TEST_CASE("a link carries at most its far end's places in the time that a place takes to come back",
          "[unit][link]") {
    auto machine = gc2_ladder();
    auto& links = machine.system.links;
    links.rung_links = 1;
    const Bytes packet = links.payload_bytes + links.overhead_bytes;
    const Cycles hop = timing::link_timing(machine).rung_hop_cycles;
    const std::int64_t packets = 400;
    for (const std::int64_t places : {1, 2, 7, 20}) {
        links.buffer_packets = places;
        System system{machine};
        const auto happened = system.run({{0, {{0, 0, 0, 1, 0, packets * links.payload_bytes}}}});
        // there; in the lane, which is idle; the credit's way back
        const Cycles round = up(on_link(machine, packet)) + hop + ceil_div(packet, 4) + hop;
        REQUIRE(round > places * ceil_div(packet, 4)); // so the lane of the sender waits, too
        const double took = static_cast<double>(last_of(happened, Kind::Arrived));
        CAPTURE(places);
        CHECK(took / static_cast<double>(packets) ==
              Approx(static_cast<double>(round) / static_cast<double>(places)).epsilon(0.02));
    }
}

TEST_CASE("whatever is sent arrives, each edge carries the sum of its routes, and every turn ends",
          "[unit][link]") {
    std::int64_t waited = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
        CAPTURE(seed);
        const auto machine = random_machine(seed);
        const auto timing = timing::link_timing(machine);
        const auto steps = link_test::random_steps(machine, {}, seed);
        System system{machine};
        const auto happened = system.run(steps);

        CHECK(std::is_sorted(happened.begin(), happened.end(), [](const auto& a, const auto& b) {
            return std::tie(a.cycle, a.chip, a.tile, a.message) <
                   std::tie(b.cycle, b.chip, b.tile, b.message);
        }));
        std::map<std::int64_t, const Message*> open;
        std::vector<Bytes> payload(system.topology.edges.size());
        std::vector<Bytes> bytes(payload.size());
        std::size_t turns = 0;
        for (const auto& step : steps) {
            std::set<std::int32_t> tiles;
            for (const auto& message : step.messages) {
                open[message.number] = &message;
                tiles.insert(message.from_tile);
                for (const auto edge : system.routes.route(message.from_chip, message.to_chip)) {
                    payload[static_cast<std::size_t>(edge)] += message.bytes;
                    bytes[static_cast<std::size_t>(edge)] += timing.with_overhead(message.bytes);
                }
            }
            turns += tiles.size();
        }
        std::set<std::pair<std::int32_t, std::int32_t>> running;
        for (const auto& event : happened) {
            if (event.kind == Kind::TurnBegins) {
                CHECK(running.insert({event.chip, event.tile}).second);
            } else if (event.kind == Kind::TurnOver) {
                CHECK(running.erase({event.chip, event.tile}) == 1);
                --turns;
            } else {
                REQUIRE(open.count(event.message) == 1);
                CHECK(open[event.message]->to_chip == event.chip);
                CHECK(open[event.message]->to_tile == event.tile);
                open.erase(event.message);
            }
        }
        CHECK(open.empty());
        CHECK(running.empty());
        CHECK(turns == 0);
        for (std::size_t edge = 0; edge < payload.size(); ++edge) {
            const auto& use = system.network.edges()[edge];
            CHECK(use.payload_bytes == payload[edge]);
            CHECK(use.bytes == bytes[edge]);
            waited += use.most_waiting;
        }
    }
    CHECK(waited > 1000); // the traffic meets
}

TEST_CASE("the network does what its rules say, looked at cycle by cycle", "[unit][link]") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        const auto machine = random_machine(seed);
        const auto steps = link_test::random_steps(
            machine, {.steps = 5, .most_messages = 9, .most_words = 40, .most_apart = 100}, seed);
        const auto expected = link_test::PlainNetwork{machine, steps}.run();
        REQUIRE(expected.size() > 3);
        CHECK((System{machine}.run(steps) == expected));
    }
}

TEST_CASE("buffers change when messages arrive, not which", "[unit][link]") {
    int later = 0;
    for (unsigned seed = 0; seed < 60; ++seed) {
        auto machine = random_machine(seed);
        const auto steps = link_test::random_steps(machine, {}, seed);
        machine.system.links.buffer_packets = 0;
        const auto endless = arrivals(System{machine}.run(steps));
        machine.system.links.buffer_packets = 1 << 20;
        CHECK((arrivals(System{machine}.run(steps)) == endless));
        machine.system.links.buffer_packets = 1;
        const auto tight = arrivals(System{machine}.run(steps));
        const auto last = [](const auto& all) {
            return std::max_element(
                       all.begin(), all.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; })
                ->second;
        };
        CHECK(tight.size() == endless.size());
        later += last(tight) > last(endless) ? 1 : 0;
    }
    CHECK(later > 30);
}

TEST_CASE("nothing depends on how far the network is advanced at a time, or on the order of steps "
          "of one cycle",
          "[unit][link]") {
    for (unsigned seed = 0; seed < 60; ++seed) {
        CAPTURE(seed);
        const auto machine = random_machine(seed);
        auto steps = link_test::random_steps(machine, {.steps = 12, .most_apart = 40}, seed);
        const auto happened = System{machine}.run(steps);
        for (const Cycles stride : {1, 17, 100000}) {
            CHECK((System{machine}.run(steps, stride) == happened));
        }
        std::mt19937 random{seed};
        std::shuffle(steps.begin(), steps.end(), random);
        std::stable_sort(steps.begin(), steps.end(),
                         [](const auto& a, const auto& b) { return a.ready < b.ready; });
        CHECK((arrivals(System{machine}.run(steps)) == arrivals(happened)));
    }
}

TEST_CASE("what is injected long before its time goes then", "[unit][link]") {
    const auto machine = gc2_ladder();
    const auto steps = link_test::random_steps(machine, {}, 1);
    const auto expected = System{machine}.run(steps);
    const Cycles far = 1000000;
    System system{machine};
    for (const auto& step : steps) {
        system.network.inject(step.messages, step.ready + far);
    }
    std::vector<NetworkEvent> happened;
    CHECK(*system.network.next() == steps.front().ready + far);
    system.network.advance(2 * far, happened);
    CHECK_FALSE(system.network.next());
    for (auto& event : happened) {
        event.cycle -= far;
    }
    CHECK((happened == expected));
}
