// SPDX-License-Identifier: MIT
// The bytes of a program's remote buffers. Rows that nothing touches cost the host nothing.
#pragma once

#include "base/units.h"
#include "base/zero_pages.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::memory {

class RemoteMemory {
public:
    /// Zero-filled buffers. @throws DoesNotFit if those in streaming memory are larger than it is.
    /// @throws ProgramError for a buffer without rows or with rows that are not whole words.
    RemoteMemory(const spec::MachineSpec& machine, const program::Program& program);

    /// All bytes of a buffer, row after row.
    [[nodiscard]] std::span<std::byte> buffer(std::uint32_t index) const;

private:
    std::vector<std::size_t> bytes_;
    std::vector<ZeroPages> pages_;
};

} // namespace tessera::memory
