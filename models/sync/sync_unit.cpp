// SPDX-License-Identifier: MIT
#include "models/sync/sync_unit.h"

#include "base/error.h"
#include "models/ports/clock.h"
#include "models/timing/port_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace tessera::sync {

using events::Meeting;
using ports::Clock;

namespace {

std::string text_of(const Meeting& meeting) {
    switch (meeting.purpose) {
    case Meeting::Purpose::Sync:
        return fmt::format("a sync in step {}", meeting.step);
    case Meeting::Purpose::Exchange:
        return fmt::format("exchange {} in step {}", meeting.exchange, meeting.step);
    case Meeting::Purpose::Link:
        return fmt::format("link exchange {} in step {}", meeting.exchange, meeting.step);
    case Meeting::Purpose::Value:
        return fmt::format("the word of tile_{} at {:#x} after step {}", meeting.value.tile,
                           meeting.value.address, meeting.step);
    case Meeting::Purpose::End:
        break;
    }
    return fmt::format("the end of the program after step {}", meeting.step);
}

} // namespace

SyncUnit::SyncUnit(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
                   TileId participants, std::int64_t chip)
    : sc_module(name), at_release("at_release"), tiles("tiles"), outer("outer"), witness("witness"),
      spec_(spec), chip_(chip), arrived_(participants), missing_(participants),
      last_(participants) {
    TESSERA_ASSERT(participants > 0);
    SC_HAS_PROCESS(SyncUnit);
    SC_METHOD(on_release);
    sensitive << ev_last_arrived_;
    dont_initialize();
}

void SyncUnit::arrive(TileId tile, const Meeting& meeting) {
    if (arrived_.at(tile)) {
        throw ProgramError(
            fmt::format("{}: tile_{} arrives again at a barrier that {} tiles have not reached",
                        name(), tile, missing_));
    }
    if (missing_ == arrived_.size()) {
        meeting_ = meeting;
        first_ = tile;
    } else if (!(meeting == meeting_)) {
        const bool lower = tile < first_;
        throw ProgramError(fmt::format(
            "{}: unbalanced barrier at cycle {}: tile_{} is at {}, tile_{} at {}", name(),
            Clock::now(), std::min(tile, first_), text_of(lower ? meeting : meeting_),
            std::max(tile, first_), text_of(lower ? meeting_ : meeting)));
    }
    arrived_[tile] = true;
    const Cycles now = Clock::now();
    last_ = now > last_arrival_ ? tile : std::min(last_, tile);
    last_arrival_ = now;
    if (--missing_ > 0) {
        return;
    }
    waits_outside_ = meeting.zone.kind == program::SyncZone::Kind::Group && outer.size() > 0;
    if (waits_outside_) {
        if (meeting.zone.number >= static_cast<std::uint32_t>(outer.size())) {
            throw ProgramError(fmt::format("{}: {} is for zone {}, expected one below {}", name(),
                                           text_of(meeting), meeting.zone.number, outer.size()));
        }
        outer[static_cast<int>(meeting.zone.number)]->arrive(chip_, meeting);
    } else {
        ev_last_arrived_.notify(Clock::until(last_arrival_ + barrier_cycles(meeting)));
    }
}

Cycles SyncUnit::barrier_cycles(const Meeting& meeting) const {
    if (meeting.purpose == Meeting::Purpose::End) {
        return 0;
    }
    switch (meeting.zone.kind) {
    case program::SyncZone::Kind::Chip:
        return spec_.sync.internal_cycles;
    case program::SyncZone::Kind::Group:
        return spec_.sync.external_cycles;
    case program::SyncZone::Kind::Host:
        break;
    }
    return timing::host_port(spec_).latency_cycles;
}

void SyncUnit::wake() {
    TESSERA_ASSERT(waits_outside_);
    waits_outside_ = false;
    on_release();
}

void SyncUnit::on_release() {
    try {
        if (at_release.size() > 0) {
            if (const Cycles later = at_release->at_release(meeting_, last_, last_arrival_);
                later > 0) {
                ev_last_arrived_.notify(Clock::until(Clock::now() + later));
                return;
            }
        }
        const Meeting meeting = meeting_; // tiles may come to the next one before all are woken
        missing_ = static_cast<TileId>(arrived_.size());
        std::fill(arrived_.begin(), arrived_.end(), false);
        last_ = missing_;
        if (meeting.purpose == Meeting::Purpose::End) {
            return;
        }
        for (int tile = 0; tile < tiles.size(); ++tile) {
            tiles[tile]->wake();
        }
    } catch (...) {
        witness->failed(ports::Witness::kNoTile, std::current_exception());
    }
}

} // namespace tessera::sync
