// SPDX-License-Identifier: MIT
#include "models/listeners/account.h"

#include "base/error.h"

#include <algorithm>

namespace tessera::listeners {

using events::Doing;

namespace {

/// Records of steps that have not run.
template <class Steps> std::vector<StepRecord> records_of(const Steps& steps) {
    std::vector<StepRecord> records;
    for (const auto& step : steps) {
        StepRecord& record = records.emplace_back();
        record.name = step.name;
        record.role = step.role;
    }
    return records;
}

/// Where cycles of that kind go; of a tile's wait for others see Account::idle.
Cycles CyclesByKind::*kind_of(Doing doing) {
    switch (doing) {
    case Doing::Control:
    case Doing::ComputeSet:
        return &CyclesByKind::compute;
    case Doing::Exchange:
    case Doing::Told:
        return &CyclesByKind::exchange;
    case Doing::Stream:
        return &CyclesByKind::stream;
    case Doing::Awaited:
        break;
    }
    return &CyclesByKind::idle;
}

} // namespace

Account::Account(const program::Program& program, std::int64_t tiles)
    : tiles_(static_cast<std::size_t>(tiles)), arrived_(tiles_.size()),
      compute_sets_(records_of(program.compute_sets)), exchanges_(records_of(program.exchanges)),
      streams_(records_of(program.stream_copies)), background_(tiles) {}

StepRecord* Account::record_of(const events::Span& span) {
    switch (span.doing) {
    case Doing::ComputeSet:
        return &compute_sets_[span.index];
    case Doing::Exchange:
        return &exchanges_[span.index];
    case Doing::Stream:
        return &streams_[span.index];
    case Doing::Control:
    case Doing::Told:
    case Doing::Awaited:
        break;
    }
    return nullptr;
}

Account::Execution& Account::execution(std::int64_t step, StepRecord& record) {
    TESSERA_ASSERT(step >= first_step_);
    const auto place = static_cast<std::size_t>(step - first_step_);
    if (place >= executions_.size()) {
        executions_.resize(place + 1);
    }
    executions_[place].record = &record;
    return executions_[place];
}

void Account::segment(const events::Segment& segment) {
    for (const events::Span& span : segment.spans) {
        take(segment.tile, span);
    }
    arrived_[segment.tile] = segment.end;
}

void Account::take(TileId tile, const events::Span& span) {
    if (span.doing == Doing::Awaited) {
        idle(tile, span.begin, span.end);
        return;
    }
    const Cycles cycles = span.cycles();
    tiles_[tile].*kind_of(span.doing) += cycles;
    StepRecord* const record = record_of(span);
    if (record == nullptr) {
        return;
    }
    record->tile_cycles.resize(tiles_.size());
    record->tile_cycles[tile] += cycles;
    Execution& now = execution(span.step, *record);
    const bool first = now.active_tiles == 0;
    if (first && span.doing == Doing::ComputeSet) { // of others their own events tell
        ++record->executions;
    }
    if (first || cycles > now.slowest_cycles ||
        (cycles == now.slowest_cycles && tile < now.slowest_tile)) {
        now.slowest_cycles = cycles;
        now.slowest_tile = tile;
    }
    ++now.active_tiles;
    now.bound_cycles = std::max(now.bound_cycles, span.work.bound_cycles);
    record->worker_issues += span.work.worker_issues;
    record->worker_bundles += span.work.worker_bundles;
    record->supervisor_instructions += span.work.supervisor_instructions;
}

void Account::idle(TileId tile, Cycles begin, Cycles end) {
    background_.split(tile, begin, end, [&](Cycles from, Cycles to, bool streams) {
        (streams ? tiles_[tile].stream : tiles_[tile].idle) += to - from;
    });
}

void Account::released(const events::Release& release) {
    const Cycles barrier = release.cycle - release.last_arrival;
    for (TileId tile = 0; tile < tiles_.size(); ++tile) {
        if (arrived_[tile] < release.last_arrival) {
            idle(tile, arrived_[tile], release.last_arrival);
        }
        tiles_[tile].sync += barrier;
        arrived_[tile] = release.cycle;
    }
    phases_.sync += barrier;
    for (const auto& [tile, span] : release.path) {
        phases_.*kind_of(span.doing) += span.cycles();
        if (StepRecord* const record = record_of(span)) {
            record->cycles += span.cycles();
        } else {
            control_cycles_ += span.cycles();
        }
    }
    for (const Execution& done : executions_) {
        if (done.record == nullptr) {
            continue;
        }
        done.record->slowest_cycles += done.slowest_cycles;
        done.record->slowest_tile = done.slowest_tile;
        done.record->active_tiles = done.active_tiles;
        done.record->bound_cycles += done.bound_cycles;
    }
    executions_.clear();
    first_step_ = release.steps_done;
}

void Account::moved(const events::Moved& moved) {
    StepRecord& record = exchanges_[moved.exchange];
    record.tile_cycles.resize(tiles_.size());
    record.executions += 1;
    record.bytes += moved.bytes;
    record.sent_bytes += moved.sent_bytes;
    record.bound_cycles += moved.bound_cycles;
}

void Account::copy_begun(const events::Flight& flight) {
    background_.begun(flight);
}

void Account::copy_ended(const events::Flight& flight) {
    StepRecord& record = streams_[flight.copy];
    record.tile_cycles.resize(tiles_.size());
    record.executions += 1;
    record.bytes += flight.bytes;
    record.sent_bytes += flight.sent_bytes;
    record.bound_cycles += flight.service_end - flight.service_begin;
    record.transfer_cycles += flight.end - flight.begin;
}

} // namespace tessera::listeners
