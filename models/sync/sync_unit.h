// SPDX-License-Identifier: MIT
// The chip's internal barrier: releases every tile a fixed time after the last one arrives.
//
// Ports: out_release, told once a barrier.
// Timing: release = cycle of the last arrival + sync.internal_cycles.
// Not modelled: the skew of the release over the rows of the grid (docs/deviations.md); zones
// beyond one chip. Source: docs/evidence.md#sync
#pragma once

#include "base/units.h"
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
    SyncUnit(const sc_core::sc_module_name& name, const spec::SyncSpec& spec,
             std::int64_t participants, const sc_core::sc_time& cycle_period);

    /// `tiles` more participants arrive in this cycle. @throws ProgramError if that is more than
    /// take part.
    void arrive(std::int64_t tiles);

private:
    void on_release();

    std::int64_t participants_;
    std::int64_t arrived_ = 0;
    sc_core::sc_time barrier_time_;
    sc_core::sc_event ev_release_;
};

} // namespace tessera::sync
