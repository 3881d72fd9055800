// SPDX-License-Identifier: MIT
// Finds routes with which packets can wait for each other's places for ever.
//
// A packet at the far end of an edge holds a place there while it waits for one at the far end of the
// next edge of its route. If these waits form a circle, all buffers of it may be full at once. If they
// do not, the last buffer of every chain drains into a tile, and everything moves (Dally and Seitz).
#pragma once

#include "models/link/core/route_table.h"
#include "models/link/core/topology.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::link {

/// Edges of which each waits for the next one and the last one for the first; the shortest circle
/// through its least edge. Nothing if there is none, or if buffers are endless.
[[nodiscard]] std::vector<std::int32_t> circle_of_full_buffers(const spec::MachineSpec& machine,
                                                               const Topology& topology,
                                                               const RouteTable& routes);

/// "0 -> 1 -> 3 -> 2 -> 0".
[[nodiscard]] std::string circle_text(const Topology& topology,
                                      const std::vector<std::int32_t>& circle);

} // namespace tessera::link
