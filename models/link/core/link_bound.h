// SPDX-License-Identifier: MIT
// The least cycles that a link exchange takes, from its messages alone: no queue is followed. Each of
// three resources takes its own bytes one after the other, and none before the first can be there:
//
//   edge      first way there + bytes with overheads / (links x rate) + shortest way on
//   context   first way there + bytes with overheads / lane + block         of tiles that receive
//   lane      turns and bytes with overheads / lane + way of the last packet    of tiles that send
//
// Source: docs/models/links.md#the-bound
#pragma once

#include "base/units.h"
#include "models/link/core/packet_network.h"
#include "models/link/core/route_table.h"
#include "models/link/core/topology.h"
#include "models/timing/link_timing.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace tessera::link {

/// The resource that a link exchange waits for. Lane and Turn are of a context that sends: Turn if its turns
/// take at least as long as its bytes.
enum class Binds { Nothing, Edge, Context, Lane, Turn };

[[nodiscard]] std::string_view text(Binds binds);

struct LinkBound {
    Cycles edge_cycles = 0;    ///< by the busiest edge
    Cycles context_cycles = 0; ///< by the context that receives longest
    Cycles lane_cycles = 0;    ///< by the context that sends longest, with its turns
    std::int32_t edge = -1;    ///< the busiest one, the lowest number of equals
    Binds binds = Binds::Nothing;

    [[nodiscard]] Cycles cycles() const;
};

/// The bound counts from the cycle in which turns may begin, the same for all messages, to the last arrival.
/// `messages` are those of all chips; a tile's are in the order in which it sends them.
[[nodiscard]] LinkBound link_bound(const timing::LinkTiming& timing, const Topology& topology,
                                   const RouteTable& routes, std::span<const Message> messages);

} // namespace tessera::link
