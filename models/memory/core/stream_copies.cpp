// SPDX-License-Identifier: MIT
#include "models/memory/core/stream_copies.h"

#include "base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <string>

namespace tessera::memory {
namespace {

constexpr Bytes kWordBytes = 4;

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
        check_numbers(copy);
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
    if (copy.rows < 1 || (copy.rows_from.empty() && copy.rows > buffer.rows)) {
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

void StreamCopies::check_numbers(const StreamCopy& copy) const {
    if (copy.rows_from.empty()) {
        return;
    }
    if (copy.direction != StreamCopy::Direction::Read) {
        refuse(copy, "words name the rows that it writes, expected them of one that reads");
    }
    std::pair<TileId, std::int64_t> behind{0, 0}; // the row behind the last one, of a tile
    for (const program::RowNumbers& numbers : copy.rows_from) {
        const Bytes from_base =
            static_cast<Bytes>(numbers.address) - static_cast<Bytes>(machine_.memory.base);
        if (static_cast<std::int64_t>(numbers.tile) >= machine_.chip.tiles || from_base < 0 ||
            numbers.address % kWordBytes != 0 || numbers.count < 1 ||
            numbers.count > (machine_.memory.bytes() - from_base) / kWordBytes) {
            refuse(copy, "{} words at tile_{}, {:#x} name rows, expected words of tile memory",
                   numbers.count, numbers.tile, numbers.address);
        }
        if (numbers.first < 0 || numbers.count > copy.rows - numbers.first ||
            std::pair{numbers.tile, numbers.first} < behind) {
            refuse(copy, "words of tile_{} name rows {} to {} of {}, expected ascending ones",
                   numbers.tile, numbers.first, numbers.first + numbers.count - 1, copy.rows);
        }
        behind = {numbers.tile, numbers.first + numbers.count};
    }
}

std::vector<std::uint32_t> StreamCopies::numbers_of(const StreamCopy& copy) const {
    const Bytes row_bytes = program_.remote_buffers[copy.buffer].row_bytes;
    std::vector<std::uint32_t> made;
    made.reserve(copy.rows_from.empty() ? 0 : copy.pieces.size());
    for (const StreamPiece& piece : copy.pieces) {
        if (copy.rows_from.empty()) {
            break;
        }
        const std::pair row{piece.tile, piece.offset / row_bytes};
        const auto behind =
            std::ranges::upper_bound(copy.rows_from, row, {}, [](const program::RowNumbers& one) {
                return std::pair{one.tile, one.first};
            });
        if (behind == copy.rows_from.begin() || std::prev(behind)->tile != piece.tile ||
            row.second >= std::prev(behind)->first + std::prev(behind)->count ||
            (piece.offset + piece.bytes - 1) / row_bytes != row.second) {
            refuse(
                copy,
                "a piece has {} bytes from {} at tile_{}, {:#x}, expected bytes of one row that a "
                "word of the tile names",
                piece.bytes, piece.offset, piece.tile, piece.address);
        }
        made.push_back(static_cast<std::uint32_t>(std::prev(behind) - copy.rows_from.begin()));
    }
    return made;
}

std::vector<Bytes> StreamCopies::named_bytes(std::uint32_t index, std::int64_t row,
                                             const program::TileMemory& tiles,
                                             program::KnownWords* known) const {
    const StreamCopy& copy = program_.stream_copies.at(index);
    const RemoteBuffer& buffer = program_.remote_buffers[copy.buffer];
    const auto& numbers_of = facts_[index].numbers_of;
    std::vector<Bytes> made;
    made.reserve(copy.pieces.size());
    for (std::size_t i = 0; i < copy.pieces.size(); ++i) {
        const StreamPiece& piece = copy.pieces[i];
        const program::RowNumbers& numbers = copy.rows_from[numbers_of[i]];
        const std::int64_t of_copy = piece.offset / buffer.row_bytes;
        const auto address =
            numbers.address + static_cast<Address>(kWordBytes * (of_copy - numbers.first));
        if (known != nullptr && !known->is_known(piece.tile, address)) {
            made.push_back(kUnknown);
            continue;
        }
        std::uint32_t number = 0;
        std::memcpy(&number, tiles.at(piece.tile, address, kWordBytes), sizeof number);
        if (number >= numbers.below) {
            refuse(copy,
                   "got number {} for row {} of it at tile_{}, {:#x}, expected 0 to {}: rows of {}",
                   number, of_copy, piece.tile, address, numbers.below - 1, buffer.name);
        }
        made.push_back((row + numbers.base + number) * buffer.row_bytes +
                       piece.offset % buffer.row_bytes);
    }
    return made;
}

Bytes StreamCopies::first_byte(std::uint32_t copy, std::int64_t row, std::size_t piece,
                               std::span<const Bytes> named) const {
    if (!named.empty()) {
        return named[piece];
    }
    const StreamCopy& moved = program_.stream_copies[copy];
    return row * program_.remote_buffers[moved.buffer].row_bytes + moved.pieces[piece].offset;
}

StreamCopies::Facts StreamCopies::facts_of(const StreamCopy& copy) const {
    const RemoteBuffer& buffer = program_.remote_buffers[copy.buffer];
    const bool streaming = buffer.place == RemoteBuffer::Place::StreamingMemory;
    const auto port = streaming ? timing::streaming_port(machine_) : timing::host_port(machine_);
    Facts facts;
    facts.demand.read = writes_tiles(copy);
    facts.numbers_of = numbers_of(copy);
    std::map<TileId, Bytes> of_tile;
    for (const StreamPiece& piece : copy.pieces) {
        facts.demand.requested_bytes += port.requested_bytes(piece.bytes);
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

std::pair<std::int64_t, std::int64_t> StreamCopies::rows_touched(const UnderWay& copy) const {
    const StreamCopy& wanted = program_.stream_copies.at(copy.copy);
    if (wanted.rows_from.empty()) {
        return {copy.row, copy.row + wanted.rows};
    }
    std::pair<std::int64_t, std::int64_t> touched{std::numeric_limits<std::int64_t>::max(), 0};
    for (const program::RowNumbers& numbers : wanted.rows_from) {
        touched.first = std::min(touched.first, copy.row + numbers.base);
        touched.second = std::max(touched.second, copy.row + numbers.base + numbers.below);
    }
    return touched;
}

void StreamCopies::check_rows(std::uint32_t copy, std::int64_t row) const {
    const StreamCopy& wanted = program_.stream_copies.at(copy);
    const RemoteBuffer& buffer = program_.remote_buffers[wanted.buffer];
    const auto [first, end] = rows_touched({copy, row, 0});
    if (first < 0 || end > buffer.rows) {
        refuse(wanted, "got rows {} to {}, expected them in the {} rows of {}", first, end,
               buffer.rows, buffer.name);
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
    const auto [first, end] = rows_touched(copy);
    const auto [other_first, other_end] = rows_touched(other);
    if (met.buffer == wanted.buffer &&
        overlap(first, end - first, other_first, other_end - other_first) &&
        (!writes_tiles(wanted) || !writes_tiles(met))) {
        refuse(wanted, "started at cycle {} on rows of {} that {}, {} also has", now,
               program_.remote_buffers[wanted.buffer].name, met.name, how);
    }
    for (const program::RowNumbers& numbers : wanted.rows_from) {
        const TileRange words{numbers.tile, numbers.address, kWordBytes * numbers.count};
        if (writes_tiles(met) && piece_meeting(other.copy, words) != nullptr) {
            refuse(wanted, "started at cycle {} by words at tile_{}, {:#x}, which {}, {} has", now,
                   numbers.tile, numbers.address, met.name, how);
        }
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

Bytes StreamCopies::move(const UnderWay& ended, std::span<const Bytes> named,
                         const program::TileMemory& tiles, const RemoteMemory& remote) const {
    const StreamCopy& copy = program_.stream_copies.at(ended.copy);
    Bytes moved = 0;
    std::byte* const buffer = remote.buffer(copy.buffer).data();
    for (std::size_t i = 0; i < copy.pieces.size(); ++i) {
        const StreamPiece& piece = copy.pieces[i];
        moved += piece.bytes;
        const Bytes first = first_byte(ended.copy, ended.row, i, named);
        if (first == kUnknown) {
            continue;
        }
        std::byte* const in_tile = tiles.at(piece.tile, piece.address, piece.bytes);
        const auto bytes = static_cast<std::size_t>(piece.bytes);
        if (writes_tiles(copy)) {
            std::memcpy(in_tile, buffer + first, bytes);
        } else {
            std::memcpy(buffer + first, in_tile, bytes);
        }
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
