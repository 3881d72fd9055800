// SPDX-License-Identifier: MIT
#include "models/listeners/account.h"

#include <algorithm>

namespace tessera::listeners {

using counts::Group;
using events::Doing;

namespace {

constexpr Bytes kBytesOfWord = 4;

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
    case Doing::Link:
        return &CyclesByKind::link;
    case Doing::Awaited:
    case Doing::Delayed:
        break;
    }
    return &CyclesByKind::idle;
}

/// Of a stream copy: what it goes to or comes from, and which way.
counts::Stream port_of(const events::Flight& flight) {
    if (flight.port == events::kStreamingMemoryPort) {
        return flight.read ? counts::Stream::MemoryRead : counts::Stream::MemoryWrite;
    }
    return flight.read ? counts::Stream::HostRead : counts::Stream::HostWrite;
}

void add_to(std::vector<PathShare>& path, TileId tile, const events::Span& span) {
    const auto place =
        std::lower_bound(path.begin(), path.end(), tile,
                         [](const PathShare& share, TileId wanted) { return share.tile < wanted; });
    if (place != path.end() && place->tile == tile) {
        place->cycles += span.cycles();
        place->parts += span.times;
    } else {
        path.insert(place, {tile, span.cycles(), span.times});
    }
}

} // namespace

Account::Account(const program::Program& program, std::int64_t tiles)
    : tiles_(static_cast<std::size_t>(tiles)), arrived_(tiles_.size()),
      compute_sets_(records_of(program.compute_sets)), exchanges_(records_of(program.exchanges)),
      streams_(records_of(program.stream_copies)), links_(records_of(program.link_exchanges)),
      link_bounds_(links_.size()), background_(tiles) {}

StepRecord* Account::record_of(Doing doing, std::uint32_t index) {
    switch (doing) {
    case Doing::ComputeSet:
        return &compute_sets_[index];
    case Doing::Exchange:
        return &exchanges_[index];
    case Doing::Stream:
        return &streams_[index];
    case Doing::Link:
        return &links_[index];
    case Doing::Delayed:
    case Doing::Control:
    case Doing::Told:
    case Doing::Awaited:
        break;
    }
    return nullptr;
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
    tiles_[tile].*kind_of(span.doing) += span.cycles();
    if (StepRecord* const record = record_of(span.doing, span.index)) {
        record->tile_cycles.resize(tiles_.size());
        record->tile_cycles[tile] += span.cycles();
        if (span.doing == Doing::ComputeSet) {
            record->busiest_worker.resize(tiles_.size());
            record->busiest_worker[tile] += span.work.busiest_worker_cycles;
            record->mean_worker.resize(tiles_.size());
            record->mean_worker[tile] += span.work.mean_worker_cycles;
        }
        executions_.take(tile, span);
    }
}

void Account::add(const Execution& done) {
    StepRecord* const record = record_of(done.doing, done.index);
    if (record == nullptr) {
        return;
    }
    if (done.doing == Doing::ComputeSet) { // of others their own events tell
        record->executions += done.times;
    }
    record->slowest_cycles += done.slowest_cycles;
    record->slowest_tile = done.slowest_tile;
    record->active_tiles = done.tiles;
    record->bound_cycles += done.work.bound_cycles; // 0 of others
    record->counts.add(done.work.counts);
    TileSums& sums = record->sums;
    if (sums.tiles != done.tiles) {
        sums = {.tiles = done.tiles, .before = record->mean};
    }
    const auto add_mean = [&](auto& sum, std::int64_t added, double& mean, double before) {
        sum += added;
        mean = before + static_cast<double>(sum) / static_cast<double>(sums.tiles);
    };
    TileMeans& mean = record->mean;
    add_mean(sums.cycles, done.tile_cycles, mean.cycles, sums.before.cycles);
    add_mean(sums.busiest_worker, done.work.busiest_worker_cycles, mean.busiest_worker,
             sums.before.busiest_worker);
    add_mean(sums.mean_worker, done.work.mean_worker_cycles, mean.mean_worker,
             sums.before.mean_worker);
    add_mean(sums.launches, done.work.counts.launches(), mean.launches, sums.before.launches);
    add_mean(sums.fuller_lane, done.lane_cycles, mean.fuller_lane, sums.before.fuller_lane);
}

void Account::take_path(StepRecord& record, const events::PathSpan& part) const {
    const auto& [tile, span] = part;
    record.cycles += span.cycles();
    add_to(record.path, tile, span);
    PathWork& did = record.critical;
    const events::UnevenLaunch& uneven = span.work.uneven;
    if (uneven.launch > 0 &&
        (did.work.uneven.launch == 0 || uneven.excess() > did.work.uneven.excess())) {
        did.work.uneven = uneven;
        did.uneven_tile = tile;
    }
    did.work.add(span.work);
    did.lane_in += span.lanes.in;
    did.lane_out += span.lanes.out;
    Cycles bound = std::max(span.work.bound_cycles, span.lanes.fuller());
    if (span.doing == Doing::Link) {
        bound = link_bounds_[span.index];
    }
    for (const Service& service : services_) {
        if (span.doing == Doing::Stream && service.copy == span.index) {
            bound += std::max<Cycles>(0, std::min(span.end, service.end) -
                                             std::max(span.begin, service.begin));
        }
    }
    did.bound_cycles += std::min(bound, span.cycles());
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
    barriers_ += release.ends_program ? 0 : release.times;
    for (const events::PathSpan& part : release.path) {
        const events::Span& span = part.span;
        phases_.*kind_of(span.doing) += span.cycles();
        add_to(path_, part.tile, span);
        if (StepRecord* const record = record_of(span.doing, span.index)) {
            take_path(*record, part);
        } else if (span.doing != Doing::Delayed) {
            control_cycles_ += span.cycles();
        }
    }
    services_.clear();
    for (const Execution& done : executions_.all()) {
        add(done);
    }
    executions_.released(release);
}

counts::Counts Account::counts() const {
    counts::Counts all;
    for (const auto* records : {&compute_sets_, &exchanges_, &streams_, &links_}) {
        for (const StepRecord& record : *records) {
            all.add(record.counts);
        }
    }
    all.at(Group::Barriers) = barriers_;
    return all;
}

void Account::moved(const events::Moved& moved) {
    StepRecord& record = exchanges_[moved.exchange];
    record.tile_cycles.resize(tiles_.size());
    record.executions += moved.times;
    record.bytes += moved.bytes;
    record.sent_bytes += moved.sent_bytes;
    record.counts.at(Group::Words, counts::Word::Sent) += moved.sent_bytes / kBytesOfWord;
    record.counts.at(Group::Words, counts::Word::Received) += moved.bytes / kBytesOfWord;
    record.counts.at(Group::Barriers) += moved.times;
    record.bound_cycles += moved.bound_cycles;
}

void Account::linked(const events::Linked& linked) {
    StepRecord& record = links_[linked.exchange];
    record.tile_cycles.resize(tiles_.size());
    record.executions += 1;
    record.bytes += linked.bytes;
    record.sent_bytes += linked.sent_bytes;
    record.counts.at(Group::Barriers) += 1;
    record.bound_cycles += linked.bound_cycles;
    record.bound_by = linked.bound_by;
    link_bounds_[linked.exchange] = linked.bound_cycles;
    record.transfer_cycles += linked.end - linked.begin;
}

void Account::copy_begun(const events::Flight& flight) {
    background_.begun(flight);
}

void Account::copy_ended(const events::Flight& flight) {
    StepRecord& record = streams_[flight.copy];
    record.tile_cycles.resize(tiles_.size());
    record.executions += flight.times;
    record.bytes += flight.bytes;
    record.sent_bytes += flight.sent_bytes;
    record.counts.at(Group::StreamBytes, port_of(flight)) += flight.bytes;
    record.bound_cycles += flight.service_end - flight.service_begin;
    services_.push_back({flight.copy, flight.service_begin, flight.service_end});
    record.transfer_cycles += flight.end - flight.begin;
}

} // namespace tessera::listeners
