// SPDX-License-Identifier: MIT
#include "models/link/core/topology.h"

#include "models/timing/link_timing.h"

#include <algorithm>

namespace tessera::link {

std::optional<std::int32_t> Topology::edge(std::int32_t from, std::int32_t to) const {
    const auto begin = edges.begin() + first_edge.at(static_cast<std::size_t>(from));
    const auto end = edges.begin() + first_edge.at(static_cast<std::size_t>(from) + 1);
    const auto found = std::lower_bound(
        begin, end, to, [](const Edge& edge, std::int32_t chip) { return edge.to < chip; });
    if (found == end || found->to != to) {
        return std::nullopt;
    }
    return static_cast<std::int32_t>(found - edges.begin());
}

std::int32_t Topology::diameter() const {
    const auto most = std::min(chips, domain_chips);
    if (most <= 2 || kind == spec::Topology::Full) {
        return most > 1 ? 1 : 0;
    }
    // A chip of the first board, and the chip of the last board that is not in its column.
    return (most - 1) / 2 + 1;
}

Topology topology(const spec::MachineSpec& machine) {
    const auto& system = machine.system;
    const auto& links = system.links;
    const auto timing = timing::link_timing(machine);
    Topology out;
    out.kind = links.topology;
    out.chips = static_cast<std::int32_t>(system.chips);
    out.domain_chips = static_cast<std::int32_t>(system.domain_chips);
    const auto joins = [&](std::int32_t from, std::int32_t to, bool is_rung) {
        const bool is_chip = to >= 0 && to < out.chips && to != from;
        if (is_chip && out.same_domain(from, to)) {
            out.edges.push_back(
                {from, to, static_cast<std::int32_t>(is_rung ? links.rung_links : links.rail_links),
                 is_rung ? timing.rung_hop_cycles : timing.rail_hop_cycles, is_rung});
        }
    };
    for (std::int32_t chip = 0; chip < out.chips; ++chip) {
        out.first_edge.push_back(static_cast<std::int32_t>(out.edges.size()));
        const auto in_domain = chip % out.domain_chips;
        if (out.kind == spec::Topology::Full) {
            const auto first = chip - in_domain;
            for (auto other = first; other < first + out.domain_chips; ++other) {
                joins(chip, other, true);
            }
        } else {
            joins(chip, chip - 2, false);
            const auto pair = in_domain % 2 == 0 ? chip + 1 : chip - 1;
            joins(chip, pair, true);
            joins(chip, chip + 2, false);
        }
    }
    out.first_edge.push_back(static_cast<std::int32_t>(out.edges.size()));
    return out;
}

} // namespace tessera::link
