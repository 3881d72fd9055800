// SPDX-License-Identifier: MIT
// The chip's stream copies: begun and waited for, or in the background.
#include "base/error.h"
#include "models/ipu/ipu.h"

#include <cstring>
#include <utility>

namespace tessera::ipu {

memory::StreamPort& Ipu::port_of(std::uint32_t copy) {
    return copies_.in_streaming_memory(copy) ? streaming_memory_ : host_;
}

void Ipu::begin_stream_step(const program::Step& step) {
    if (step.kind == program::Step::Kind::StreamWait) {
        wait_for_copy(step.index);
        return;
    }
    const bool background = step.kind == program::Step::Kind::StreamStart;
    const auto begin_copy = [this, copy = step.index, background](std::int64_t row) {
        if (background) {
            copies_.check_background(copy);
        }
        const Flight flight = start_copy(copy, row);
        if (background) {
            start_background(flight);
        } else {
            wait_until_end(copies_.finish(copy, account_.cycles()));
        }
    };
    if (!step.value) {
        begin_copy(step.row);
        return;
    }
    const auto& tiles = copies_.tiles(step.index);
    if (tiles.size() == 1 && tiles.front() == step.value->tile) {
        // The only tile that asks for rows knows which ones.
        begin_copy(word_at(*step.value));
        return;
    }
    learn(*step.value, [begin_copy](std::uint32_t word) { begin_copy(word); });
}

Flight Ipu::start_copy(std::uint32_t copy, std::int64_t row) {
    const Cycles now = account_.cycles();
    copies_.check_start(copy, row, now);
    const Flight flight{copy, row, now, port_of(copy).begin(copies_.demand(copy))};
    copies_.start(flight);
    if (trace_) {
        const auto link =
            copies_.in_streaming_memory(copy) ? traces::Link::StreamingMemory : traces::Link::Host;
        trace_->link_span(traces::link_track(link, copies_.demand(copy).read),
                          {.kind = traces::Kind::Stream,
                           .name = trace_->stream(copy).name,
                           .role = trace_->stream(copy).role,
                           .begin = flight.times.service_begin,
                           .end = flight.times.service_end,
                           .bytes = copies_.bytes(copy),
                           .step = steps_done_});
    }
    return flight;
}

void Ipu::start_background(const Flight& flight) {
    for (const TileId tile : copies_.tiles(flight.copy)) {
        account_.streams_until(tile, flight.times.end);
    }
    control_cost_ += spec_.control.step_cycles;
    ev_phase_ended_.notify(sc_core::SC_ZERO_TIME);
}

void Ipu::wait_for_copy(std::uint32_t copy) {
    control_cost_ += spec_.control.step_cycles;
    wait_until_end(copies_.finish(copy, account_.cycles()));
}

void Ipu::wait_until_end(const Flight& flight) {
    const Cycles begin = account_.cycles();
    const Cycles wait = std::max<Cycles>(0, flight.times.end - begin);
    shares_.clear();
    for (const TileId tile : copies_.tiles(flight.copy)) {
        shares_.push_back({tile, wait});
    }
    StepRecord& record = account_.stream_phase(flight.copy, wait, shares_);
    record.sent_bytes += copies_.bytes(flight.copy);
    record.bound_cycles += flight.times.service_end - flight.times.service_begin;
    record.transfer_cycles += flight.times.end - flight.begin;
    if (trace_ && wait > 0) {
        trace_->phase({.kind = traces::Kind::Stream,
                       .name = trace_->stream(flight.copy).name,
                       .role = trace_->stream(flight.copy).role,
                       .begin = begin,
                       .end = begin + wait,
                       .bytes = copies_.bytes(flight.copy),
                       .step = steps_done_},
                      shares_, account_.streaming_until());
    }
    next_ = [this, flight] {
        account_.stream_arrived(flight.copy, copies_.move(flight, memory_, remote_memory_));
        if (options_.arrived && copies_.demand(flight.copy).read) {
            options_.arrived(flight.copy);
        }
        advance();
    };
    port_of(flight.copy).tell_at(begin + wait);
}

std::uint32_t Ipu::word_at(const program::TileValue& value) const {
    std::uint32_t word = 0;
    std::memcpy(&word, memory_.at(value.tile, value.address, sizeof word), sizeof word);
    return word;
}

void Ipu::check_exchange(std::uint32_t index) const {
    if (!copies_.any()) {
        return;
    }
    std::vector<TileRange> ranges;
    for (const auto& run : fabric_.outcome(index).copies) {
        ranges.push_back({run.source_tile, run.source_address, run.bytes});
        ranges.push_back({run.destination_tile, run.destination_address, run.bytes});
    }
    copies_.check_ranges("exchange " + program_.exchanges[index].name, ranges, account_.cycles());
}

void Ipu::stream_ended() {
    ev_phase_ended_.notify(sc_core::SC_ZERO_TIME);
}

} // namespace tessera::ipu
