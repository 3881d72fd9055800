// SPDX-License-Identifier: MIT
#include "models/listeners/trace_producer.h"

#include <algorithm>

namespace tessera::listeners {

using events::Doing;

namespace {

traces::Kind trace_kind(Doing doing) {
    switch (doing) {
    case Doing::Control:
    case Doing::ComputeSet:
        return traces::Kind::Compute;
    case Doing::Exchange:
    case Doing::Told:
        return traces::Kind::Exchange;
    case Doing::Stream:
        return traces::Kind::Stream;
    case Doing::Awaited:
        break;
    }
    return traces::Kind::Idle;
}

} // namespace

TraceProducer::TraceProducer(const program::Program& program, std::int64_t tiles,
                             traces::TraceSink& sink, traces::NameTable& names)
    : sink_(sink), arrived_(static_cast<std::size_t>(tiles)), moved_(program.exchanges.size()),
      background_(tiles) {
    const auto label = [&](const auto& step) -> Label {
        const traces::NameId name = names.intern(step.name);
        return {name, names.intern(program::word(step.role))};
    };
    for (const auto& set : program.compute_sets) {
        compute_sets_.push_back(label(set));
        for (const auto& tile : set.tiles) {
            if (tile.stub != 0) {
                name_of_entry_.emplace(tile.stub, compute_sets_.back().name);
            }
        }
    }
    for (const auto& exchange : program.exchanges) {
        exchanges_.push_back(label(exchange));
    }
    for (const auto& copy : program.stream_copies) {
        streams_.push_back(label(copy));
    }
    for (const auto& codelet : program.codelets) {
        for (const auto& [symbol, address] : codelet.symbols) {
            name_of_entry_.insert_or_assign(address, names.intern(symbol));
        }
    }
    control_.name = names.intern("control");
    told_.name = names.intern("control value");
}

TraceProducer::Label TraceProducer::label_of(const events::Span& span) const {
    switch (span.doing) {
    case Doing::Control:
        return control_;
    case Doing::ComputeSet:
        return compute_sets_[span.index];
    case Doing::Exchange:
        return exchanges_[span.index];
    case Doing::Told:
        return told_;
    case Doing::Stream:
        return streams_[span.index];
    case Doing::Awaited:
        break;
    }
    return {};
}

void TraceProducer::segment(const events::Segment& segment) {
    for (const events::Span& span : segment.spans) {
        if (span.doing == Doing::ComputeSet && sink_.wants_counters()) {
            changes_.push_back({span.begin, 1});
            changes_.push_back({span.end, -1});
        }
        take(segment.tile, span);
        if (!sink_.wants(traces::tile_track(segment.tile))) {
            continue;
        }
        if (span.doing == Doing::Awaited) {
            wait(segment.tile, span.begin, span.end);
        } else {
            tile_span(segment.tile, trace_kind(span.doing), label_of(span).name, span.begin,
                      span.end);
        }
    }
    arrived_[segment.tile] = segment.end;
    contexts(segment);
}

void TraceProducer::take(TileId tile, const events::Span& span) {
    if (span.doing != Doing::ComputeSet && span.doing != Doing::Exchange) {
        return;
    }
    const auto place = static_cast<std::size_t>(span.step - first_step_);
    executions_.resize(std::max(executions_.size(), place + 1));
    Execution& all = executions_[place];
    if (span.cycles() > all.slowest_cycles ||
        (span.cycles() == all.slowest_cycles && tile < all.slowest_tile)) {
        all.slowest_tile = tile;
        all.slowest_cycles = span.cycles();
    }
    all.tile_cycles += span.cycles();
    all.work.worker_issues += span.work.worker_issues;
    all.work.worker_bundles += span.work.worker_bundles;
    all.work.supervisor_instructions += span.work.supervisor_instructions;
    all.work.bound_cycles = std::max(all.work.bound_cycles, span.work.bound_cycles);
}

void TraceProducer::contexts(const events::Segment& segment) {
    for (const auto& span : segment.contexts) {
        const auto track =
            span.context < 0
                ? traces::supervisor_track(segment.tile)
                : traces::worker_track(segment.tile, static_cast<std::uint8_t>(span.context));
        if (!sink_.wants(track)) {
            continue;
        }
        const auto name = name_of_entry_.find(span.entry);
        sink_.span({.track = track,
                    .kind = traces::Kind::Compute,
                    .name = name == name_of_entry_.end() ? traces::kUnnamed : name->second,
                    .begin = span.begin,
                    .end = span.end,
                    .args = {}});
    }
}

void TraceProducer::released(const events::Release& release) {
    for (const auto& part : release.path) {
        machine_span(part);
        slowest_span(part);
    }
    if (release.last_arrival < release.cycle && sink_.wants(traces::machine_track())) {
        sink_.span({.track = traces::machine_track(),
                    .kind = traces::Kind::Sync,
                    .name = traces::kUnnamed,
                    .begin = release.last_arrival,
                    .end = release.cycle,
                    .args = {{{traces::ArgKey::Step, release.steps_done},
                              {traces::ArgKey::SlowestTile, release.critical}}}});
    }
    for (TileId tile = 0; tile < arrived_.size(); ++tile) {
        if (sink_.wants(traces::tile_track(tile))) {
            wait(tile, arrived_[tile], release.last_arrival);
            tile_span(tile, traces::Kind::Sync, traces::kUnnamed, release.last_arrival,
                      release.cycle);
        }
        arrived_[tile] = release.cycle;
    }
    active_tiles();
    executions_.clear();
    first_step_ = release.steps_done;
}

void TraceProducer::active_tiles() {
    std::sort(changes_.begin(), changes_.end(),
              [](const Change& left, const Change& right) { return left.cycle < right.cycle; });
    std::int64_t active = 0;
    for (std::size_t i = 0; i < changes_.size(); ++i) {
        active += changes_[i].by;
        if (i + 1 == changes_.size() || changes_[i + 1].cycle != changes_[i].cycle) {
            sample(traces::Counter::ActiveTiles, changes_[i].cycle, active);
        }
    }
    changes_.clear();
}

void TraceProducer::moved(const events::Moved& moved) {
    moved_[moved.exchange] = moved;
    sample(traces::Counter::ExchangeBytes, moved.begin, moved.bytes);
    sample(traces::Counter::ExchangeBytes, moved.end, 0);
}

void TraceProducer::copy_begun(const events::Flight& flight) {
    background_.begun(flight);
}

void TraceProducer::copy_ended(const events::Flight& flight) {
    const auto link = flight.streaming_memory ? traces::Link::StreamingMemory : traces::Link::Host;
    const auto track = traces::link_track(link, flight.read);
    if (!sink_.wants(track)) {
        return;
    }
    const Label label = streams_[flight.copy];
    sink_.span({.track = track,
                .kind = traces::Kind::Stream,
                .name = label.name,
                .begin = flight.service_begin,
                .end = flight.service_end,
                .args = {{{traces::ArgKey::Step, flight.step},
                          {traces::ArgKey::Bytes, flight.bytes},
                          {traces::ArgKey::Role, label.role}}}});
}

void TraceProducer::machine_span(const events::PathSpan& part) {
    if (!sink_.wants(traces::machine_track())) {
        return;
    }
    const events::Span& span = part.span;
    const Label label = label_of(span);
    traces::Span told{.track = traces::machine_track(),
                      .kind = trace_kind(span.doing),
                      .name = label.name,
                      .begin = span.begin,
                      .end = span.end,
                      .args = {}};
    auto arg = told.args.begin();
    *arg++ = {traces::ArgKey::Step, span.step};
    if (label.role != traces::kUnnamed) {
        *arg++ = {traces::ArgKey::Role, label.role};
    }
    if (span.doing == Doing::ComputeSet || span.doing == Doing::Exchange) {
        const Execution& all = executions_[static_cast<std::size_t>(span.step - first_step_)];
        const bool computes = span.doing == Doing::ComputeSet;
        const Cycles bound = computes ? all.work.bound_cycles : moved_[span.index].bound_cycles;
        *arg++ = {traces::ArgKey::SlowestTile, all.slowest_tile};
        *arg++ = {traces::ArgKey::SlowestCycles, all.slowest_cycles};
        *arg++ = {traces::ArgKey::Bound, bound};
        if (bound > 0) {
            *arg++ = {traces::ArgKey::OfBound, 100 * all.slowest_cycles / bound};
        }
        if (computes) {
            const std::int64_t issues = all.work.worker_issues + all.work.supervisor_instructions;
            *arg++ = {traces::ArgKey::Bundles, all.work.worker_bundles};
            *arg++ = {traces::ArgKey::SlotsUsed, 100 * issues / all.tile_cycles};
        } else {
            *arg++ = {traces::ArgKey::Bytes, moved_[span.index].bytes};
        }
    }
    sink_.span(told);
}

void TraceProducer::slowest_span(const events::PathSpan& part) {
    if (!sink_.wants(traces::slowest_track())) {
        return;
    }
    const Label label = label_of(part.span);
    sink_.span(
        {.track = traces::slowest_track(),
         .kind = trace_kind(part.span.doing),
         .name = label.name,
         .begin = part.span.begin,
         .end = part.span.end,
         .args = {{{traces::ArgKey::Tile, part.tile}, {traces::ArgKey::Step, part.span.step}}}});
}

void TraceProducer::wait(TileId tile, Cycles begin, Cycles end) {
    background_.split(tile, begin, end, [&](Cycles from, Cycles to, bool streams) {
        tile_span(tile, streams ? traces::Kind::Stream : traces::Kind::Idle, traces::kUnnamed, from,
                  to);
    });
}

void TraceProducer::tile_span(TileId tile, traces::Kind kind, traces::NameId name, Cycles begin,
                              Cycles end) {
    if (begin < end) {
        sink_.span({.track = traces::tile_track(tile),
                    .kind = kind,
                    .name = name,
                    .begin = begin,
                    .end = end,
                    .args = {}});
    }
}

void TraceProducer::sample(traces::Counter counter, Cycles cycle, std::int64_t value) {
    if (sink_.wants_counters()) {
        sink_.counter({counter, cycle, value});
    }
}

} // namespace tessera::listeners
