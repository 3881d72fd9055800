// SPDX-License-Identifier: MIT
// Exchanges over a network of links, for what-if: a 2D mesh and a ring of tiles.
//
//   sender --lane, 1 word/cycle--> link -> link -> ... --lane, 1 word/cycle--> receiver
//
// Timing: a message's head takes hop_cycles a link and waits where an earlier message still holds
//   the link; its words follow without gaps and hold a link bytes / link_bytes cycles. A multicast
//   follows the tree of its routes and holds each link once. A sender starts its messages one after
//   another in the order of the transfers; among senders the one that is free first goes first.
// Approximate: links are granted in the order in which messages start, not word by word, and
//   buffers have no end. Cost grows with messages * hops, never with bytes.
// Source: docs/models/exchange.md#other-fabrics
#pragma once

#include "models/exchange/core/fabric.h"

namespace tessera::exchange {

/// Tiles at their places of the grid, 64 a row; first along the row, then along the column.
[[nodiscard]] FabricOutcome run_mesh(const spec::MachineSpec& machine,
                                     const program::Exchange& exchange);

/// Tiles in the order of their numbers, the last one beside the first.
[[nodiscard]] FabricOutcome run_ring(const spec::MachineSpec& machine,
                                     const program::Exchange& exchange);

} // namespace tessera::exchange
