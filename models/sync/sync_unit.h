// SPDX-License-Identifier: MIT
// The barriers of a chip: releases every tile a fixed time after the last one arrives.
//
//   tiles: arrive ... arrive --barrier_cycles--> at_release (once) --> wake (all tiles)
//                            --outer[zone]: arrive ... wake--> the same
//
// Ports: is the tiles' Barrier; at_release, told before they are released; outer, asked for
//   meetings of its zone where it is bound, and whose Sleeper the unit is.
// Timing: release = cycle of the last arrival + barrier_cycles(meeting), or when the outer barrier
//   wakes the unit.
// Not modelled: the skew of the release over the rows of the grid; waiting for other chips where no
// outer barrier is bound, or for the host (docs/deviations.md). Source: docs/evidence.md#sync
#pragma once

#include "base/units.h"
#include "models/ports/ports.h"
#include "models/spec/machine_spec.h"

#include <systemc>

#include <cstdint>
#include <vector>

namespace tessera::sync {

class SyncUnit : public sc_core::sc_module, public ports::Barrier, public ports::Sleeper {
public:
    sc_core::sc_port<ports::AtRelease, 1, sc_core::SC_ZERO_OR_MORE_BOUND> at_release;
    sc_core::sc_port<ports::Sleeper, 0, sc_core::SC_ZERO_OR_MORE_BOUND>
        tiles; ///< in any order; woken in that of their binding
    sc_core::sc_port<ports::OuterBarrier, 0, sc_core::SC_ZERO_OR_MORE_BOUND> outer; ///< by zone
    sc_core::sc_port<ports::Witness> witness;

    /// A barrier of tiles 0 .. `participants` - 1 (1 or more) of chip `chip`.
    SyncUnit(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
             TileId participants, std::int64_t chip = 0);

    void arrive(TileId tile, const events::Meeting& meeting) override;
    /// The outer barrier that all tiles have come to is released.
    void wake() override;

    /// From the last arrival to the release. The host's is the latency of its link, the end of the
    /// program takes none.
    [[nodiscard]] Cycles barrier_cycles(const events::Meeting& meeting) const;

private:
    void on_release();

    const spec::MachineSpec& spec_;
    std::int64_t chip_;
    bool waits_outside_ = false; ///< for the outer barrier
    std::vector<bool> arrived_;  ///< by tile
    TileId missing_;
    TileId first_ = 0; ///< of those that have arrived, for errors
    TileId last_ = 0;  ///< the lowest number of equals
    Cycles last_arrival_ = 0;
    events::Meeting meeting_;
    sc_core::sc_event ev_last_arrived_;
};

} // namespace tessera::sync
