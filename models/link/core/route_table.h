// SPDX-License-Identifier: MIT
// The edges over which a packet goes from one chip to another. A route is fixed; none depends on
// traffic.
#pragma once

#include "models/link/core/topology.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::link {

/// An element of `system.links.routes` that is no route, and why.
struct RouteMistake {
    std::size_t route = 0;
    std::string message; ///< lower case, no full stop
};

/// Routes of a machine file that are none: a chip that does not exist or belongs to another domain,
/// neighbours without an edge, an edge twice, more edges than the diameter and one, a pair twice.
[[nodiscard]] std::vector<RouteMistake> route_mistakes(const spec::MachineSpec& machine,
                                                       const Topology& topology);

/// Every pair of chips of a domain has a route: the one that the machine names, else that of the
/// topology. Full: the edge between the two. Ladder: the rung first, then rails. Many
/// routes are beginnings of one walk and share its memory.
class RouteTable {
public:
    /// The machine has no route_mistakes().
    RouteTable(const spec::MachineSpec& machine, const Topology& topology);

    /// Numbers of edges in order; none where `from` is `to` or the two are of different domains.
    [[nodiscard]] std::span<const std::int32_t> route(std::int32_t from, std::int32_t to) const {
        const auto& part = parts_[index(from, to)];
        return std::span{edges_}.subspan(part.first, part.length);
    }

    /// Where the edges of a route begin in walks(); route() is that and the next route().size() - 1.
    [[nodiscard]] std::size_t place(std::int32_t from, std::int32_t to) const {
        return parts_[index(from, to)].first;
    }
    /// All walks behind each other.
    [[nodiscard]] std::span<const std::int32_t> walks() const { return edges_; }

    /// Calls visit(edge, next edge) for the neighbours in all routes, at least once for each such pair.
    template <class Visit> void each_turn(const Visit& visit) const {
        for (std::size_t first = 0; first < used_.size(); ++first) {
            for (std::size_t k = 1; k < used_[first]; ++k) {
                visit(edges_[first + k - 1], edges_[first + k]);
            }
        }
    }

private:
    struct Part {
        std::uint32_t first = 0;
        std::uint32_t length = 0;
    };
    [[nodiscard]] std::size_t index(std::int32_t from, std::int32_t to) const {
        return static_cast<std::size_t>(from) * chips_ + static_cast<std::size_t>(to);
    }
    /// Appends a walk through `chips`; each chip on it is reached by a beginning of it, unless it has
    /// a route already.
    void add_walk(const Topology& topology, std::span<const std::int32_t> chips);
    void add_ladder(const Topology& topology, std::int32_t from);

    std::size_t chips_ = 0;
    std::vector<std::int32_t> edges_;
    std::vector<Part> parts_;         ///< by (from, to)
    std::vector<std::uint32_t> used_; ///< by place in edges_: edges of the longest route from there
};

} // namespace tessera::link
