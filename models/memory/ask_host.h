// SPDX-License-Identifier: MIT
// The host as the chip's streams see it: asked for rows when a copy of them begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

namespace tessera::memory {

/// Copy `copy` begins to read rows from `row` on of a buffer in the host's memory. `rows` are their bytes
/// as the host and earlier copies have left them; the host may write them. Called once for each such
/// copy, on the simulation's own thread; in timing mode for known buffers alone.
using AskHost =
    std::function<void(std::uint32_t copy, std::int64_t row, std::span<std::byte> rows)>;

} // namespace tessera::memory
