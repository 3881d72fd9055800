// SPDX-License-Identifier: MIT
// The edges of a system, and which chips they join.
//
//   ladder   1 --- 3 --- 5     columns of even and of odd chips; chips 2 b and 2 b + 1 are board b
//            |     |     |     | a rung      --- a rail
//            0 --- 2 --- 4
//   full     each pair of chips by an edge, which counts as a rung
//
// A ladder has an even number of chips in each domain. Chips of two domains (system.domain_chips neighbouring numbers) have no edge.
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::link {

/// One direction of what joins two chips: `links` links beside each other.
struct Edge {
    std::int32_t from = 0;
    std::int32_t to = 0;
    std::int32_t links = 1;
    Cycles hop_cycles = 1;
    bool is_rung = false;
};

/// Plain data.
struct Topology {
    spec::Topology kind = spec::Topology::Full;
    std::int32_t chips = 1;
    std::int32_t domain_chips = 1;
    std::vector<Edge> edges; ///< ascending (from, to)
    std::vector<std::int32_t>
        first_edge; ///< by chip, its first one in `edges`; one more at the end

    /// Number of the edge between two chips; nothing where there is none.
    [[nodiscard]] std::optional<std::int32_t> edge(std::int32_t from, std::int32_t to) const;
    [[nodiscard]] bool same_domain(std::int32_t a, std::int32_t b) const {
        return a / domain_chips == b / domain_chips;
    }
    /// The most edges of a shortest way between two chips of a domain.
    [[nodiscard]] std::int32_t diameter() const;
};

[[nodiscard]] Topology topology(const spec::MachineSpec& machine);

} // namespace tessera::link
