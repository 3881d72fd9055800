// SPDX-License-Identifier: MIT
// Rows of a remote buffer, chunk after chunk, into tiles or out of them.
#include "kernels/micro/limits.h"
#include "kernels/micro/micro.h"
#include "kernels/micro/stream_steps.h"
#include "models/program/remote_sizes.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::micro {
namespace {

using Kind = graph::Step::Kind;

constexpr const char* kInTiles = "in tiles";
constexpr program::ArrayId kTensor = program::tensor(0);
constexpr program::ArrayId kRemote = program::remote_buffer(0);

const char* name_of(bool read) {
    return read ? "read" : "write";
}

/// What a copy between a remote buffer and the tiles is to be.
struct Copies {
    std::string owner;
    std::string sentence;
    program::RemoteBuffer buffer;
    std::int64_t rows = 1;   ///< of one copy
    Bytes request_bytes = 4; ///< of which each tile has whole ones
    bool read = true;
    std::int64_t tiles = 1;
    std::int64_t repeats = 1;
    std::vector<Bytes> sizes; ///< of remote buffers that the host must have room for
};

/// What the host has in the remote buffer, and what the tiles hold of it.
Values values_of(const Copies& given) {
    need_memory_of_buffers(given.sizes, given.sentence);
    const Bytes chunk = given.rows * given.buffer.row_bytes;
    const Bytes bytes = given.buffer.rows * given.buffer.row_bytes;
    if (given.read) {
        // Every chunk lands in the same place: the last one stays.
        auto all = marked_bytes(bytes, 1);
        std::vector<std::byte> last(all.end() - chunk, all.end());
        return {{{kRemote, std::move(all)}}, {{kTensor, std::move(last)}}};
    }
    auto once = marked_bytes(chunk, 1);
    std::vector<std::byte> all;
    all.reserve(static_cast<std::size_t>(bytes));
    while (static_cast<Bytes>(all.size()) < bytes) {
        all.insert(all.end(), once.begin(), once.end());
    }
    return {{{kTensor, std::move(once)}}, {{kRemote, std::move(all)}}};
}

/// The remote buffer, one copy between it and the tiles that runs chunk after chunk, and a tensor
/// of what the tiles hold.
Emitted emit_copies(const Copies& given) {
    const Bytes chunk = given.rows * given.buffer.row_bytes;
    graph::Graph graph(given.sentence);
    graph.remote_buffers.push_back(given.buffer);
    const auto in_tiles = graph.add_buffer({.name = kInTiles});
    const auto pieces = spread_over(chunk, 0, given.tiles, in_tiles, given.request_bytes);
    for (const auto& piece : pieces) {
        graph.hold(in_tiles, piece.tile, piece.bytes);
    }
    auto tensor = tensor_of("in_tiles", pieces);
    tensor.given = tensor.wanted = true;
    graph.add_tensor(std::move(tensor));
    using Direction = program::StreamCopy::Direction;
    const auto copy = graph.add_stream_copy({name_of(given.read), given.owner, 0,
                                             given.read ? Direction::Read : Direction::Write,
                                             given.rows, pieces});
    std::vector<graph::Step> chunks;
    for (std::int64_t row = 0; row < given.buffer.rows; row += given.rows) {
        chunks.push_back(graph::stream(Kind::StreamCopy, copy, row));
    }
    graph.control = graph::repeat(given.repeats, std::move(chunks));

    Emitted emitted{std::move(graph), [given] { return values_of(given); }};
    if (given.read) {
        emitted.arrivals = Arrivals{kTensor, given.repeats * given.buffer.rows / given.rows, chunk};
    }
    emitted.useful_bytes = given.repeats * given.buffer.rows * given.buffer.row_bytes;
    emitted.choices = {{"tiles", given.tiles}};
    return emitted;
}

} // namespace

Emitted emit(const spec::MachineSpec& machine, const workload::RemoteBufferWorkload& workload) {
    const std::int64_t tiles = tiles_or_all(machine, workload.tiles, machine.chip.tiles);
    const bool read = workload.direction == workload::StreamDirection::Read;
    Copies copies;
    copies.owner = "remote_buffer";
    copies.buffer.name = "remote";
    copies.buffer.rows = workload.rows;
    copies.buffer.row_bytes = workload.row_bytes;
    copies.rows = workload.chunk_rows;
    copies.request_bytes = machine.streaming.request_bytes;
    copies.read = read;
    copies.tiles = tiles;
    copies.repeats = workload.repeats;
    copies.sentence =
        fmt::format("remote buffer {}, {} rows of {} B, {} at a time, {} times", name_of(read),
                    workload.rows, workload.row_bytes, workload.chunk_rows, workload.repeats);
    copies.sizes =
        program::remote_sizes({copies.buffer}, machine.streaming.capacity_bytes, machine.name);
    Emitted emitted = emit_copies(copies);
    emitted.choices["copies"] = workload.rows / workload.chunk_rows;
    return emitted;
}

Emitted emit(const spec::MachineSpec& machine, const workload::HostTransferWorkload& workload) {
    const std::int64_t tiles = tiles_or_all(machine, workload.tiles, machine.chip.tiles);
    const bool read = workload.direction == workload::StreamDirection::Read;
    Copies copies;
    copies.owner = "host_transfer";
    copies.buffer.name = "host";
    copies.buffer.place = program::RemoteBuffer::Place::Host;
    copies.buffer.rows = 1;
    copies.buffer.row_bytes = tiles * workload.bytes;
    copies.request_bytes = workload.bytes;
    copies.read = read;
    copies.tiles = tiles;
    copies.repeats = workload.repeats;
    copies.sentence = fmt::format("host {} tiles, {} B to each of {}, {} times",
                                  read ? "to" : "from", workload.bytes, tiles, workload.repeats);
    return emit_copies(copies);
}

} // namespace tessera::micro
