// SPDX-License-Identifier: MIT
#include "models/memory/stream_ports.h"

#include "base/error.h"
#include "models/ports/clock.h"
#include "models/timing/port_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace tessera::memory {

using ports::Clock;
using Place = program::RemoteBuffer::Place;

namespace {

constexpr Bytes kWordBytes = 4;

} // namespace

StreamPorts::StreamPorts(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
                         const program::Program& program, const program::TileMemory& memory)
    : sc_module(name), at_copy("at_copy"), tiles("tiles"), witness("witness"), program_(program),
      memory_(memory), remote_memory_(spec, program),
      copies_(spec, program), ports_{{events::kStreamingMemoryPort, Place::StreamingMemory,
                                      StreamPort(timing::streaming_port(spec))},
                                     {events::kHostPort, Place::Host,
                                      StreamPort(timing::host_port(spec))}},
      states_(program.stream_copies.size()) {
    SC_HAS_PROCESS(StreamPorts);
    SC_METHOD(on_settled);
    sensitive << ev_called_;
    dont_initialize();
    SC_METHOD(on_end);
    sensitive << ev_end_;
    dont_initialize();
}

void StreamPorts::arrive(TileId tile, const events::Call& call) {
    State& state = states_.at(call.copy);
    if (state.come == 0) {
        state.call = call;
        state.last_cycle = -1;
    } else if (call.step != state.call.step || call.row != state.call.row) {
        throw ProgramError(fmt::format("{}: tile_{} calls for row {} of copy {} in step {}, others "
                                       "for row {} in step {}",
                                       name(), tile, call.row, call.copy, call.step, state.call.row,
                                       state.call.step));
    }
    const Cycles now = Clock::now();
    state.last = now > state.last_cycle ? tile : std::min(state.last, tile);
    state.last_cycle = now;
    if (++state.come == copies_.tiles(call.copy).size()) {
        called_.push_back(call);
        ev_called_.notify(Clock::until_settled());
    }
}

void StreamPorts::left(TileId /*tile*/, std::uint32_t copy) {
    copies_.left(copy);
}

template <class Body> void StreamPorts::guarded(const Body& body) {
    try {
        body();
    } catch (...) {
        witness->failed(ports::Witness::kNoTile, std::current_exception());
    }
}

void StreamPorts::on_settled() {
    guarded([&] {
        std::sort(called_.begin(), called_.end(),
                  [](const events::Call& left, const events::Call& right) {
                      return std::tie(left.step, left.copy) < std::tie(right.step, right.copy);
                  });
        for (const events::Call& call : std::exchange(called_, {})) {
            begin(call);
        }
    });
}

StreamPorts::Port& StreamPorts::port_of(std::uint32_t copy) {
    const Place place = copies_.place(copy);
    const auto port = std::find_if(ports_.begin(), ports_.end(),
                                   [place](const Port& one) { return one.place == place; });
    TESSERA_ASSERT(port != ports_.end());
    return *port;
}

void StreamPorts::ask_host(const events::Call& call, const Port& port) const {
    const program::StreamCopy& copy = program_.stream_copies[call.copy];
    const program::RemoteBuffer& buffer = program_.remote_buffers[copy.buffer];
    if (ask_host_ && port.place == Place::Host && has_data(buffer) &&
        copy.direction == program::StreamCopy::Direction::Read) {
        ask_host_(call.copy, call.row,
                  remote_memory_.buffer(copy.buffer)
                      .subspan(static_cast<std::size_t>(call.row * buffer.row_bytes),
                               static_cast<std::size_t>(copy.rows * buffer.row_bytes)));
    }
}

void StreamPorts::begin(const events::Call& call) {
    State& state = states_[call.copy];
    state.come = 0;
    const Cycles now = Clock::now();
    if (call.background) {
        copies_.check_background(call.copy);
    }
    copies_.start({call.copy, call.row, call.step}, now);
    if (copies_.picks_rows(call.copy)) {
        state.named = copies_.named_bytes(call.copy, call.row, memory_, known_);
    }
    const StreamDemand& demand = copies_.demand(call.copy);
    Port& port = port_of(call.copy);
    ask_host(call, port);
    const StreamTimes times = port.queue.begin(now, demand);
    state.begun = {now, times.end, state.last};
    const events::Flight flight{.copy = call.copy,
                                .step = call.step,
                                .row = call.row,
                                .background = call.background,
                                .port = port.name,
                                .read = demand.read,
                                .begin = now,
                                .service_begin = times.service_begin,
                                .service_end = times.service_end,
                                .end = times.end,
                                .sent_bytes = copies_.bytes(call.copy),
                                .bytes = 0,
                                .tiles = copies_.tiles(call.copy)};
    flights_.insert(std::upper_bound(flights_.begin(), flights_.end(), flight,
                                     [](const events::Flight& left, const events::Flight& right) {
                                         return std::tie(left.end, left.step, left.copy) <
                                                std::tie(right.end, right.step, right.copy);
                                     }),
                    flight);
    if (at_copy.size() > 0) {
        at_copy->copy_begun(flight);
    }
    if (flights_.front().end <= now) {
        on_end();
    } else {
        ev_end_.cancel();
        ev_end_.notify(Clock::until(flights_.front().end));
    }
}

void StreamPorts::on_end() {
    guarded([&] {
        while (!flights_.empty() && flights_.front().end <= Clock::now()) {
            const events::Flight flight = flights_.front();
            flights_.erase(flights_.begin());
            end(flight);
        }
        if (!flights_.empty()) {
            ev_end_.notify(Clock::until(flights_.front().end));
        }
    });
}

Bytes StreamPorts::move(const events::Flight& flight) {
    const std::uint32_t index = program_.stream_copies[flight.copy].buffer;
    const program::RemoteBuffer& buffer = program_.remote_buffers[index];
    if (has_data(buffer)) {
        const Bytes moved = copies_.move({flight.copy, flight.row, flight.step},
                                         states_[flight.copy].named, memory_, remote_memory_);
        if (known_ != nullptr) {
            ++known_copies_;
            move_marks(flight, index);
        }
        return moved;
    }
    Bytes moved = 0;
    for (const auto& piece : copies_.pieces(flight.copy)) {
        moved += piece.bytes;
        if (flight.read) {
            known_->forget(piece.tile, piece.address, piece.bytes);
        }
    }
    return moved;
}

void StreamPorts::move_marks(const events::Flight& flight, std::uint32_t buffer) {
    std::set<Bytes>& unknown = unknown_[buffer];
    const auto& pieces = copies_.pieces(flight.copy);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        const auto& piece = pieces[i];
        const Bytes first =
            copies_.first_byte(flight.copy, flight.row, i, states_[flight.copy].named);
        if (first == StreamCopies::kUnknown) {
            known_->forget(piece.tile, piece.address, piece.bytes);
            continue;
        }
        if (flight.read) {
            known_->write(piece.tile, piece.address, piece.bytes);
        }
        for (Bytes word = 0; word < piece.bytes; word += kWordBytes) {
            const auto address = piece.address + static_cast<Address>(word);
            const Bytes remote = first + word;
            if (!flight.read) {
                if (known_->is_known(piece.tile, address)) {
                    unknown.erase(remote);
                } else {
                    unknown.insert(remote);
                }
            } else if (unknown.contains(remote)) {
                known_->forget(piece.tile, address, kWordBytes);
            }
        }
    }
}

void StreamPorts::end(events::Flight flight) {
    flight.bytes = move(flight);
    State& state = states_[flight.copy];
    ++state.times_ended;
    if (at_copy.size() > 0) {
        at_copy->copy_ended(flight);
    }
    for (const TileId tile : std::exchange(state.waiting, {})) {
        tiles[static_cast<int>(tile)]->wake();
    }
}

void StreamPorts::skip_rounds(std::span<const std::uint32_t> ended, std::int64_t rounds) {
    for (const std::uint32_t copy : ended) {
        states_[copy].times_ended += rounds;
    }
}

void StreamPorts::check_ranges(const std::string& what, std::span<const TileRange> ranges) const {
    copies_.check_ranges(what, ranges, Clock::now());
}

} // namespace tessera::memory
