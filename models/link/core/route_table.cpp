// SPDX-License-Identifier: MIT
#include "models/link/core/route_table.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tessera::link {
namespace {

/// Says why a route is none; empty if it is one.
std::string mistake_of(const std::vector<std::int64_t>& through, const Topology& topology) {
    for (const auto chip : through) {
        if (chip >= topology.chips) {
            return fmt::format("got chip {}, expected chips below system.chips = {}", chip,
                               topology.chips);
        }
    }
    const auto from = static_cast<std::int32_t>(through.front());
    const auto to = static_cast<std::int32_t>(through.back());
    if (from == to) {
        return fmt::format("got a route from chip {} to itself, expected two chips", from);
    }
    std::set<std::int32_t> passed;
    for (std::size_t k = 1; k < through.size(); ++k) {
        const auto a = static_cast<std::int32_t>(through[k - 1]);
        const auto b = static_cast<std::int32_t>(through[k]);
        const auto edge = topology.edge(a, b);
        if (!edge) {
            return fmt::format("no edge joins chips {} and {}", a, b);
        }
        if (!passed.insert(*edge).second) {
            return fmt::format("the edge {} -> {} is passed twice", a, b);
        }
    }
    const auto most = static_cast<std::size_t>(topology.diameter()) + 1;
    if (passed.size() > most) {
        return fmt::format("got {} edges, expected at most {} (the diameter and one)",
                           passed.size(), most);
    }
    return {};
}

} // namespace

std::vector<RouteMistake> route_mistakes(const spec::MachineSpec& machine,
                                         const Topology& topology) {
    std::vector<RouteMistake> found;
    std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> given;
    const auto& routes = machine.system.links.routes;
    for (std::size_t i = 0; i < routes.size(); ++i) {
        const auto& through = routes[i].through;
        if (auto message = mistake_of(through, topology); !message.empty()) {
            found.push_back({i, std::move(message)});
            continue;
        }
        const auto [first, fresh] = given.try_emplace({through.front(), through.back()}, i);
        if (!fresh) {
            found.push_back({i, fmt::format("chips {} and {} have a route already, element {}",
                                            through.front(), through.back(), first->second)});
        }
    }
    return found;
}

RouteTable::RouteTable(const spec::MachineSpec& machine, const Topology& topology)
    : chips_(static_cast<std::size_t>(topology.chips)), parts_(chips_ * chips_) {
    for (const auto& route : machine.system.links.routes) {
        const std::vector<std::int32_t> chips{route.through.begin(), route.through.end()};
        auto& part = parts_[index(chips.front(), chips.back())];
        part.first = static_cast<std::uint32_t>(edges_.size());
        part.length = static_cast<std::uint32_t>(chips.size() - 1);
        for (std::size_t k = 1; k < chips.size(); ++k) {
            const auto edge = topology.edge(chips[k - 1], chips[k]);
            TESSERA_ASSERT(edge.has_value());
            edges_.push_back(*edge);
        }
    }
    for (std::int32_t from = 0; from < topology.chips; ++from) {
        if (topology.kind == spec::Topology::Ladder) {
            add_ladder(topology, from);
            continue;
        }
        for (auto edge = topology.first_edge[static_cast<std::size_t>(from)];
             edge < topology.first_edge[static_cast<std::size_t>(from) + 1]; ++edge) {
            const std::vector<std::int32_t> chips{
                from, topology.edges[static_cast<std::size_t>(edge)].to};
            add_walk(topology, chips);
        }
    }
    used_.resize(edges_.size());
    for (const auto& part : parts_) {
        if (part.length > 0) {
            used_[part.first] = std::max(used_[part.first], part.length);
        }
    }
}

void RouteTable::add_walk(const Topology& topology, std::span<const std::int32_t> chips) {
    const auto first = static_cast<std::uint32_t>(edges_.size());
    for (std::size_t k = 1; k < chips.size(); ++k) {
        const auto edge = topology.edge(chips[k - 1], chips[k]);
        TESSERA_ASSERT(edge.has_value());
        edges_.push_back(*edge);
        auto& part = parts_[index(chips.front(), chips[k])];
        if (part.length == 0) {
            part = {first, static_cast<std::uint32_t>(k)};
        }
    }
}

void RouteTable::add_ladder(const Topology& topology, std::int32_t from) {
    const auto first = from / topology.domain_chips * topology.domain_chips;
    const auto last = std::min(first + topology.domain_chips, topology.chips) - 1;
    const auto exists = [&](std::int32_t chip) { return chip >= first && chip <= last; };
    const auto pair = (from - first) % 2 == 0 ? from + 1 : from - 1;
    std::vector<std::int32_t> chips;
    for (const std::int32_t step : {-2, 2}) {
        chips = {from};
        for (auto chip = from + step; exists(chip); chip += step) {
            chips.push_back(chip);
        }
        add_walk(topology, chips);
        chips = {from, pair};
        for (auto chip = pair + step; exists(chip); chip += step) {
            chips.push_back(chip);
        }
        add_walk(topology, chips);
    }
}

} // namespace tessera::link
