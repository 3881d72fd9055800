// SPDX-License-Identifier: MIT
// How the host runs a chip; nothing here changes a result.
#pragma once

#include "base/units.h"
#include "models/program/program.h"
#include "traces/event.h"

#include <cstdint>
#include <functional>

namespace tessera::ipu {

/// Called before each step of the control program and at its end: steps begun, steps in all, cycles
/// so far.
using Progress = std::function<void(std::int64_t, std::int64_t, Cycles)>;

/// Called where the bytes of a stream copy into tiles have arrived: which copy of the program.
using Arrived = std::function<void(std::uint32_t)>;

/// Called where a compute set or an exchange has ended and before anything else begins: what it
/// left stands in the tiles.
using Ended = std::function<void(const program::Step&)>;

struct RunOptions {
    int threads = 1;                    ///< host threads, 1 or more
    traces::TraceSink* sink = nullptr;  ///< null: no events
    traces::NameTable* names = nullptr; ///< of the sink; given with it
    Progress progress;                  ///< may be empty
    Arrived arrived = {};               ///< may be empty
    Ended ended = {};                   ///< may be empty
};

} // namespace tessera::ipu
