// SPDX-License-Identifier: MIT
#include "models/sync/sync_unit.h"

#include "base/error.h"
#include "models/timing/link_timing.h"

#include <fmt/format.h>

namespace tessera::sync {

SyncUnit::SyncUnit(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
                   std::int64_t participants, const sc_core::sc_time& cycle_period)
    : sc_module(name), out_release("out_release"), participants_(participants), spec_(spec),
      cycle_period_(cycle_period) {
    TESSERA_ASSERT(participants > 0);
    SC_HAS_PROCESS(SyncUnit);
    SC_METHOD(on_release);
    sensitive << ev_release_;
    dont_initialize();
}

void SyncUnit::arrive(std::int64_t tiles, program::SyncZone zone) {
    arrived_ += tiles;
    if (arrived_ > participants_) {
        throw ProgramError(fmt::format("{}: got {} arrivals at a barrier of {} tiles", name(),
                                       arrived_, participants_));
    }
    if (arrived_ == participants_) {
        ev_release_.notify(sc_core::sc_time::from_value(
            cycle_period_.value() *
            static_cast<sc_core::sc_time::value_type>(barrier_cycles(zone))));
    }
}

Cycles SyncUnit::barrier_cycles(program::SyncZone zone) const {
    switch (zone) {
    case program::SyncZone::Internal:
        return spec_.sync.internal_cycles;
    case program::SyncZone::External:
        return spec_.sync.external_cycles;
    case program::SyncZone::Host:
        break;
    }
    return timing::host_link(spec_).latency_cycles;
}

void SyncUnit::on_release() {
    arrived_ = 0;
    out_release->released();
}

} // namespace tessera::sync
