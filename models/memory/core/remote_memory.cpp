// SPDX-License-Identifier: MIT
#include "models/memory/core/remote_memory.h"

#include "models/program/remote_sizes.h"

namespace tessera::memory {

RemoteMemory::RemoteMemory(const spec::MachineSpec& machine, const program::Program& program) {
    for (const Bytes bytes : program::remote_sizes(
             program.remote_buffers, machine.streaming.capacity_bytes, machine.name)) {
        bytes_.push_back(static_cast<std::size_t>(bytes));
        pages_.emplace_back(bytes_.back());
    }
}

std::span<std::byte> RemoteMemory::buffer(std::uint32_t index) const {
    return {pages_.at(index).begin(), bytes_.at(index)};
}

} // namespace tessera::memory
