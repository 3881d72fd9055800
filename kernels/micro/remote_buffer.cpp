// SPDX-License-Identifier: MIT
// Rows of a remote buffer, chunk after chunk, into tiles or out of them.
#include "base/error.h"
#include "kernels/micro/micro_plan.h"
#include "kernels/micro/stream_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tessera::micro {
namespace {

using Kind = program::Step::Kind;

std::vector<program::StreamPiece> pieces_on(const spec::MachineSpec& machine, const char* what,
                                            std::int64_t tiles, Bytes bytes, Bytes request_bytes) {
    if (tiles > machine.chip.tiles) {
        throw DoesNotFit(fmt::format("{}: got {} tiles, expected at most {} of machine {}", what,
                                     tiles, machine.chip.tiles, machine.name));
    }
    auto pieces = spread_over(bytes, 0, tiles, machine.memory.region1_begin(), request_bytes);
    Bytes most = 0;
    for (const auto& piece : pieces) {
        most = std::max(most, piece.bytes);
    }
    if (most > machine.memory.region1_bytes) {
        throw DoesNotFit(fmt::format("{}: got {} bytes on a tile, expected at most {}", what, most,
                                     machine.memory.region1_bytes));
    }
    return pieces;
}

/// The tiles' part of a copy as images, so that memory reports show it.
void add_images(const spec::MachineSpec& machine, const std::vector<program::StreamPiece>& pieces,
                program::Program& program) {
    program.image_of_tile.assign(static_cast<std::size_t>(machine.chip.tiles),
                                 program::Program::kNoImage);
    std::map<std::pair<Address, Bytes>, std::uint32_t> known;
    for (const auto& piece : pieces) {
        const auto [entry, added] = known.try_emplace(
            {piece.address, piece.bytes}, static_cast<std::uint32_t>(program.images.size()));
        if (added) {
            program::Segment segment;
            segment.address = piece.address;
            segment.bytes = piece.bytes;
            segment.name = "in tiles";
            program.images.push_back({{segment}});
        }
        program.image_of_tile.at(piece.tile) = entry->second;
    }
}

/// One remote buffer, one copy between it and the tiles, and a tensor of what the tiles hold.
MicroPlan plan_copy(const spec::MachineSpec& machine, const char* name,
                    program::RemoteBuffer buffer, std::int64_t rows, bool read,
                    const std::vector<program::StreamPiece>& pieces) {
    MicroPlan plan;
    plan.program.name = name;
    plan.program.tensors.push_back(tensor_of("in_tiles", pieces));
    add_images(machine, pieces, plan.program);
    plan.program.stream_copies.push_back(
        {read ? "read" : "write", 0,
         read ? program::StreamCopy::Direction::Read : program::StreamCopy::Direction::Write, rows,
         pieces});
    const Bytes chunk = rows * buffer.row_bytes;
    const Bytes bytes = buffer.rows * buffer.row_bytes;
    if (read) {
        // Every chunk lands in the same place: the last one stays.
        plan.operands.push_back({buffer.name, marked_bytes(bytes, 1)});
        const auto& all = plan.operands.back().bytes;
        plan.expected.push_back({"in_tiles", {all.end() - chunk, all.end()}});
    } else {
        plan.operands.push_back({"in_tiles", marked_bytes(chunk, 1)});
        std::vector<std::byte> all;
        while (static_cast<Bytes>(all.size()) < bytes) {
            const auto& once = plan.operands.back().bytes;
            all.insert(all.end(), once.begin(), once.end());
        }
        plan.expected.push_back({buffer.name, std::move(all)});
    }
    plan.program.remote_buffers.push_back(std::move(buffer));
    return plan;
}

} // namespace

MicroPlan plan(const spec::MachineSpec& machine, const workload::RemoteBufferWorkload& workload) {
    const std::int64_t tiles = workload.tiles == 0 ? machine.chip.tiles : workload.tiles;
    const Bytes chunk = workload.chunk_rows * workload.row_bytes;
    const bool read = workload.direction == workload::StreamDirection::Read;
    program::RemoteBuffer buffer;
    buffer.name = "remote";
    buffer.rows = workload.rows;
    buffer.row_bytes = workload.row_bytes;
    const Bytes capacity = machine.streaming.capacity_bytes;
    if (workload.rows > capacity / workload.row_bytes) {
        throw DoesNotFit(fmt::format("remote_buffer: {} rows of {} bytes do not fit in streaming "
                                     "memory of {} bytes (streaming.capacity_bytes of machine {})",
                                     workload.rows, workload.row_bytes, capacity, machine.name));
    }
    auto plan = plan_copy(
        machine, "remote_buffer", std::move(buffer), workload.chunk_rows, read,
        pieces_on(machine, "remote_buffer", tiles, chunk, machine.streaming.request_bytes));
    std::vector<program::Step> chunks;
    for (std::int64_t row = 0; row < workload.rows; row += workload.chunk_rows) {
        chunks.push_back(step(Kind::StreamCopy, 0, row));
    }
    plan.program.control = repeat(workload.repeats, std::move(chunks));
    plan.useful_bytes = workload.repeats * workload.rows * workload.row_bytes;
    plan.sentence = fmt::format("remote buffer {}, {} rows of {} B, {} at a time, {} times",
                                read ? "read" : "write", workload.rows, workload.row_bytes,
                                workload.chunk_rows, workload.repeats);
    plan.choices = {{"tiles", tiles}, {"copies", workload.rows / workload.chunk_rows}};
    return plan;
}

MicroPlan plan(const spec::MachineSpec& machine, const workload::HostTransferWorkload& workload) {
    const std::int64_t tiles = workload.tiles == 0 ? machine.chip.tiles : workload.tiles;
    const bool read = workload.direction == workload::StreamDirection::Read;
    program::RemoteBuffer buffer;
    buffer.name = "host";
    buffer.place = program::RemoteBuffer::Place::Host;
    buffer.rows = 1;
    buffer.row_bytes = tiles * workload.bytes;
    const auto pieces =
        pieces_on(machine, "host_transfer", tiles, buffer.row_bytes, machine.host.request_bytes);
    auto plan = plan_copy(machine, "host_transfer", std::move(buffer), 1, read, pieces);
    plan.program.control = repeat(workload.repeats, {step(Kind::StreamCopy)});
    plan.useful_bytes = workload.repeats * tiles * workload.bytes;
    plan.sentence = fmt::format("host {} tiles, {} B to each of {}, {} times", read ? "to" : "from",
                                workload.bytes, tiles, workload.repeats);
    plan.choices = {{"tiles", tiles}};
    return plan;
}

} // namespace tessera::micro
