// SPDX-License-Identifier: MIT
#include "models/listeners/trace_producer.h"

#include "models/program/leaf_steps.h"
#include "models/program/memory_use.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tessera::listeners {

using events::Doing;

namespace {

constexpr Bytes kWordBytes = 4;

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
    case Doing::Link:
        return traces::Kind::Link;
    case Doing::Awaited:
    case Doing::Delayed:
        break;
    }
    return traces::Kind::Idle;
}

/// Marks rounds of a repeat that are told as one: a reader of the trace sees why time jumps.
traces::Arg times_arg(std::int64_t times) {
    return times > 1 ? traces::Arg{traces::ArgKey::Times, times} : traces::Arg{};
}

/// Of the steps that the matrix units of the tiles that take part could have done.
std::int64_t matrix_percent(const Execution& all, double steps_per_issue) {
    return static_cast<std::int64_t>(100 * static_cast<double>(all.work.counts.matrix_steps()) /
                                     (static_cast<double>(all.tile_cycles) * steps_per_issue));
}

} // namespace

TraceProducer::TraceProducer(const program::Program& program, const spec::MachineSpec& machine,
                             traces::TraceSink& sink, traces::NameTable& names, std::uint32_t chip)
    : sink_(sink), chip_(chip), steps_per_issue_(machine.amp.steps_per_issue),
      arrived_(static_cast<std::size_t>(machine.chip.tiles)), last_(arrived_.size()),
      flows_(traces::kFlowsOfChip * std::int64_t{chip}), moved_(program.exchanges.size()),
      linked_(program.link_exchanges.size()), background_(machine.chip.tiles) {
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
    for (const auto& exchange : program.link_exchanges) {
        links_.push_back(label(exchange));
    }
    name_entries(program, names);
    find_memory(program);
    control_.name = names.intern("control");
    told_.name = names.intern("control value");
}

void TraceProducer::name_entries(const program::Program& program, traces::NameTable& names) {
    for (const auto& codelet : program.codelets) {
        for (const auto& [symbol, address] : codelet.symbols) {
            entries_.push_back({address, names.intern(symbol)});
        }
        const auto bytes = static_cast<Address>(codelet.words.size() * sizeof(std::uint32_t));
        entries_.push_back({codelet.address + bytes, traces::kUnnamed});
    }
    // where a codelet ends, the next may begin
    const auto key = [](const Entry& of) {
        return std::pair(of.address, of.name != traces::kUnnamed);
    };
    std::stable_sort(entries_.begin(), entries_.end(),
                     [&](const Entry& left, const Entry& right) { return key(left) < key(right); });
}

/// Workers may begin behind a label that is not kept as a symbol: they are of the symbol before.
traces::NameId TraceProducer::name_of(Address entry) {
    const auto [known, is_new] = name_of_entry_.try_emplace(entry, traces::kUnnamed);
    if (is_new) {
        const auto next =
            std::upper_bound(entries_.begin(), entries_.end(), entry,
                             [](Address address, const Entry& of) { return address < of.address; });
        if (next != entries_.begin()) {
            known->second = std::prev(next)->name;
        }
    }
    return known->second;
}

/// A step that stands in the control program several times is taken where it stands first.
void TraceProducer::find_memory(const program::Program& program) {
    using Kind = program::Step::Kind;
    const program::MemoryUse use = program::memory_use(program);
    std::vector<Bytes> most(use.spans.size());
    for (const program::ImageUse& image : use.images) {
        for (std::size_t span = 0; span < most.size(); ++span) {
            most[span] = std::max(most[span], program::sum_of(image.of_span[span]));
        }
    }
    memory_of_set_.resize(program.compute_sets.size());
    memory_of_exchange_.resize(program.exchanges.size());
    std::uint32_t number = 0;
    std::size_t span = 0;
    for (const program::Step* leaf : program::leaf_steps(program)) {
        while (span + 1 < use.spans.size() && use.spans[span + 1] <= number) {
            ++span;
        }
        ++number;
        Bytes* const of = leaf->kind == Kind::ComputeSet ? &memory_of_set_[leaf->index]
                          : leaf->kind == Kind::Exchange ? &memory_of_exchange_[leaf->index]
                                                         : nullptr;
        if (of != nullptr && *of == 0) {
            *of = most[span];
        }
    }
}

void TraceProducer::memory(const events::PathSpan& part) {
    const bool computes = part.span.doing == Doing::ComputeSet;
    if (!computes && part.span.doing != Doing::Exchange) {
        return;
    }
    const Bytes now = (computes ? memory_of_set_ : memory_of_exchange_)[part.span.index];
    if (now != memory_) {
        memory_ = now;
        sample(traces::Counter::MemoryBytes, part.span.begin, now);
    }
}

/// What has arrived by then is counted.
void TraceProducer::words_until(Cycles cycle) {
    std::sort(arriving_.begin(), arriving_.end());
    auto next = arriving_.begin();
    for (; next != arriving_.end() && next->first <= cycle; ++next) {
        words_ += next->second / kWordBytes;
        sample(traces::Counter::WordsMoved, next->first, words_);
    }
    arriving_.erase(arriving_.begin(), next);
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
    case Doing::Link:
        return links_[span.index];
    case Doing::Awaited:
    case Doing::Delayed:
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
        executions_.take(segment.tile, span);
        if (!sink_.wants(traces::tile_track(segment.tile))) {
            continue;
        }
        if (span.doing == Doing::Awaited) {
            wait(segment.tile, span.begin, span.end, span.times);
        } else {
            tile_span(segment.tile, trace_kind(span.doing), label_of(span).name, span.begin,
                      span.end, span.times);
        }
    }
    arrived_[segment.tile] = segment.end;
    contexts(segment);
}

void TraceProducer::contexts(const events::Segment& segment) {
    for (const auto& span : segment.contexts) {
        const auto within =
            std::ranges::upper_bound(segment.spans, span.begin, {}, &events::Span::begin);
        const std::int64_t times = within == segment.spans.begin() ? 1 : std::prev(within)->times;
        const auto track =
            span.context < 0
                ? traces::supervisor_track(segment.tile)
                : traces::worker_track(segment.tile, static_cast<std::uint8_t>(span.context));
        if (!sink_.wants(track)) {
            continue;
        }
        send({.track = track,
              .kind = traces::Kind::Compute,
              .name = name_of(span.entry),
              .begin = span.begin,
              .end = span.end,
              .args = {{times_arg(times)}}});
    }
}

void TraceProducer::released(const events::Release& release) {
    const bool waits = release.last_arrival < release.cycle;
    const std::int64_t flow = waits && !release.path.empty() ? ++flows_ : 0;
    for (const auto& part : release.path) {
        machine_span(part);
        slowest_span(part, {&part == &release.path.back() ? flow : 0});
        memory(part);
    }
    if (flow != 0 && release.path.back().tile == release.critical) {
        last_[release.critical].flow.number = flow;
    }
    if (waits && sink_.wants(traces::machine_track())) {
        send({.track = traces::machine_track(),
              .kind = traces::Kind::Sync,
              .name = traces::kUnnamed,
              .begin = release.last_arrival,
              .end = release.cycle,
              .args = {{{traces::ArgKey::Step, release.steps_done},
                        {traces::ArgKey::SlowestTile, release.critical},
                        times_arg(release.times)}},
              .flow = {flow, flow != 0}});
    }
    for (TileId tile = 0; tile < arrived_.size(); ++tile) {
        if (sink_.wants(traces::tile_track(tile))) {
            wait(tile, arrived_[tile], release.last_arrival, release.times);
            tile_span(tile, traces::Kind::Sync, traces::kUnnamed, release.last_arrival,
                      release.cycle, release.times);
            flush(tile);
        }
        arrived_[tile] = release.cycle;
    }
    active_tiles();
    words_until(release.cycle);
    executions_.released(release);
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
    arriving_.emplace_back(moved.end, moved.bytes);
    sample(traces::Counter::ExchangeBytes, moved.begin, moved.bytes);
    sample(traces::Counter::ExchangeBytes, moved.end, 0);
}

void TraceProducer::linked(const events::Linked& linked) {
    linked_[linked.exchange] = linked;
}

void TraceProducer::copy_begun(const events::Flight& flight) {
    background_.begun(flight);
}

void TraceProducer::copy_ended(const events::Flight& flight) {
    arriving_.emplace_back(flight.end, flight.bytes);
    const auto port = flight.port == events::kStreamingMemoryPort ? traces::Port::StreamingMemory
                                                                  : traces::Port::Host;
    const auto track = traces::port_track(port, flight.read);
    if (!sink_.wants(track)) {
        return;
    }
    const Label label = streams_[flight.copy];
    send({.track = track,
          .kind = traces::Kind::Stream,
          .name = label.name,
          .begin = flight.service_begin,
          .end = flight.service_end,
          .args = {{{traces::ArgKey::Step, flight.step},
                    {traces::ArgKey::Bytes, flight.bytes},
                    {traces::ArgKey::Role, label.role},
                    times_arg(flight.times)}}});
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
        const Execution& all = executions_.of(span.step);
        const bool computes = span.doing == Doing::ComputeSet;
        const Cycles bound = computes ? all.work.bound_cycles : moved_[span.index].bound_cycles;
        *arg++ = {traces::ArgKey::SlowestTile, all.slowest_tile};
        *arg++ = {traces::ArgKey::SlowestCycles, all.slowest_cycles};
        *arg++ = {traces::ArgKey::Bound, bound};
        if (bound > 0) {
            *arg++ = {traces::ArgKey::OfBound, 100 * all.slowest_cycles / bound};
        }
        if (computes) {
            const counts::Counts& did = all.work.counts;
            const std::int64_t issues = did.worker_issues() + did.supervisor_instructions();
            *arg++ = {traces::ArgKey::Bundles, did.worker_bundles()};
            *arg++ = {traces::ArgKey::SlotsUsed, 100 * issues / all.tile_cycles};
            *arg++ = {traces::ArgKey::MatrixUnit, matrix_percent(all, steps_per_issue_)};
        } else {
            *arg++ = {traces::ArgKey::Bytes, moved_[span.index].bytes};
        }
    }
    if (span.doing == Doing::Link) {
        *arg++ = {traces::ArgKey::Bound, linked_[span.index].bound_cycles};
        *arg++ = {traces::ArgKey::Bytes, linked_[span.index].bytes};
    }
    *arg = times_arg(span.times);
    send(told);
}

void TraceProducer::slowest_span(const events::PathSpan& part, traces::Flow flow) {
    if (!sink_.wants(traces::slowest_track())) {
        return;
    }
    const Label label = label_of(part.span);
    send({.track = traces::slowest_track(),
          .kind = trace_kind(part.span.doing),
          .name = label.name,
          .begin = part.span.begin,
          .end = part.span.end,
          .args = {{{traces::ArgKey::Tile, part.tile},
                    {traces::ArgKey::Step, part.span.step},
                    times_arg(part.span.times)}},
          .flow = flow});
}

void TraceProducer::wait(TileId tile, Cycles begin, Cycles end, std::int64_t times) {
    background_.split(tile, begin, end, [&](Cycles from, Cycles to, bool streams) {
        tile_span(tile, streams ? traces::Kind::Stream : traces::Kind::Idle, traces::kUnnamed, from,
                  to, times);
    });
}

void TraceProducer::tile_span(TileId tile, traces::Kind kind, traces::NameId name, Cycles begin,
                              Cycles end, std::int64_t times) {
    if (begin < end) {
        flush(tile);
        last_[tile] = {.track = traces::tile_track(tile),
                       .kind = kind,
                       .name = name,
                       .begin = begin,
                       .end = end,
                       .args = {{times_arg(times)}}};
    }
}

void TraceProducer::send(traces::Span span) {
    span.track.chip = chip_;
    sink_.span(span);
}

/// Sends the tile's last span, which was kept in case that a flow begins at it.
void TraceProducer::flush(TileId tile) {
    traces::Span& span = last_[tile];
    if (span.begin < span.end && sink_.wants(span.track)) {
        send(span);
    }
    span = {};
}

void TraceProducer::sample(traces::Counter counter, Cycles cycle, std::int64_t value) {
    if (sink_.wants_counters()) {
        sink_.counter({counter, cycle, value, chip_});
    }
}

} // namespace tessera::listeners
