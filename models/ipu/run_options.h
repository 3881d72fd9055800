// SPDX-License-Identifier: MIT
// How the host runs a chip; nothing here changes a result.
#pragma once

#include "models/events/events.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::ipu {

struct RunOptions {
    int threads = 1; ///< host threads, 1 or more
    /// Who hears of the run, in this order; they outlive the chip.
    std::vector<events::Listener*> listeners = {};
    /// For tests: what happens in one cycle happens in an order that follows from the number.
    std::optional<std::uint64_t> shuffle = std::nullopt;
};

} // namespace tessera::ipu
