// SPDX-License-Identifier: MIT
#include "models/link/core/deadlock_check.h"

#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>

#include <algorithm>
#include <deque>
#include <utility>

namespace tessera::link {
namespace {

/// A vertex is an edge of the topology; an arc leads to the edge that a packet takes next.
using Waits =
    boost::compressed_sparse_row_graph<boost::directedS, boost::no_property, boost::no_property,
                                       boost::no_property, std::uint32_t, std::uint32_t>;

Waits waits_of(const Topology& topology, const RouteTable& routes) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> arcs;
    routes.each_turn([&](std::int32_t edge, std::int32_t next) {
        arcs.emplace_back(static_cast<std::uint32_t>(edge), static_cast<std::uint32_t>(next));
    });
    std::sort(arcs.begin(), arcs.end());
    arcs.erase(std::unique(arcs.begin(), arcs.end()), arcs.end());
    return {boost::edges_are_sorted, arcs.begin(), arcs.end(),
            static_cast<std::uint32_t>(topology.edges.size())};
}

/// The shortest way from `start` back to itself; there is one.
std::vector<std::int32_t> shortest_circle(const Waits& waits, std::uint32_t start) {
    constexpr std::uint32_t kNone = ~0U;
    std::vector<std::uint32_t> before(boost::num_vertices(waits), kNone);
    std::deque<std::uint32_t> open{start};
    while (before[start] == kNone) {
        const auto edge = open.front();
        open.pop_front();
        for (auto [arc, end] = boost::out_edges(edge, waits); arc != end; ++arc) {
            const auto next = boost::target(*arc, waits);
            if (before[next] == kNone) {
                before[next] = edge;
                open.push_back(next);
            }
        }
    }
    std::vector<std::int32_t> circle{static_cast<std::int32_t>(start)};
    for (auto edge = before[start]; edge != start; edge = before[edge]) {
        circle.push_back(static_cast<std::int32_t>(edge));
    }
    std::reverse(circle.begin() + 1, circle.end());
    return circle;
}

} // namespace

std::vector<std::int32_t> circle_of_full_buffers(const spec::MachineSpec& machine,
                                                 const Topology& topology,
                                                 const RouteTable& routes) {
    if (machine.system.links.buffer_packets == 0) {
        return {};
    }
    const Waits waits = waits_of(topology, routes);
    std::vector<std::uint32_t> component(topology.edges.size());
    const auto components = boost::strong_components(
        waits, boost::make_iterator_property_map(component.begin(),
                                                 boost::get(boost::vertex_index, waits)));
    // No edge waits for itself, so a component of one edge has no circle.
    std::vector<std::uint32_t> members(components);
    for (const auto number : component) {
        ++members[number];
    }
    for (std::uint32_t edge = 0; edge < component.size(); ++edge) {
        if (members[component[edge]] > 1) {
            return shortest_circle(waits, edge);
        }
    }
    return {};
}

std::string circle_text(const Topology& topology, const std::vector<std::int32_t>& circle) {
    std::string out =
        std::to_string(topology.edges.at(static_cast<std::size_t>(circle.front())).from);
    for (const auto edge : circle) {
        out += " -> " + std::to_string(topology.edges.at(static_cast<std::size_t>(edge)).to);
    }
    return out;
}

} // namespace tessera::link
