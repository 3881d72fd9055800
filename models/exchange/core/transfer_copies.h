// SPDX-License-Identifier: MIT
// Data movement taken from the transfers themselves, for fabrics that execute no rows.
#pragma once

#include "models/exchange/core/fabric.h"

#include <vector>

namespace tessera::exchange {

/// The copies of all transfers, ascending by destination tile, then destination address.
/// @throws ProgramError, naming exchange, tiles and addresses, for a tile outside the chip or one
/// that is its own receiver, bytes that are no positive multiple of 4, an address that is
/// misaligned or outside memory, two receives of one word, and a word sent from where the same
/// exchange receives.
[[nodiscard]] std::vector<CopyRun> transfer_copies(const spec::MachineSpec& machine,
                                                   const program::Exchange& exchange);

/// An outcome of those copies and nothing else yet: `tiles` are all that send or receive, with 0
/// cycles each.
[[nodiscard]] FabricOutcome outcome_of_transfers(const spec::MachineSpec& machine,
                                                 const program::Exchange& exchange);

} // namespace tessera::exchange
