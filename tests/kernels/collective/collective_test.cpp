// SPDX-License-Identifier: MIT
#include "kernels/collective/check.h"
#include "kernels/collective/schedule.h"
#include "models/link/core/route_table.h"
#include "models/link/core/topology.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

using namespace tessera;
using namespace tessera::collective;

namespace {

constexpr auto kKinds = {Kind::ReduceScatter, Kind::AllGather, Kind::AllReduce};

std::vector<std::int32_t> in_order(std::int32_t members) {
    std::vector<std::int32_t> out(static_cast<std::size_t>(members));
    std::iota(out.begin(), out.end(), 0);
    return out;
}

/// Most fragments of an edge in a step of a ring over all chips of a system.
std::int64_t most_of_an_edge(spec::Topology topology, const std::vector<std::int32_t>& ring) {
    spec::MachineSpec machine;
    machine.system.chips = static_cast<std::int64_t>(ring.size());
    machine.system.links.topology = topology;
    const auto edges = link::topology(machine);
    const link::RouteTable routes{machine, edges};
    std::int64_t most = 0;
    for (const auto& load : busiest_edges(
             ring_schedule(Kind::AllReduce, ring), in_order(static_cast<std::int32_t>(ring.size())),
             [&](std::int32_t from, std::int32_t to) { return routes.route(from, to); })) {
        most = std::max(most, load.fragments);
    }
    return most;
}

} // namespace

TEST_CASE("a ring in any order does what its collective says, in members - 1 steps a half",
          "[kernels][collective]") {
    std::mt19937 random{1};
    for (std::int32_t members = 1; members <= 17; ++members) {
        for (const auto kind : kKinds) {
            auto ring = in_order(members);
            std::shuffle(ring.begin(), ring.end(), random);
            const auto schedule = ring_schedule(kind, ring);
            CAPTURE(members, text(kind));
            CHECK(mistake_of(schedule).value_or("") == "");
            const auto halves = kind == Kind::AllReduce ? 2 : 1;
            CHECK(schedule.steps.size() == static_cast<std::size_t>(halves * (members - 1)));
            for (const auto& step : schedule.steps) {
                CHECK(step.sends.size() == static_cast<std::size_t>(members));
            }
        }
    }
}

TEST_CASE("ring orders load each directed edge of their ladder at most once a step",
          "[kernels][collective]") {
    CHECK(outside_ring(8) == std::vector<std::int32_t>{0, 2, 4, 6, 7, 5, 3, 1});
    CHECK(serpent_ring(8) == std::vector<std::int32_t>{0, 1, 3, 2, 4, 5, 7, 6});
    CHECK(mirrored_serpent_ring(8) == std::vector<std::int32_t>{1, 0, 2, 3, 5, 4, 6, 7});
    for (std::int32_t chips = 2; chips <= 64; chips += 2) {
        CAPTURE(chips);
        CHECK(most_of_an_edge(spec::Topology::Ladder, outside_ring(chips)) == 1);
        CHECK(most_of_an_edge(spec::Topology::Ladder, serpent_ring(chips)) == 1);
        CHECK(most_of_an_edge(spec::Topology::Ladder, mirrored_serpent_ring(chips)) == 1);
        CHECK(most_of_an_edge(spec::Topology::Full, in_order(chips)) == 1);
    }
    CHECK(most_of_an_edge(spec::Topology::Ladder, {0, 4, 2, 6, 1, 5, 3, 7}) == 2); // 2 -> 4
}

TEST_CASE("every change of one send of a schedule is found", "[kernels][collective]") {
    for (const auto kind : kKinds) {
        const auto right = ring_schedule(kind, std::vector<std::int32_t>{0, 2, 3, 1});
        for (std::size_t step = 0; step < right.steps.size(); ++step) {
            for (std::size_t k = 0; k < right.steps[step].sends.size(); ++k) {
                CAPTURE(text(kind), step, k);
                const auto changed = [&](const auto& change) {
                    auto wrong = right;
                    change(wrong.steps[step].sends[k]);
                    return mistake_of(wrong);
                };
                CHECK(changed([](Send& send) { send.adds = !send.adds; }));
                CHECK(changed([](Send& send) { send.fragment = (send.fragment + 1) % 4; }));
                CHECK(changed([](Send& send) { std::swap(send.from, send.to); }));
                auto wrong = right;
                auto& sends = wrong.steps[step].sends;
                sends.erase(sends.begin() + static_cast<std::ptrdiff_t>(k));
                CHECK(mistake_of(wrong));
            }
        }
    }
}

TEST_CASE("mistakes of a schedule are told by step, member and fragment", "[kernels][collective]") {
    Schedule two{Kind::AllReduce, 2, {{{{0, 1, 0, true}, {1, 0, 1, true}}}}};
    CHECK(mistake_of(two) == "member 0 ends with 1 of 2 values in fragment 0");
    two.steps.push_back({{{1, 0, 0, true}}});
    CHECK(mistake_of(two) ==
          "step 1: the value of member 0 is added twice to fragment 0 of member 0");
    two.steps.back() = {{{1, 0, 0, false}, {0, 1, 0, false}}};
    CHECK(mistake_of(two) == "step 1: fragment 0 of member 1 is sent and written");
    two.steps.back() = {{{0, 2, 0, false}}};
    CHECK(mistake_of(two) == "step 1: member 0 cannot send fragment 0 to member 2 in a group of 2");
    const Schedule three{Kind::AllReduce, 3, {{{{0, 2, 0, true}, {1, 2, 0, true}}}}};
    CHECK(mistake_of(three) == "step 0: fragment 0 of member 2 has two writers");
    const Schedule gather{Kind::AllGather, 2, {{{{0, 1, 1, false}}}}};
    CHECK(mistake_of(gather) == "step 0: member 0 sends fragment 1, which it does not have");
    const Schedule added{Kind::AllGather, 2, {{{{0, 1, 0, true}}}}};
    CHECK(mistake_of(added) == "step 0: member 1 adds to fragment 0, which it does not have");
    CHECK(mistake_of({Kind::AllGather, 2, {}}) == "member 0 ends with 0 of 1 values in fragment 1");
    CHECK(mistake_of({Kind::AllGather, 1, {}}).value_or("") == "");
    CHECK(mistake_of({Kind::ReduceScatter, 2, {{{{1, 0, 0, true}}}}}) ==
          "member 1 ends with 1 of 2 values in fragment 1");
    for (const Send& send :
         {Send{0, 1, 2, true}, Send{0, 1, -1, true}, Send{-1, 1, 0, true}, Send{1, 1, 0, true}}) {
        CHECK(mistake_of({Kind::AllReduce, 2, {{{send}}}}).value_or("").find("cannot send") !=
              std::string::npos);
    }
}

TEST_CASE("of edges that carry as much the one with the least number is told",
          "[kernels][collective]") {
    // all sends of three go over edge 5 and one of their own
    const std::vector<std::vector<std::int32_t>> shared{{0, 5}, {5, 1}, {2, 5}};
    const auto loads = busiest_edges(ring_schedule(Kind::AllGather, in_order(3)), in_order(3),
                                     [&](std::int32_t from, std::int32_t) {
                                         return std::span(shared[static_cast<std::size_t>(from)]);
                                     });
    REQUIRE(loads.size() == 2); // one a step
    for (const EdgeLoad& load : loads) {
        CHECK(load.edge == 5);
        CHECK(load.fragments == 3);
    }
    const std::vector<std::vector<std::int32_t>> own{{7}, {6}};
    const auto alike = busiest_edges(ring_schedule(Kind::AllGather, in_order(2)), in_order(2),
                                     [&](std::int32_t from, std::int32_t) {
                                         return std::span(own[static_cast<std::size_t>(from)]);
                                     });
    REQUIRE(alike.size() == 1);
    CHECK(alike.front().edge == 6);
}
