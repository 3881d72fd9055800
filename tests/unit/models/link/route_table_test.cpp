// SPDX-License-Identifier: MIT
#include "models/link/core/deadlock_check.h"
#include "models/link/core/route_table.h"
#include "models/link/core/topology.h"
#include "models/timing/link_timing.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using link::RouteTable;
using spec::Topology;

namespace {

spec::MachineSpec machine_of(std::int64_t chips, Topology topology) {
    spec::MachineSpec machine;
    machine.system.chips = chips;
    machine.system.links.topology = topology;
    return machine;
}

/// The chips that a route passes, both ends included.
std::vector<std::int32_t> chips_of(const link::Topology& topology, std::int32_t from,
                                   std::span<const std::int32_t> route) {
    std::vector<std::int32_t> chips{from};
    for (const auto number : route) {
        const auto& edge = topology.edges.at(static_cast<std::size_t>(number));
        CHECK(edge.from == chips.back());
        chips.push_back(edge.to);
    }
    return chips;
}

/// Edges of a shortest way on a ladder or between neighbours.
std::int64_t distance(Topology topology, std::int32_t a, std::int32_t b) {
    if (topology == Topology::Full) {
        return a == b ? 0 : 1;
    }
    return std::abs(a / 2 - b / 2) + std::abs(a % 2 - b % 2);
}

std::string circle_of(const spec::MachineSpec& machine) {
    const auto topology = link::topology(machine);
    const RouteTable routes{machine, topology};
    const auto circle = link::circle_of_full_buffers(machine, topology, routes);
    return circle.empty() ? "" : link::circle_text(topology, circle);
}

/// Four chips of which each sends to the one across by the same turning: each edge of the outside
/// waits for the next.
spec::MachineSpec turning_machine() {
    auto machine = machine_of(4, Topology::Ladder);
    machine.system.links.routes = {{{0, 1, 3}}, {{1, 3, 2}}, {{3, 2, 0}}, {{2, 0, 1}}};
    return machine;
}

} // namespace

TEST_CASE("every pair of chips has a shortest route that passes no edge twice, and none waits in a "
          "circle",
          "[unit][link]") {
    for (const auto kind : {Topology::Ladder, Topology::Full}) {
        const std::int32_t step = kind == Topology::Ladder ? 2 : 1;
        for (std::int32_t chips = step; chips <= 64; chips += step) {
            CAPTURE(chips, kind);
            const auto machine = machine_of(chips, kind);
            const auto topology = link::topology(machine);
            const RouteTable routes{machine, topology};
            std::int64_t longest = 0;
            for (std::int32_t from = 0; from < chips; ++from) {
                for (std::int32_t to = 0; to < chips; ++to) {
                    const auto route = routes.route(from, to);
                    const auto length = static_cast<std::int64_t>(route.size());
                    longest = std::max(longest, length);
                    const std::set<std::int32_t> passed{route.begin(), route.end()};
                    const bool holds = chips_of(topology, from, route).back() == to &&
                                       passed.size() == route.size() &&
                                       length == distance(kind, from, to);
                    if (!holds) { // millions of pairs: a CHECK of each takes seconds
                        CAPTURE(from, to);
                        CHECK(holds);
                    }
                }
            }
            CHECK(longest == topology.diameter());
            CHECK(circle_of(machine).empty());
        }
    }
}

TEST_CASE("a ladder takes its rung first", "[unit][link]") {
    using Chips = std::vector<std::int32_t>;
    const auto machine = machine_of(8, Topology::Ladder);
    const auto topology = link::topology(machine);
    const RouteTable routes{machine, topology};
    const auto through = [&](std::int32_t from, std::int32_t to) {
        return chips_of(topology, from, routes.route(from, to));
    };
    CHECK(through(0, 5) == Chips{0, 1, 3, 5});
    CHECK(through(5, 0) == Chips{5, 4, 2, 0});
    CHECK(through(7, 1) == Chips{7, 5, 3, 1});
    CHECK(through(1, 0) == Chips{1, 0});
    CHECK(through(3, 3) == Chips{3});
}

TEST_CASE("edges have the links and hops of rungs and rails", "[unit][link]") {
    auto machine = machine_of(4, Topology::Ladder);
    auto& links = machine.system.links;
    links.rung_links = 5;
    links.rail_links = 3;
    links.hop_ns = 100;
    links.rung_hop_ns = 300;
    machine.chip.clock_hz = 2e9;
    const auto check = [&](const link::Topology& topology, std::int32_t from, std::int32_t to,
                           bool is_rung) {
        const auto number = topology.edge(from, to);
        REQUIRE(number);
        const auto& edge = topology.edges.at(static_cast<std::size_t>(*number));
        CHECK(edge.from == from);
        CHECK(edge.to == to);
        CHECK(edge.is_rung == is_rung);
        CHECK(edge.links == (is_rung ? links.rung_links : links.rail_links));
        CHECK(edge.hop_cycles == (is_rung ? 600 : 200));
    };
    const auto ladder = link::topology(machine);
    check(ladder, 0, 1, true);
    check(ladder, 3, 2, true);
    check(ladder, 2, 0, false);
    check(ladder, 1, 3, false);
    CHECK_FALSE(ladder.edge(0, 3));
    CHECK_FALSE(ladder.edge(1, 2));
    CHECK(ladder.edges.size() == 2 * 4);
    links.topology = Topology::Full;
    const auto full = link::topology(machine);
    check(full, 0, 3, true);
    CHECK(full.edges.size() == 4 * 3);
}

TEST_CASE("chips of two domains have no route", "[unit][link]") {
    for (const auto kind : {Topology::Ladder, Topology::Full}) {
        auto machine = machine_of(10, kind);
        machine.system.domain_chips = 4;
        const auto topology = link::topology(machine);
        const RouteTable routes{machine, topology};
        for (std::int32_t from = 0; from < 10; ++from) {
            for (std::int32_t to = 0; to < 10; ++to) {
                CHECK(routes.route(from, to).empty() == (from == to || from / 4 != to / 4));
            }
        }
    }
}

TEST_CASE("a route of the machine file replaces that of one pair", "[unit][link]") {
    auto machine = machine_of(6, Topology::Ladder);
    machine.system.links.routes = {{{0, 2, 3}}};
    const auto topology = link::topology(machine);
    REQUIRE(link::route_mistakes(machine, topology).empty());
    const RouteTable routes{machine, topology};
    CHECK(chips_of(topology, 0, routes.route(0, 3)) == std::vector<std::int32_t>{0, 2, 3});
    CHECK(chips_of(topology, 0, routes.route(0, 5)) == std::vector<std::int32_t>{0, 1, 3, 5});
    CHECK(chips_of(topology, 1, routes.route(1, 2)) == std::vector<std::int32_t>{1, 0, 2});
}

TEST_CASE("routes that are none are told", "[unit][link]") {
    auto machine = machine_of(6, Topology::Ladder);
    const auto topology = link::topology(machine);
    const auto mistakes = [&](std::vector<spec::RouteSpec> routes) {
        machine.system.links.routes = std::move(routes);
        std::vector<std::string> out;
        for (const auto& mistake : link::route_mistakes(machine, topology)) {
            out.push_back(std::to_string(mistake.route) + ": " + mistake.message);
        }
        return out;
    };
    using Lines = std::vector<std::string>;
    CHECK(mistakes({{{0, 2, 3}}, {{0, 3}}}) == Lines{"1: no edge joins chips 0 and 3"});
    CHECK(mistakes({{{4, 6}}}) == Lines{"0: got chip 6, expected chips below system.chips = 6"});
    CHECK(mistakes({{{4, 5, 4}}}) ==
          Lines{"0: got a route from chip 4 to itself, expected two chips"});
    CHECK(mistakes({{{0, 1, 0, 1}}}) == Lines{"0: the edge 0 -> 1 is passed twice"});
    CHECK(topology.diameter() == 3);
    CHECK(mistakes({{{0, 2, 0, 1, 3}}}).empty()); // four edges
    CHECK(mistakes({{{0, 2, 4, 5, 3, 1}}}) ==
          Lines{"0: got 5 edges, expected at most 4 (the diameter and one)"});
    CHECK(mistakes({{{0, 2}}, {{1, 3}}, {{0, 1, 3, 2}}}) ==
          Lines{"2: chips 0 and 2 have a route already, element 0"});
    CHECK(mistakes({{{0, 9}}, {{1, 2}}}).size() == 2);
}

TEST_CASE("a circle of full buffers is found and told by its chips", "[unit][link]") {
    auto machine = turning_machine();
    CHECK(circle_of(machine) == "0 -> 1 -> 3 -> 2 -> 0");
    machine.system.links.buffer_packets = 0;
    CHECK(circle_of(machine).empty());
    machine.system.links.buffer_packets = 1;
    CHECK_FALSE(circle_of(machine).empty());
    // Two of the four are the topology's own, rung first; without one of the others there is no circle.
    for (std::size_t left_out = 0; left_out < 4; ++left_out) {
        auto fewer = turning_machine();
        auto& routes = fewer.system.links.routes;
        const auto through = routes[left_out].through;
        routes.erase(routes.begin() + static_cast<std::ptrdiff_t>(left_out));
        const bool is_own = through[0] / 2 == through[1] / 2;
        CAPTURE(left_out);
        CHECK(circle_of(fewer).empty() == !is_own);
    }
}
