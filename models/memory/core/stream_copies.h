// SPDX-License-Identifier: MIT
// The stream copies of a program: what they ask of a port, the bytes that they move, and which of
// them are under way in the background.
//
// Law: while a copy is under way, nothing else may touch what it reads or writes. Its tiles run no
// compute set (their supervisors serve the stream), an exchange may use their other memory, and two
// copies may share neither tile bytes nor rows of which one writes. So its bytes may move at any
// time between start and end; they move at the end.
#pragma once

#include "models/memory/core/remote_memory.h"
#include "models/memory/core/stream_port.h"
#include "models/program/known_words.h"
#include "models/program/program.h"
#include "models/program/tile_memory.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tessera::memory {

/// A copy that has begun and that not all of its tiles have waited for.
struct UnderWay {
    std::uint32_t copy = 0;
    std::int64_t row = 0;
    std::int64_t step = 0; ///< in which it was called for
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

    [[nodiscard]] const StreamDemand& demand(std::uint32_t copy) const {
        return facts_.at(copy).demand;
    }
    [[nodiscard]] Bytes bytes(std::uint32_t copy) const { return facts_.at(copy).bytes; }
    /// Ascending.
    [[nodiscard]] const std::vector<TileId>& tiles(std::uint32_t copy) const {
        return facts_.at(copy).tiles;
    }
    [[nodiscard]] const std::vector<program::StreamPiece>& pieces(std::uint32_t copy) const {
        return program_.stream_copies.at(copy).pieces;
    }
    /// Where its remote buffer is.
    [[nodiscard]] program::RemoteBuffer::Place place(std::uint32_t copy) const;

    /// Whether tiles' words name its rows.
    [[nodiscard]] bool picks_rows(std::uint32_t copy) const {
        return !program_.stream_copies.at(copy).rows_from.empty();
    }
    /// @throws ProgramError if rows [row, row + rows) are not in the buffer; of a copy whose rows words
    /// name, if words could name others.
    void check_rows(std::uint32_t copy, std::int64_t row) const;
    /// By piece, where its bytes begin in the buffer of a copy whose rows words name. Words are known in
    /// `known`, or all of them where it is null; kUnknown where one is not. @throws ProgramError for a
    /// number that is not below what the copy says.
    [[nodiscard]] std::vector<Bytes> named_bytes(std::uint32_t copy, std::int64_t row,
                                                 const program::TileMemory& tiles,
                                                 program::KnownWords* known) const;
    static constexpr Bytes kUnknown = -1;
    /// Also for the background: its tiles are all IO tiles. @throws ProgramError
    void check_background(std::uint32_t copy) const;
    /// It is under way from `now` until left() has been called for each of its tiles. @throws
    /// ProgramError if a copy under way is in its way; if it is one itself; or if a later step's
    /// copy that is in its way has begun since the last release, before it.
    void start(const UnderWay& copy, Cycles now);
    /// One of its tiles has waited for its end.
    void left(std::uint32_t copy);
    /// All tiles have met.
    void released() { begun_.clear(); }
    /// Where a piece's bytes begin in the buffer of a copy from row `row` on. `named`: by piece, where
    /// words name the rows.
    [[nodiscard]] Bytes first_byte(std::uint32_t copy, std::int64_t row, std::size_t piece,
                                   std::span<const Bytes> named) const;
    /// Leaves out pieces of rows that are kUnknown. Returns the bytes that arrived.
    Bytes move(const UnderWay& copy, std::span<const Bytes> named, const program::TileMemory& tiles,
               const RemoteMemory& remote) const;

    /// @throws ProgramError at `now` where a copy under way has bytes of `ranges`.
    void check_ranges(const std::string& what, std::span<const TileRange> ranges, Cycles now) const;
    [[nodiscard]] std::size_t under_way() const { return under_way_.size(); }

private:
    struct Facts {
        StreamDemand demand;
        Bytes bytes = 0;
        std::vector<TileId> tiles;
        std::vector<std::uint32_t> numbers_of; ///< by piece: in rows_from, if there are some
    };
    void check_pieces(const program::StreamCopy& copy) const;
    void check_numbers(const program::StreamCopy& copy) const;
    /// By piece, which of `rows_from` has its row.
    [[nodiscard]] std::vector<std::uint32_t> numbers_of(const program::StreamCopy& copy) const;
    /// The rows that a copy from `row` on may touch: first and behind the last.
    [[nodiscard]] std::pair<std::int64_t, std::int64_t> rows_touched(const UnderWay& copy) const;
    [[nodiscard]] Facts facts_of(const program::StreamCopy& copy) const;
    /// @throws ProgramError where `copy` and `other` have bytes in common of which one writes;
    /// `how` says what `other` does meanwhile.
    void check_apart(const UnderWay& copy, const UnderWay& other, const char* how,
                     Cycles now) const;
    [[nodiscard]] const program::StreamPiece* piece_meeting(std::uint32_t copy,
                                                            const TileRange& range) const;

    const spec::MachineSpec& machine_;
    const program::Program& program_;
    std::vector<Facts> facts_;
    std::vector<UnderWay> under_way_; ///< in order of their starts
    std::vector<UnderWay> begun_;     ///< since the last release, ascending steps
    std::vector<std::size_t> left_;   ///< by copy: tiles that have waited
};

} // namespace tessera::memory
