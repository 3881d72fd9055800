// SPDX-License-Identifier: MIT
#include "models/link/core/link_bound.h"
#include "models/timing/link_timing.h"
#include "tests/unit/models/link/traffic.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace tessera;
using link::Binds;
using link::Message;
using link_test::gc2_ladder;
using link_test::Step;
using link_test::System;

namespace {

/// Cycles from 0 to the last arrival of messages of any chips.
Cycles measured(const spec::MachineSpec& machine, const std::vector<Message>& messages) {
    std::vector<Step> steps(static_cast<std::size_t>(machine.system.chips));
    for (const auto& message : messages) {
        steps[static_cast<std::size_t>(message.from_chip)].messages.push_back(message);
    }
    std::erase_if(steps, [](const Step& step) { return step.messages.empty(); });
    Cycles last = 0;
    for (const auto& [message, cycle] : link_test::arrivals(System{machine}.run(steps))) {
        last = std::max(last, cycle);
    }
    return last;
}

link::LinkBound bound_of(const spec::MachineSpec& machine, const std::vector<Message>& messages) {
    const System system{machine};
    return link::link_bound(timing::link_timing(machine), system.topology, system.routes, messages);
}

} // namespace

TEST_CASE("no link exchange is faster than its bound", "[unit][link]") {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const auto machine = link_test::random_machine(seed);
        std::vector<Message> messages;
        for (const auto& step : link_test::random_steps(machine, {}, seed)) {
            messages.insert(messages.end(), step.messages.begin(), step.messages.end());
        }
        const auto bound = bound_of(machine, messages);
        CAPTURE(seed, text(bound.binds));
        CHECK(bound.cycles() <= measured(machine, messages));
        CHECK(bound.binds != Binds::Nothing);
    }
    CHECK(bound_of(gc2_ladder(), {}).cycles() == 0);
    CHECK(bound_of(gc2_ladder(), {}).binds == Binds::Nothing);
}

TEST_CASE("the bound of what meets nobody is what it takes", "[unit][link]") {
    const auto machine = gc2_ladder();
    for (const Bytes bytes : {4, 64, 128, 6400}) { // all packets of a message are equal
        const std::vector<Message> lone{{0, 3, 7, 14, 90, bytes}};
        const auto bound = bound_of(machine, lone);
        const Cycles took = measured(machine, lone);
        CAPTURE(bytes);
        // A packet's end within a cycle is rounded up for what follows it.
        CHECK(bound.cycles() <= took);
        CHECK(bound.cycles() + machine.system.links.payload_bytes / 4 + 2 >= took);
        if (bytes == 4) {
            CHECK(bound.cycles() == took);
        }
    }
}

TEST_CASE("what a link exchange waits for is the busiest of edge, context, lane and turn",
          "[unit][link]") {
    auto machine = gc2_ladder();
    machine.system.links.buffer_packets = 0;
    const auto tiles = static_cast<std::int32_t>(machine.chip.tiles);
    const auto contexts = static_cast<std::int32_t>(machine.system.links.contexts);
    const auto of_context = tiles / contexts;
    const auto check = [&](Binds binds, const std::vector<Message>& messages, double within) {
        const auto bound = bound_of(machine, messages);
        CAPTURE(text(binds), text(bound.binds));
        CHECK(bound.binds == binds);
        CHECK(static_cast<double>(measured(machine, messages)) <
              within * static_cast<double>(bound.cycles()));
        return bound;
    };
    std::vector<Message> words;
    std::vector<Message> spread;
    std::vector<Message> gathered;
    for (std::int32_t tile = 0; tile < tiles; ++tile) {
        words.push_back({tile, 0, tile, 1, tile, 4});
    }
    for (std::int32_t context = 0; context < contexts; ++context) {
        const auto tile = of_context * context;
        spread.push_back({context, 0, tile, 2, tile, 16384});
        gathered.push_back({context, context % 2 == 0 ? 2 : 1, tile, 0, 5, 4096});
    }
    check(Binds::Turn, words, 1.02);
    const auto bound = check(Binds::Edge, spread, 1.02);
    CHECK(bound.edge == *link::topology(machine).edge(0, 2));
    check(Binds::Context, gathered, 1.02);
    check(Binds::Lane, {{0, 0, 0, 1, 0, 65536}, {1, 0, 1, 1, of_context, 65536}}, 1.02);
}

namespace {

/// Packets of whole words, so that nothing is rounded on a lane, and buffers that are never full.
spec::MachineSpec whole_words() {
    auto machine = gc2_ladder();
    machine.system.links.overhead_bytes = 12;
    machine.system.links.buffer_packets = 0;
    return machine;
}

} // namespace

TEST_CASE("where one edge, context or lane alone is waited for, the bound is what it takes",
          "[unit][link]") {
    const auto machine = whole_words();
    const auto timing = timing::link_timing(machine);
    const auto of_context = static_cast<std::int32_t>(timing.tiles_per_context);
    const auto edge = *link::topology(machine).edge(0, 1);
    const auto links = link::topology(machine).edges.at(static_cast<std::size_t>(edge)).links;
    for (const std::int32_t each : {1, 2, 3}) { // packets of a link, all there at once
        std::vector<Message> messages;
        for (std::int32_t i = 0; i < each * links; ++i) {
            messages.push_back({i, 0, i * of_context, 1, i * of_context, 4});
        }
        const auto bound = bound_of(machine, messages);
        CAPTURE(each);
        CHECK(bound.edge_cycles == measured(machine, messages));
        CHECK(bound.cycles() == bound.edge_cycles);
        CHECK(bound.binds == Binds::Edge);
        CHECK(bound.edge == edge);
    }
    for (std::int32_t senders = 2; senders <= links; ++senders) { // a link each, one receiver
        std::vector<Message> messages;
        for (std::int32_t i = 0; i < senders; ++i) {
            messages.push_back({i, 1, i * of_context, 0, i, 4});
        }
        const auto bound = bound_of(machine, messages);
        CAPTURE(senders);
        CHECK(bound.context_cycles == measured(machine, messages));
        CHECK(bound.cycles() == bound.context_cycles);
        CHECK(bound.binds == Binds::Context);
    }
    // Of the messages of one tile, and of the tiles of one context, the last goes farthest.
    for (const std::int32_t last_tile : {0, 1}) {
        const std::vector<Message> messages{
            {0, 0, 0, 1, 0, 4}, {1, 0, 0, 2, of_context, 4}, {2, 0, last_tile, 15, 0, 4}};
        const auto bound = bound_of(machine, messages);
        CAPTURE(last_tile);
        CHECK(bound.lane_cycles == measured(machine, messages));
        CHECK(bound.cycles() == bound.lane_cycles);
    }
}

TEST_CASE("a lane binds as turns where these take as long as its packets, and the first of equal "
          "edges is told",
          "[unit][link]") {
    auto machine = whole_words();
    const std::vector<Message> of_one_tile{{0, 0, 0, 1, 0, 4}, {1, 0, 0, 15, 0, 4}};
    const Cycles lanes = 2 * (4 + machine.system.links.overhead_bytes) / 4;
    for (const Cycles turn : {lanes - 1, lanes, lanes + 1}) {
        machine.system.links.turn_cycles = turn;
        CAPTURE(turn);
        CHECK(bound_of(machine, of_one_tile).binds == (turn < lanes ? Binds::Lane : Binds::Turn));
    }
    const auto of_context =
        static_cast<std::int32_t>(timing::link_timing(machine).tiles_per_context);
    std::vector<Message> over_rungs;
    for (std::int32_t i = 0; i < 2 * machine.system.links.rung_links; ++i) {
        over_rungs.push_back({2 * i, 2, i * of_context, 3, i * of_context, 4});
        over_rungs.push_back({2 * i + 1, 0, i * of_context, 1, i * of_context, 4});
    }
    const auto bound = bound_of(machine, over_rungs);
    CHECK(bound.binds == Binds::Edge);
    CHECK(bound.edge == *link::topology(machine).edge(0, 1));
}
