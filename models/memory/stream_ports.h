// SPDX-License-Identifier: MIT
// The ports out of the chip: streaming memory and the host, and the copies that go over them.
//
//   tiles: arrive ... arrive --> the copy begins --port--> its bytes move --> wake (its tiles)
//                                the host is asked for rows that it holds
//
// Ports: is the tiles' Streams; at_copy, told when a copy begins, and when it ends before its tiles
//   are; witness, told what goes wrong.
// Timing: a copy begins in the cycle in which the last of its tiles comes; of several in one cycle
//   the earlier step goes first, then the lower copy. From there core/stream_port.h.
// Not modelled: what is behind a port besides its rate and latency.
// Source: docs/evidence.md#streaming-memory, docs/evidence.md#host-link
#pragma once

#include "models/memory/ask_host.h"
#include "models/memory/core/remote_memory.h"
#include "models/memory/core/stream_copies.h"
#include "models/memory/core/stream_port.h"
#include "models/ports/ports.h"
#include "models/program/known_words.h"
#include "models/program/program.h"
#include "models/program/tile_memory.h"
#include "models/spec/machine_spec.h"

#include <systemc>

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::memory {

class StreamPorts : public sc_core::sc_module, public ports::Streams {
public:
    sc_core::sc_port<ports::AtCopy, 1, sc_core::SC_ZERO_OR_MORE_BOUND> at_copy;
    sc_core::sc_port<ports::Sleeper, 0, sc_core::SC_ZERO_OR_MORE_BOUND> tiles; ///< by number
    sc_core::sc_port<ports::Witness> witness;

    /// All outlive the ports. @throws ProgramError, DoesNotFit as StreamCopies and RemoteMemory.
    StreamPorts(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
                const program::Program& program, const program::TileMemory& memory);

    /// From now on only copies of known buffers move data, and tell what of them is known: timing
    /// mode. Outlives the ports.
    void set_known(program::KnownWords& known) { known_ = &known; }

    /// Who makes rows in the host's memory.
    void set_host(AskHost ask_host) { ask_host_ = std::move(ask_host); }

    void arrive(TileId tile, const events::Call& call) override;
    void left(TileId tile, std::uint32_t copy) override;
    [[nodiscard]] std::int64_t times_ended(std::uint32_t copy) const override {
        return states_[copy].times_ended;
    }
    void wait(TileId tile, std::uint32_t copy) override { states_[copy].waiting.push_back(tile); }
    [[nodiscard]] Begun begun(std::uint32_t copy) const override { return states_[copy].begun; }

    /// All tiles have met: copies after it are ordered behind those before it.
    void released() { copies_.released(); }
    /// @throws ProgramError where a copy under way has bytes of `ranges`, which `what` uses now.
    void check_ranges(const std::string& what, std::span<const TileRange> ranges) const;
    [[nodiscard]] bool any_under_way() const { return copies_.under_way() > 0; }
    [[nodiscard]] std::size_t under_way() const { return copies_.under_way(); }
    /// Copies `ended` in a round have ended so many times more.
    void skip_rounds(std::span<const std::uint32_t> ended, std::int64_t rounds);
    /// In timing mode: copies of known buffers that have ended.
    [[nodiscard]] std::int64_t known_copies() const { return known_copies_; }
    /// Ascending.
    [[nodiscard]] const std::vector<TileId>& tiles_of(std::uint32_t copy) const {
        return copies_.tiles(copy);
    }
    [[nodiscard]] const RemoteMemory& remote_memory() const { return remote_memory_; }

private:
    /// A port with who is at its other end.
    struct Port {
        std::string_view name;
        program::RemoteBuffer::Place place;
        StreamPort queue;
    };
    [[nodiscard]] Port& port_of(std::uint32_t copy);

    /// The state of one copy of the program.
    struct State {
        events::Call call;      ///< while tiles come
        std::size_t come = 0;   ///< tiles that have
        TileId last = 0;        ///< of them, the lowest number of equals
        Cycles last_cycle = -1; ///< when it came
        std::int64_t times_ended = 0;
        Begun begun;
        std::vector<TileId> waiting; ///< for its end
        std::vector<Bytes> named;    ///< of the one under way: StreamCopies::named_bytes()
    };
    void on_settled();
    void on_end();
    void begin(const events::Call& call);
    void ask_host(const events::Call& call, const Port& port) const;
    /// Whether the bytes of a buffer are there.
    [[nodiscard]] bool has_data(const program::RemoteBuffer& buffer) const {
        return known_ == nullptr || buffer.known;
    }
    void end(events::Flight flight);
    /// Returns the bytes that arrived.
    Bytes move(const events::Flight& flight);
    /// In timing mode, of a known buffer.
    void move_marks(const events::Flight& flight, std::uint32_t buffer);
    template <class Body> void guarded(const Body& body);

    const program::Program& program_;
    const program::TileMemory& memory_;
    program::KnownWords* known_ = nullptr; ///< null: all words are
    AskHost ask_host_;
    std::int64_t known_copies_ = 0;
    std::map<std::uint32_t, std::set<Bytes>> unknown_; ///< by known buffer, words that are not
    RemoteMemory remote_memory_;
    StreamCopies copies_;
    std::vector<Port> ports_;
    std::vector<State> states_;        ///< by copy
    std::vector<events::Call> called_; ///< all tiles have come; they begin when the cycle settles
    std::vector<events::Flight> flights_; ///< begun, ascending ends
    sc_core::sc_event ev_called_;
    sc_core::sc_event ev_end_;
};

} // namespace tessera::memory
