// SPDX-License-Identifier: MIT
// How the host runs a chip; nothing here changes a cycle.
#pragma once

#include "models/events/events.h"
#include "models/memory/ask_host.h"
#include "models/program/system_binding.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::ipu {

/// Without tensor data, phases of tiles that do the same run once.
struct TimingOptions {
    std::int64_t audited_tiles =
        0; ///< of the chip: always run in full, and held against the others
    /// Whether rounds of a repeat that leave the same are counted instead of run.
    bool counts_rounds = true;
};

/// What timing mode did: of the phases of compute sets, tile by tile, one of each class was run and
/// the others counted.
struct TimingFacts {
    std::int64_t phases = 0;
    std::int64_t phases_run = 0;
    std::int64_t audited_tiles = 0;
    std::int64_t unknown_addresses = 0; ///< loads and stores whose address depended on tensor data
};

struct RunOptions {
    int threads = 1; ///< host threads, 1 or more
    /// Who hears of the run, in this order; they outlive the chip.
    std::vector<events::Listener*> listeners = {};
    std::optional<TimingOptions> timing = std::nullopt; ///< nothing: with all data
    /// Who makes rows in the host's memory when they are asked for; nobody: they are as they stand.
    memory::AskHost ask_host = {};
    /// For tests: what happens in one cycle happens in an order that follows from the number.
    std::optional<std::uint64_t> shuffle = std::nullopt;
    std::int64_t chip = 0;                          ///< its number among the chips of a simulation
    std::vector<program::BoundExchange> links = {}; ///< its parts of link exchanges, by number
};

} // namespace tessera::ipu
