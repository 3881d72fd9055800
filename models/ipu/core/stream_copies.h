// SPDX-License-Identifier: MIT
// The stream copies of a program: what they ask of a link, the bytes that they move, and which of
// them are under way in the background.
//
// Law: while a copy is under way, nothing else may touch what it reads or writes. Its tiles run no
// compute set (their supervisors serve the stream), an exchange may use their other memory, and two
// copies may share neither tile bytes nor rows of which one writes. So its bytes may move at any
// time between start and end; they move at the end.
#pragma once

#include "models/ipu/core/chip_memory.h"
#include "models/memory/core/remote_memory.h"
#include "models/memory/core/stream_link.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tessera::ipu {

/// A copy that has begun.
struct Flight {
    std::uint32_t copy = 0;
    std::int64_t row = 0;
    Cycles begin = 0;
    memory::StreamTimes times;
};

/// Bytes [address, address + bytes) of a tile.
struct TileRange {
    TileId tile = 0;
    Address address = 0;
    Bytes bytes = 0;
};

class StreamCopies {
public:
    /// The references outlive the object. @throws ProgramError if a copy breaks a rule of
    /// program.h; DoesNotFit if it moves more than streaming.copy_limit_bytes.
    StreamCopies(const spec::MachineSpec& machine, const program::Program& program);

    [[nodiscard]] const memory::StreamDemand& demand(std::uint32_t copy) const {
        return facts_.at(copy).demand;
    }
    [[nodiscard]] Bytes bytes(std::uint32_t copy) const { return facts_.at(copy).bytes; }
    /// Ascending.
    [[nodiscard]] const std::vector<TileId>& tiles(std::uint32_t copy) const {
        return facts_.at(copy).tiles;
    }
    [[nodiscard]] bool in_streaming_memory(std::uint32_t copy) const;

    /// @throws ProgramError if rows [row, row + rows) are not in the buffer.
    void check_rows(std::uint32_t copy, std::int64_t row) const;
    /// @throws ProgramError at `now` if a copy under way is in its way, or it is one itself.
    void check_start(std::uint32_t copy, std::int64_t row, Cycles now) const;
    /// Also for the background: its tiles are all IO tiles. @throws ProgramError
    void check_background(std::uint32_t copy) const;
    void start(const Flight& flight) { flights_.push_back(flight); }
    /// The copy is over: out of the list. @throws ProgramError if it is not under way.
    Flight finish(std::uint32_t copy, Cycles now);
    /// Returns the bytes that arrived.
    Bytes move(const Flight& flight, const ChipMemory& chip,
               const memory::RemoteMemory& remote) const;

    /// @throws ProgramError at `now` where a tile of `set` has a copy under way.
    void check_compute(const program::ComputeSet& set, Cycles now) const;
    /// @throws ProgramError at `now` where a copy under way has bytes of `ranges`.
    void check_ranges(const std::string& what, std::span<const TileRange> ranges, Cycles now) const;
    /// @throws ProgramError if a copy was never waited for.
    void check_end(Cycles now) const;
    [[nodiscard]] bool any() const { return !flights_.empty(); }

private:
    struct Facts {
        memory::StreamDemand demand;
        Bytes bytes = 0;
        std::vector<TileId> tiles;
    };
    void check_pieces(const program::StreamCopy& copy) const;
    [[nodiscard]] Facts facts_of(const program::StreamCopy& copy) const;
    [[nodiscard]] const program::StreamPiece* piece_meeting(std::uint32_t copy,
                                                            const TileRange& range) const;

    const spec::MachineSpec& machine_;
    const program::Program& program_;
    std::vector<Facts> facts_;
    std::vector<Flight> flights_; ///< in order of their starts
};

} // namespace tessera::ipu
