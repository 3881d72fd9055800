// SPDX-License-Identifier: MIT
// What the transfers of an exchange ask for, whatever carries them and in whatever order.
#pragma once

#include "base/units.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <vector>

namespace tessera::exchange {

/// Cycles of every tile's lanes: a message takes one for each lane's width of it that is begun. A
/// paired one (where `exchange.pairs()`) has the width of two, and the sender's pair gives both
/// outgoing lanes for it; multicast is one pass for the sender.
struct Demand {
    std::vector<Cycles> in;  ///< by tile: lane-cycles in; a paired message counts once
    std::vector<Cycles> out; ///< by tile: lane-cycles out

    /// Fewest cycles in which the busiest lane can be done.
    [[nodiscard]] Cycles bound() const;
};

/// @throws ProgramError if a transfer names a tile outside the chip.
[[nodiscard]] Demand demand_of(const spec::MachineSpec& machine, const program::Exchange& exchange);

} // namespace tessera::exchange
