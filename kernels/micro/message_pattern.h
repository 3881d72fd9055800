// SPDX-License-Identifier: MIT
// Who sends which bytes to whom, for every pattern of an exchange_pattern workload.
//
// Every tile has a row of message slots that it sends from and one that it receives into; a
// message goes from a slot to a slot. What a tile has for itself is a local copy.
#pragma once

#include "base/units.h"
#include "kernels/workload/exchange_workloads.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <vector>

namespace tessera::micro {

/// Bytes that stay on their tile.
struct LocalCopy {
    TileId tile = 0;
    Address from = 0;
    Address to = 0;
};

struct MessagePattern {
    /// Addresses count from the first slot of the tile's row.
    std::vector<program::Transfer> transfers;
    std::vector<LocalCopy> copies;
    std::vector<Bytes> source_bytes;      ///< of every tile: its slots to send from
    std::vector<Bytes> destination_bytes; ///< and to receive into
};

/// @throws ConfigError where the machine has not the tiles
[[nodiscard]] MessagePattern message_pattern(const spec::MachineSpec& machine,
                                             const workload::ExchangePatternWorkload& workload);

} // namespace tessera::micro
