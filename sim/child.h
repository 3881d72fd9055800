// SPDX-License-Identifier: MIT
// Work in processes of its own, several at a time: SystemC elaborates once a process.
#pragma once

#include "sim/exit_code.h"

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace tessera::sim {

/// What a child hands back.
struct ChildOutcome {
    int exit_code = kBug;
    std::string text;      ///< empty if there is none
    int signal = 0;        ///< that ended it; 0: none
    bool was_late = false; ///< it was ended at its time limit
};

/// What a child may take. 0: as much as there is.
struct ChildLimits {
    double seconds = 0;           ///< of the clock
    std::size_t memory_bytes = 0; ///< of addresses, besides those that it begins with
};

/// A child that has ended.
struct ChildEnd {
    std::size_t ended = 0; ///< how many have, with this one
    std::size_t body = 0;  ///< which it was
    const ChildOutcome& outcome;
};

/// Runs in the child; what it throws is told on stderr and becomes the exit code.
using ChildBody = std::function<ChildOutcome()>;

/// Runs each of `bodies` in a process of its own, at most `at_once` at a time, and returns what
/// they hand back in their order. `ended` is called in this process after each. A child that cannot
/// have the memory that it asks for says so (kHostMemory); one that takes too long is ended.
/// Contract: this process has one thread and has not started SystemC.
/// @throws IoError if a process or pipe cannot be had
[[nodiscard]] std::vector<ChildOutcome>
run_children(const std::vector<ChildBody>& bodies, int at_once,
             const std::function<void(const ChildEnd& end)>& ended = {},
             const ChildLimits& limits = {});

} // namespace tessera::sim
