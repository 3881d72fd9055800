// SPDX-License-Identifier: MIT
#include "sim/result/digest.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace tessera::result {

static_assert(std::endian::native == std::endian::little, "digests are of little-endian bytes");

namespace {

constexpr std::size_t kLongPart = std::size_t{1} << 12; // bytes

unsigned long crc_behind(unsigned long crc, std::span<const std::byte> bytes) {
    if (bytes.empty()) {
        return crc; // a null pointer begins a CRC anew
    }
    return crc32_z(crc, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

} // namespace

void Digest::add(std::span<const std::byte> bytes) {
    if (waits_.size() + bytes.size() > kLongPart) {
        crc_ = crc_behind(crc_, waits_);
        waits_.clear();
    }
    if (bytes.size() > kLongPart) {
        crc_ = crc_behind(crc_, bytes);
    } else {
        waits_.insert(waits_.end(), bytes.begin(), bytes.end());
    }
}

void Digest::add(const std::string& text) {
    add(std::as_bytes(std::span(text)));
}

void Digest::add(std::int64_t number) {
    add(std::as_bytes(std::span(&number, 1)));
}

std::string Digest::text() const {
    return fmt::format("{:08x}", crc_behind(crc_, waits_));
}

namespace {

/// A hash of the contents of memory, several times as fast as a CRC. Another word at one place always
/// gives another hash, for each step can be undone.
std::uint64_t hash_of(std::span<const std::byte> bytes) {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U; // 2^64 over the golden ratio
    constexpr int kTurn = 32;
    std::uint64_t hash = bytes.size();
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(bytes.size(), sizeof hash))) {
        std::uint64_t word = 0;
        std::memcpy(&word, bytes.data(), std::min(bytes.size(), sizeof word));
        hash = std::rotl((hash ^ word) * kOdd, kTurn);
    }
    return hash;
}

/// A program, part by part. Each list begins with its length, so that no element is taken for one of
/// another list.
class ProgramDigest {
public:
    std::string of(const program::Program& program) {
        each(program.images, [&](const program::Image& image) { add(image); });
        each(program.image_of_tile, [&](std::uint32_t image) { number(image); });
        each(program.compute_sets, [&](const program::ComputeSet& set) { add(set); });
        each(program.exchanges, [&](const program::Exchange& exchange) {
            each(exchange.rows, [&](const program::ExchangeRow& row) { // its words are in images
                numbers(row.tile, row.address);
            });
        });
        for (const program::LinkExchange& exchange : program.link_exchanges) {
            add(exchange); // without their number: programs of one chip have none
        }
        add(program.control);
        each(program.functions, [&](const program::Function& function) { add(function.body); });
        each(program.remote_buffers, [&](const program::RemoteBuffer& buffer) {
            numbers(static_cast<int>(buffer.place), buffer.rows, buffer.row_bytes, buffer.known);
        });
        each(program.stream_copies, [&](const program::StreamCopy& copy) { add(copy); });
        each(program.io_tiles, [&](TileId tile) { number(tile); });
        each(program.tensors, [&](const program::Tensor& tensor) { add(tensor); });
        each(program.scattered, [&](const std::vector<program::ByteRange>& ranges) {
            each(ranges,
                 [&](const program::ByteRange& range) { numbers(range.address, range.bytes); });
        });
        return digest_.text();
    }

private:
    template <class Number> void number(Number value) {
        digest_.add(static_cast<std::int64_t>(value));
    }
    template <class... Numbers> void numbers(Numbers... values) {
        const std::array<std::int64_t, sizeof...(values)> all{static_cast<std::int64_t>(values)...};
        digest_.add(std::as_bytes(std::span(all)));
    }
    template <class List, class Add> void each(const List& list, const Add& add_one) {
        number(list.size());
        for (const auto& one : list) {
            add_one(one);
        }
    }

    void add(const program::Image& image) {
        each(image.segments, [&](const program::Segment& segment) {
            numbers(segment.address, segment.bytes, static_cast<int>(segment.kind), segment.known,
                    content_of(segment.data));
        });
    }
    /// Tiles share code and tables, of which a digest is made once.
    std::uint64_t content_of(const program::SharedBytes& data) {
        if (data == nullptr) {
            return 0;
        }
        const auto [known, is_new] = contents_.try_emplace(data.get());
        if (is_new) {
            known->second = hash_of(*data);
        }
        return known->second;
    }

    void add(const program::ComputeSet& set) {
        each(set.tiles, [&](const program::TileVertices& tile) {
            number(tile.stub);
            each(tile.vertices, [&](const program::Vertex& vertex) {
                numbers(vertex.entry, static_cast<int>(vertex.kind), vertex.state_address,
                        vertex.scatters);
            });
        });
    }

    /// The chip is 0, the host 2; groups have the rest.
    static std::uint32_t number_of(const program::SyncZone& zone) {
        switch (zone.kind) {
        case program::SyncZone::Kind::Chip:
            return 0;
        case program::SyncZone::Kind::Host:
            return 2;
        case program::SyncZone::Kind::Group:
            break;
        }
        return zone.number == 0 ? 1 : 2 + zone.number;
    }

    void add(const program::LinkExchange& exchange) {
        digest_.add(exchange.name);
        number(exchange.zone.number);
        for (const auto* messages : {&exchange.sends, &exchange.receives}) {
            each(*messages, [&](const program::LinkMessage& message) {
                const program::LinkPlace& place = message.place;
                numbers(message.channel, message.index, place.tile, place.address, place.bytes,
                        place.indexed.has_value());
                if (place.indexed) {
                    numbers(place.indexed->word, place.indexed->sign, place.indexed->stride,
                            place.indexed->count, place.indexed->shift);
                }
            });
        }
    }

    void add(const program::Step& step) {
        numbers(static_cast<int>(step.kind), step.index, step.count, number_of(step.zone), step.row,
                step.row_a_round, step.value.has_value());
        if (step.value) {
            numbers(step.value->tile, step.value->address);
        }
        each(step.rounds,
             [&](const program::TileValue& round) { numbers(round.tile, round.address); });
        if (step.only) {
            numbers(step.only->first, step.only->every, step.only->end);
        }
        each(step.children, [&](const program::Step& child) { add(child); });
    }

    void add(const program::StreamCopy& copy) {
        numbers(copy.buffer, static_cast<int>(copy.direction), copy.rows);
        each(copy.pieces, [&](const program::StreamPiece& piece) {
            numbers(piece.tile, piece.address, piece.bytes, piece.offset);
        });
        if (!copy.rows_from.empty()) {
            each(copy.rows_from, [&](const program::RowNumbers& one) {
                numbers(one.tile, one.address, one.first, one.count, one.base, one.below);
            });
        }
    }

    void add(const program::Tensor& tensor) {
        numbers(static_cast<int>(tensor.type), tensor.kept, tensor.known);
        each(tensor.shape, [&](std::int64_t size) { number(size); });
        each(tensor.pieces, [&](const program::Piece& piece) {
            numbers(piece.tile, piece.address, piece.host_offset);
            each(piece.dims, [&](const program::PieceDim& dim) {
                numbers(dim.count, dim.host_stride, dim.tile_stride);
            });
        });
    }

    Digest digest_;
    std::unordered_map<const void*, std::uint64_t> contents_;
};

} // namespace

std::string program_digest(const program::Program& program) {
    return ProgramDigest().of(program);
}

std::string program_digest(const program::SystemProgram& system) {
    Digest digest;
    const auto number = [&](auto value) { digest.add(static_cast<std::int64_t>(value)); };
    for (const auto& program : system.programs) {
        digest.add(program_digest(*program));
    }
    for (std::size_t chip = 0; chip < system.chips(); ++chip) {
        number(system.program_of_chip[chip]);
        for (const program::Peer& peer : system.peers[chip]) {
            number(peer.chip);
            number(peer.channel);
        }
        for (const auto& groups : system.zones) {
            number(groups[chip]);
        }
        for (const program::Ranks& ranks : system.ranks) {
            for (const std::int32_t word : ranks.words_of_chip[chip]) {
                number(word);
            }
        }
    }
    return digest.text();
}

std::string tile_cycles_digest(std::span<const listeners::Account* const> chips) {
    Digest digest;
    for (const listeners::Account* const account : chips) {
        for (const listeners::CyclesByKind& tile : account->tiles()) {
            const std::array<Cycles, 5> kinds{tile.compute, tile.exchange, tile.sync, tile.stream,
                                              tile.idle};
            digest.add(std::as_bytes(std::span(kinds)));
            if (chips.size() > 1) { // one chip alone has no links
                digest.add(tile.link);
            }
        }
    }
    return digest.text();
}

} // namespace tessera::result
