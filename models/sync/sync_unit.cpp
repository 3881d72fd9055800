// SPDX-License-Identifier: MIT
#include "models/sync/sync_unit.h"

#include "base/error.h"

#include <fmt/format.h>

namespace tessera::sync {

SyncUnit::SyncUnit(const sc_core::sc_module_name& name, const spec::SyncSpec& spec,
                   std::int64_t participants, const sc_core::sc_time& cycle_period)
    : sc_module(name), out_release("out_release"), participants_(participants),
      barrier_time_(sc_core::sc_time::from_value(
          cycle_period.value() * static_cast<sc_core::sc_time::value_type>(spec.internal_cycles))) {
    TESSERA_ASSERT(participants > 0);
    SC_HAS_PROCESS(SyncUnit);
    SC_METHOD(on_release);
    sensitive << ev_release_;
    dont_initialize();
}

void SyncUnit::arrive(std::int64_t tiles) {
    arrived_ += tiles;
    if (arrived_ > participants_) {
        throw ProgramError(fmt::format("{}: got {} arrivals at a barrier of {} tiles", name(),
                                       arrived_, participants_));
    }
    if (arrived_ == participants_) {
        ev_release_.notify(barrier_time_);
    }
}

void SyncUnit::on_release() {
    arrived_ = 0;
    out_release->released();
}

} // namespace tessera::sync
