// SPDX-License-Identifier: MIT
// The barriers of a chip: releases every tile a fixed time after the last one arrives.
//
// Ports: out_release, told once a barrier.
// Timing: release = cycle of the last arrival + barrier_cycles(zone).
// Not modelled: the skew of the release over the rows of the grid; waiting for other chips or for
// the host (docs/deviations.md). Source: docs/evidence.md#sync
#pragma once

#include "base/units.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <systemc>

#include <cstdint>

namespace tessera::sync {

/// Who waits for the barrier.
class SyncRelease : public virtual sc_core::sc_interface {
public:
    virtual void released() = 0;
};

class SyncUnit : public sc_core::sc_module {
public:
    sc_core::sc_port<SyncRelease> out_release;

    /// A barrier of `participants` tiles (1 or more).
    SyncUnit(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
             std::int64_t participants, const sc_core::sc_time& cycle_period);

    /// `tiles` more participants arrive in this cycle; all of one barrier name the same zone.
    /// @throws ProgramError if that is more than take part.
    void arrive(std::int64_t tiles, program::SyncZone zone = program::SyncZone::Internal);

    /// From the last arrival to the release. The host's is the latency of its link.
    [[nodiscard]] Cycles barrier_cycles(program::SyncZone zone) const;

private:
    void on_release();

    std::int64_t participants_;
    std::int64_t arrived_ = 0;
    const spec::MachineSpec& spec_;
    sc_core::sc_time cycle_period_;
    sc_core::sc_event ev_release_;
};

} // namespace tessera::sync
