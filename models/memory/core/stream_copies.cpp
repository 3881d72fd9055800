// SPDX-License-Identifier: MIT
#include "models/memory/core/stream_copies.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <map>
#include <string>

namespace tessera::memory {
namespace {

using program::RemoteBuffer;
using program::StreamCopy;
using program::StreamPiece;

template <class... Args>
[[noreturn]] void refuse(const StreamCopy& copy, fmt::format_string<Args...> what, Args&&... args) {
    throw ProgramError(fmt::format("stream copy {}: {}", copy.name,
                                   fmt::format(what, std::forward<Args>(args)...)));
}

bool overlap(std::int64_t begin, std::int64_t length, std::int64_t other,
             std::int64_t other_length) {
    return begin < other + other_length && other < begin + length;
}

bool writes_tiles(const StreamCopy& copy) {
    return copy.direction == StreamCopy::Direction::Read;
}

} // namespace

StreamCopies::StreamCopies(const spec::MachineSpec& machine, const program::Program& program)
    : machine_(machine), program_(program) {
    for (const StreamCopy& copy : program.stream_copies) {
        check_pieces(copy);
        facts_.push_back(facts_of(copy));
    }
    left_.resize(facts_.size());
}

void StreamCopies::check_pieces(const StreamCopy& copy) const {
    if (copy.buffer >= program_.remote_buffers.size()) {
        refuse(copy, "got remote buffer {}, expected a number below {}", copy.buffer,
               program_.remote_buffers.size());
    }
    const RemoteBuffer& buffer = program_.remote_buffers[copy.buffer];
    if (copy.rows < 1 || copy.rows > buffer.rows) {
        refuse(copy, "got {} rows, expected 1..{}, which {} has", copy.rows, buffer.rows,
               buffer.name);
    }
    std::vector<const StreamPiece*> order;
    for (const StreamPiece& piece : copy.pieces) {
        const Bytes from_base =
            static_cast<Bytes>(piece.address) - static_cast<Bytes>(machine_.memory.base);
        if (static_cast<std::int64_t>(piece.tile) >= machine_.chip.tiles || piece.bytes < 1 ||
            from_base < 0 || piece.bytes > machine_.memory.bytes() - from_base) {
            refuse(copy, "a piece has {} bytes at tile_{}, {:#x}, expected them in tile memory",
                   piece.bytes, piece.tile, piece.address);
        }
        if (piece.bytes % 4 != 0 || piece.offset % 4 != 0 || piece.address % 4 != 0) {
            refuse(copy, "a piece has {} bytes from {} at tile_{}, {:#x}, expected whole words",
                   piece.bytes, piece.offset, piece.tile, piece.address);
        }
        order.push_back(&piece);
    }
    std::sort(order.begin(), order.end(), [](const StreamPiece* left, const StreamPiece* right) {
        return left->offset < right->offset;
    });
    Bytes covered = 0;
    for (const StreamPiece* piece : order) {
        if (piece->offset != covered) {
            refuse(copy, "a piece begins at byte {}, expected {}: pieces hold each byte once",
                   piece->offset, covered);
        }
        covered += piece->bytes;
    }
    if (covered != copy.rows * buffer.row_bytes) {
        refuse(copy, "its pieces hold {} bytes, expected {} rows of {}", covered, copy.rows,
               buffer.row_bytes);
    }
}

StreamCopies::Facts StreamCopies::facts_of(const StreamCopy& copy) const {
    const RemoteBuffer& buffer = program_.remote_buffers[copy.buffer];
    const bool streaming = buffer.place == RemoteBuffer::Place::StreamingMemory;
    const auto link = streaming ? timing::streaming_link(machine_) : timing::host_link(machine_);
    Facts facts;
    facts.demand.read = writes_tiles(copy);
    std::map<TileId, Bytes> of_tile;
    for (const StreamPiece& piece : copy.pieces) {
        facts.demand.requested_bytes += link.requested_bytes(piece.bytes);
        facts.bytes += piece.bytes;
        of_tile[piece.tile] += piece.bytes;
    }
    for (const auto& [tile, bytes] : of_tile) {
        facts.tiles.push_back(tile);
        facts.demand.busiest_tile_bytes = std::max(facts.demand.busiest_tile_bytes, bytes);
    }
    if (streaming && facts.bytes > machine_.streaming.copy_limit_bytes) {
        throw DoesNotFit(fmt::format("stream copy {}: got {} bytes, expected at most {} "
                                     "(streaming.copy_limit_bytes)",
                                     copy.name, facts.bytes, machine_.streaming.copy_limit_bytes));
    }
    return facts;
}

RemoteBuffer::Place StreamCopies::place(std::uint32_t copy) const {
    return program_.remote_buffers[program_.stream_copies.at(copy).buffer].place;
}

void StreamCopies::check_rows(std::uint32_t copy, std::int64_t row) const {
    const StreamCopy& wanted = program_.stream_copies.at(copy);
    const RemoteBuffer& buffer = program_.remote_buffers[wanted.buffer];
    if (row < 0 || row > buffer.rows - wanted.rows) {
        refuse(wanted, "got rows {} to {}, expected them in the {} rows of {}", row,
               row + wanted.rows, buffer.rows, buffer.name);
    }
}

const StreamPiece* StreamCopies::piece_meeting(std::uint32_t copy, const TileRange& range) const {
    for (const StreamPiece& piece : program_.stream_copies[copy].pieces) {
        if (piece.tile == range.tile &&
            overlap(piece.address, piece.bytes, range.address, range.bytes)) {
            return &piece;
        }
    }
    return nullptr;
}

void StreamCopies::start(const UnderWay& copy, Cycles now) {
    check_rows(copy.copy, copy.row);
    for (const UnderWay& other : under_way_) {
        if (other.copy == copy.copy) {
            refuse(program_.stream_copies.at(copy.copy),
                   "started at cycle {} while it is under way", now);
        }
        check_apart(copy, other, "under way,", now);
    }
    auto later = begun_.end();
    while (later != begun_.begin() && std::prev(later)->step > copy.step) {
        check_apart(copy, *--later, "of a later step and begun before it,", now);
    }
    under_way_.push_back(copy);
    begun_.insert(later, copy);
}

void StreamCopies::check_apart(const UnderWay& copy, const UnderWay& other, const char* how,
                               Cycles now) const {
    const StreamCopy& wanted = program_.stream_copies.at(copy.copy);
    const StreamCopy& met = program_.stream_copies[other.copy];
    if (met.buffer == wanted.buffer && overlap(copy.row, wanted.rows, other.row, met.rows) &&
        (!writes_tiles(wanted) || !writes_tiles(met))) {
        refuse(wanted, "started at cycle {} on rows of {} that {}, {} also has", now,
               program_.remote_buffers[wanted.buffer].name, met.name, how);
    }
    for (const StreamPiece& piece : wanted.pieces) {
        const auto* common = piece_meeting(other.copy, {piece.tile, piece.address, piece.bytes});
        if (common != nullptr && (writes_tiles(wanted) || writes_tiles(met))) {
            refuse(wanted, "started at cycle {} on tile_{}, {:#x}, which {}, {} has", now,
                   piece.tile, std::max(piece.address, common->address), met.name, how);
        }
    }
}

void StreamCopies::left(std::uint32_t copy) {
    if (++left_.at(copy) == tiles(copy).size()) {
        left_[copy] = 0;
        std::erase_if(under_way_, [&](const UnderWay& other) { return other.copy == copy; });
    }
}

void StreamCopies::check_background(std::uint32_t copy) const {
    for (const TileId tile : tiles(copy)) {
        if (std::find(program_.io_tiles.begin(), program_.io_tiles.end(), tile) ==
            program_.io_tiles.end()) {
            refuse(program_.stream_copies[copy],
                   "tile_{} is not an IO tile, so it cannot take part in the background", tile);
        }
    }
}

Bytes StreamCopies::move(const UnderWay& ended, const program::TileMemory& tiles,
                         const RemoteMemory& remote) const {
    const StreamCopy& copy = program_.stream_copies.at(ended.copy);
    const Bytes first = ended.row * program_.remote_buffers[copy.buffer].row_bytes;
    Bytes moved = 0;
    std::byte* const rows = remote.buffer(copy.buffer).data() + first;
    for (const StreamPiece& piece : copy.pieces) {
        std::byte* const in_tile = tiles.at(piece.tile, piece.address, piece.bytes);
        const auto bytes = static_cast<std::size_t>(piece.bytes);
        if (writes_tiles(copy)) {
            std::memcpy(in_tile, rows + piece.offset, bytes);
        } else {
            std::memcpy(rows + piece.offset, in_tile, bytes);
        }
        moved += piece.bytes;
    }
    return moved;
}

void StreamCopies::check_ranges(const std::string& what, std::span<const TileRange> ranges,
                                Cycles now) const {
    for (const UnderWay& flight : under_way_) {
        const auto& busy = tiles(flight.copy);
        for (const TileRange& range : ranges) {
            if (!std::binary_search(busy.begin(), busy.end(), range.tile)) {
                continue;
            }
            if (const auto* piece = piece_meeting(flight.copy, range)) {
                throw ProgramError(fmt::format(
                    "{}: uses tile_{}, {:#x} at cycle {} while stream copy {}, under way, "
                    "has it",
                    what, range.tile, std::max(range.address, piece->address), now,
                    program_.stream_copies[flight.copy].name));
            }
        }
    }
}

} // namespace tessera::memory
