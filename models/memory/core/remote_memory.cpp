// SPDX-License-Identifier: MIT
#include "models/memory/core/remote_memory.h"

#include "base/error.h"

#include <fmt/format.h>

namespace tessera::memory {
namespace {

/// Longer buffers than any machine has; keeps products of rows and bytes exact.
constexpr Bytes kLongestBuffer = Bytes{1} << 50;

Bytes bytes_of(const program::RemoteBuffer& buffer) {
    if (buffer.rows < 1 || buffer.row_bytes < 4 || buffer.row_bytes % 4 != 0 ||
        buffer.rows > kLongestBuffer / buffer.row_bytes) {
        throw ProgramError(fmt::format("remote buffer {}: got {} rows of {} bytes, expected at "
                                       "least one of whole words, {} bytes at most",
                                       buffer.name, buffer.rows, buffer.row_bytes, kLongestBuffer));
    }
    return buffer.rows * buffer.row_bytes;
}

} // namespace

RemoteMemory::RemoteMemory(const spec::MachineSpec& machine, const program::Program& program) {
    Bytes streaming = 0;
    for (const auto& buffer : program.remote_buffers) {
        const Bytes bytes = bytes_of(buffer);
        streaming +=
            buffer.place == program::RemoteBuffer::Place::StreamingMemory ? bytes : Bytes{0};
        if (streaming > machine.streaming.capacity_bytes) {
            throw DoesNotFit(fmt::format(
                "remote buffer {}: got {} bytes in streaming memory so far, expected at most {} "
                "(streaming.capacity_bytes of machine {})",
                buffer.name, streaming, machine.streaming.capacity_bytes, machine.name));
        }
        bytes_.push_back(static_cast<std::size_t>(bytes));
        pages_.emplace_back(bytes_.back());
    }
}

std::span<std::byte> RemoteMemory::buffer(std::uint32_t index) const {
    return {pages_.at(index).begin(), bytes_.at(index)};
}

} // namespace tessera::memory
