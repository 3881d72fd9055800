// SPDX-License-Identifier: MIT
// Rows of a remote buffer, chunk after chunk, into tiles or out of them.
#include "kernels/micro/micro_builder.h"
#include "kernels/micro/micro_plan.h"
#include "kernels/micro/stream_steps.h"
#include "models/program/remote_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tessera::micro {
namespace {

using Kind = program::Step::Kind;

constexpr const char* kInTiles = "in tiles";

const char* name_of(bool read) {
    return read ? "read" : "write";
}

/// The pieces, at an address where they stand alone in memory.
std::vector<program::StreamPiece> placed(const spec::MachineSpec& machine,
                                         const std::string& sentence, const char* step,
                                         std::vector<program::StreamPiece> pieces) {
    const auto fullest =
        std::max_element(pieces.begin(), pieces.end(), [](const auto& left, const auto& right) {
            return left.bytes < right.bytes;
        });
    plan::Liveness steps;
    steps.step(step).reads({kInTiles}).given({kInTiles}).wanted({kInTiles});
    plan::MemoryPlan memory(machine, {});
    place_or_refuse(memory, {tensor_buffer(kInTiles, fullest->bytes)}, steps, sentence,
                    fullest->tile);
    for (auto& piece : pieces) {
        piece.address = memory.address(kInTiles);
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
            segment.name = kInTiles;
            program.images.push_back({{segment}});
        }
        program.image_of_tile.at(piece.tile) = entry->second;
    }
}

/// One remote buffer, one copy between it and the tiles, and a tensor of what the tiles hold.
MicroPlan plan_copy(const char* name, program::RemoteBuffer buffer, std::int64_t rows, bool read,
                    const std::vector<program::StreamPiece>& pieces) {
    MicroPlan plan;
    plan.program.name = name;
    plan.program.tensors.push_back(tensor_of("in_tiles", pieces));
    plan.program.stream_copies.push_back(
        {name_of(read), 0,
         read ? program::StreamCopy::Direction::Read : program::StreamCopy::Direction::Write, rows,
         pieces, program::Role::Stream, name});
    const Bytes chunk = rows * buffer.row_bytes;
    const Bytes bytes = buffer.rows * buffer.row_bytes;
    if (read) {
        // Every chunk lands in the same place: the last one stays.
        plan.operands.push_back({buffer.name, marked_bytes(bytes, 1)});
        const auto& all = plan.operands.back().bytes;
        plan.expected.push_back({"in_tiles", {all.end() - chunk, all.end()}});
        plan.arrivals = Arrivals{"in_tiles", buffer.rows / rows, chunk};
    } else {
        plan.operands.push_back({"in_tiles", marked_bytes(chunk, 1)});
        std::vector<std::byte> all;
        all.reserve(static_cast<std::size_t>(bytes));
        while (static_cast<Bytes>(all.size()) < bytes) {
            const auto& once = plan.operands.back().bytes;
            all.insert(all.end(), once.begin(), once.end());
        }
        plan.expected.push_back({buffer.name, std::move(all)});
    }
    plan.program.remote_buffers.push_back(std::move(buffer));
    return plan;
}

/// `steps`, `repeats` times over.
void repeat_all(MicroPlan& plan, std::int64_t repeats, std::vector<program::Step> steps) {
    plan.program.control = repeat(repeats, std::move(steps));
    plan.useful_bytes = repeats * plan.program.remote_buffers.front().rows *
                        plan.program.remote_buffers.front().row_bytes;
    if (plan.arrivals) {
        plan.arrivals->copies *= repeats;
    }
}

} // namespace

MicroPlan plan(const spec::MachineSpec& machine, const workload::RemoteBufferWorkload& workload) {
    const std::int64_t tiles = tiles_or_all(machine, workload.tiles, machine.chip.tiles);
    const bool read = workload.direction == workload::StreamDirection::Read;
    program::RemoteBuffer buffer;
    buffer.name = "remote";
    buffer.rows = workload.rows;
    buffer.row_bytes = workload.row_bytes;
    const auto sizes =
        program::remote_sizes({buffer}, machine.streaming.capacity_bytes, machine.name);
    const std::string sentence =
        fmt::format("remote buffer {}, {} rows of {} B, {} at a time, {} times", name_of(read),
                    workload.rows, workload.row_bytes, workload.chunk_rows, workload.repeats);
    const auto pieces = placed(machine, sentence, name_of(read),
                               spread_over(workload.chunk_rows * workload.row_bytes, 0, tiles, 0,
                                           machine.streaming.request_bytes));
    need_memory_of_buffers(sizes, sentence);
    auto plan = plan_copy("remote_buffer", std::move(buffer), workload.chunk_rows, read, pieces);
    add_images(machine, pieces, plan.program);
    std::vector<program::Step> chunks;
    for (std::int64_t row = 0; row < workload.rows; row += workload.chunk_rows) {
        chunks.push_back(step(Kind::StreamCopy, 0, row));
    }
    repeat_all(plan, workload.repeats, std::move(chunks));
    plan.sentence = sentence;
    plan.choices = {{"tiles", tiles}, {"copies", workload.rows / workload.chunk_rows}};
    return plan;
}

MicroPlan plan(const spec::MachineSpec& machine, const workload::HostTransferWorkload& workload) {
    const std::int64_t tiles = tiles_or_all(machine, workload.tiles, machine.chip.tiles);
    const bool read = workload.direction == workload::StreamDirection::Read;
    program::RemoteBuffer buffer;
    buffer.name = "host";
    buffer.place = program::RemoteBuffer::Place::Host;
    buffer.rows = 1;
    buffer.row_bytes = tiles * workload.bytes;
    const std::string sentence =
        fmt::format("host {} tiles, {} B to each of {}, {} times", read ? "to" : "from",
                    workload.bytes, tiles, workload.repeats);
    const auto pieces = placed(machine, sentence, name_of(read),
                               spread_over(buffer.row_bytes, 0, tiles, 0, workload.bytes));
    auto plan = plan_copy("host_transfer", std::move(buffer), 1, read, pieces);
    add_images(machine, pieces, plan.program);
    repeat_all(plan, workload.repeats, {step(Kind::StreamCopy)});
    plan.sentence = sentence;
    plan.choices = {{"tiles", tiles}};
    return plan;
}

} // namespace tessera::micro
