// SPDX-License-Identifier: MIT
// The barriers of a chip: releases every tile a fixed time after the last one arrives.
//
//   tiles: arrive ... arrive --barrier_cycles--> at_release (once) --> wake (all tiles)
//
// Ports: is the tiles' Barrier; at_release, told before they are released.
// Timing: release = cycle of the last arrival + barrier_cycles(meeting).
// Not modelled: the skew of the release over the rows of the grid; waiting for other chips or for
// the host (docs/deviations.md). Source: docs/evidence.md#sync
#pragma once

#include "base/units.h"
#include "models/ports/ports.h"
#include "models/spec/machine_spec.h"

#include <systemc>

#include <vector>

namespace tessera::sync {

class SyncUnit : public sc_core::sc_module, public ports::Barrier {
public:
    sc_core::sc_port<ports::AtRelease, 1, sc_core::SC_ZERO_OR_MORE_BOUND> at_release;
    sc_core::sc_port<ports::Sleeper, 0, sc_core::SC_ZERO_OR_MORE_BOUND>
        tiles; ///< in any order; woken in that of their binding
    sc_core::sc_port<ports::Witness> witness;

    /// A barrier of tiles 0 .. `participants` - 1 (1 or more).
    SyncUnit(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
             TileId participants);

    void arrive(TileId tile, const events::Meeting& meeting) override;

    /// From the last arrival to the release. The host's is the latency of its link, the end of the
    /// program takes none.
    [[nodiscard]] Cycles barrier_cycles(const events::Meeting& meeting) const;

private:
    void on_release();

    const spec::MachineSpec& spec_;
    std::vector<bool> arrived_; ///< by tile
    TileId missing_;
    TileId first_ = 0; ///< of those that have arrived, for errors
    TileId last_ = 0;  ///< the lowest number of equals
    Cycles last_arrival_ = 0;
    events::Meeting meeting_;
    sc_core::sc_event ev_last_arrived_;
};

} // namespace tessera::sync
