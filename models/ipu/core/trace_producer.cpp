// SPDX-License-Identifier: MIT
#include "models/ipu/core/trace_producer.h"

#include <algorithm>

namespace tessera::ipu {
namespace {

/// The number of a phase's step, and its role where it is a step of the program.
void describe(const Phase& phase, traces::Span& span) {
    span.args[0] = {traces::ArgKey::Step, phase.step};
    if (phase.role != traces::kUnnamed) {
        span.args[2] = {traces::ArgKey::Role, phase.role};
    }
}

} // namespace

TraceProducer::TraceProducer(const program::Program& program, std::int64_t tiles,
                             traces::TraceSink& sink, traces::NameTable& names)
    : sink_(sink), tiles_(static_cast<TileId>(tiles)) {
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
}

void TraceProducer::phase(const Phase& phase, std::span<const TileShare> shares,
                          std::span<const Cycles> streaming_until) {
    machine_span(phase, shares);
    auto share = shares.begin();
    for (TileId tile = 0; tile < tiles_; ++tile) {
        while (share != shares.end() && share->tile < tile) {
            ++share;
        }
        const bool active = share != shares.end() && share->tile == tile;
        tile_spans(phase, tile, active ? share->cycles : 0, streaming_until[tile]);
    }
    if (phase.kind == traces::Kind::Compute) {
        sample(traces::Counter::ActiveTiles, phase.begin, static_cast<std::int64_t>(shares.size()));
        sample(traces::Counter::ActiveTiles, phase.end, 0);
    } else if (phase.kind == traces::Kind::Exchange) {
        sample(traces::Counter::ExchangeBytes, phase.begin, phase.bytes);
        sample(traces::Counter::ExchangeBytes, phase.end, 0);
    }
}

void TraceProducer::barrier(const Phase& phase) {
    machine_span(phase, {});
    for (TileId tile = 0; tile < tiles_; ++tile) {
        tile_spans(phase, tile, phase.end - phase.begin, 0);
    }
}

void TraceProducer::contexts(TileId tile, Cycles slot0, std::span<const tile::ContextSpan> spans) {
    for (const auto& span : spans) {
        const auto track =
            span.context < 0 ? traces::supervisor_track(tile)
                             : traces::worker_track(tile, static_cast<std::uint8_t>(span.context));
        if (!sink_.wants(track)) {
            continue;
        }
        const auto name = name_of_entry_.find(span.entry);
        sink_.span({.track = track,
                    .kind = traces::Kind::Compute,
                    .name = name == name_of_entry_.end() ? traces::kUnnamed : name->second,
                    .begin = slot0 + span.begin,
                    .end = slot0 + span.end,
                    .args = {}});
    }
}

void TraceProducer::machine_span(const Phase& phase, std::span<const TileShare> shares) {
    if (!sink_.wants(traces::machine_track())) {
        return;
    }
    traces::Span span{.track = traces::machine_track(),
                      .kind = phase.kind,
                      .name = phase.name,
                      .begin = phase.begin,
                      .end = phase.end,
                      .args = {}};
    describe(phase, span);
    if (phase.kind == traces::Kind::Exchange || phase.kind == traces::Kind::Stream) {
        span.args[1] = {traces::ArgKey::Bytes, phase.bytes};
    } else if (!shares.empty()) {
        const TileShare* slowest = shares.data();
        for (const auto& share : shares) {
            slowest = share.cycles > slowest->cycles ? &share : slowest;
        }
        span.args[1] = {traces::ArgKey::SlowestTile, slowest->tile};
    }
    sink_.span(span);
}

void TraceProducer::link_span(traces::Track track, const Phase& phase) {
    if (!sink_.wants(track)) {
        return;
    }
    traces::Span span{.track = track,
                      .kind = phase.kind,
                      .name = phase.name,
                      .begin = phase.begin,
                      .end = phase.end,
                      .args = {}};
    describe(phase, span);
    span.args[1] = {traces::ArgKey::Bytes, phase.bytes};
    sink_.span(span);
}

void TraceProducer::tile_spans(const Phase& phase, TileId tile, Cycles own_cycles,
                               Cycles streaming_until) {
    if (!sink_.wants(traces::tile_track(tile))) {
        return;
    }
    const Cycles worked_until = phase.begin + own_cycles;
    const Cycles streams_until = std::clamp(streaming_until, worked_until, phase.end);
    tile_span(tile, phase.kind, phase.name, phase.begin, worked_until);
    tile_span(tile, traces::Kind::Stream, traces::kUnnamed, worked_until, streams_until);
    tile_span(tile, traces::Kind::Idle, traces::kUnnamed, streams_until, phase.end);
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

} // namespace tessera::ipu
