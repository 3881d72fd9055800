// SPDX-License-Identifier: MIT
// Work in processes of its own, several at a time: SystemC elaborates once a process.
#pragma once

#include "sim/process/exit_code.h"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace tessera::process {

/// What a child hands back.
struct ChildOutcome {
    int exit_code = kBug;
    std::string text;      ///< empty if there is none
    int signal = 0;        ///< that ended it; 0: none
    bool was_late = false; ///< it was ended at its time limit
};

/// What a child may take. 0: as much as there is.
struct ChildLimits {
    double seconds = 0;                     ///< of the clock
    std::size_t memory_bytes = 0;           ///< of addresses, besides those that it begins with
    std::function<void()> each_second = {}; ///< called about so often while children are waited for
};

/// A child that has ended.
struct ChildEnd {
    std::size_t ended = 0; ///< how many have, with this one
    std::size_t body = 0;  ///< which it was
    const ChildOutcome& outcome;
};

/// Runs in the child; what it throws is told on stderr and becomes the exit code.
using ChildBody = std::function<ChildOutcome()>;

/// A process that runs a body.
struct Child {
    std::size_t body = 0;
    int process = 0;
    int pipe_end = -1; ///< where its text comes
    std::string text;  ///< so far
    std::chrono::steady_clock::time_point late;
    bool was_late = false;
};

/// Processes of a body each, at most `at_once` at a time. `ended` is called in this process after
/// each, with what it handed back. A child that cannot have the memory that it asks for says so
/// (kHostMemory); one that takes too long is ended. Contract: this process has one thread and has
/// not started SystemC.
class Children {
public:
    Children(int at_once, std::function<void(const ChildEnd& end)> ended,
             const ChildLimits& limits);

    /// Starts number `number` when fewer than `at_once` run. It has what this process has by then.
    /// @throws IoError if a process or pipe cannot be had
    void start(std::size_t number, const ChildBody& body);
    /// Until all have ended.
    void wait();

private:
    void wait_for_one();

    std::size_t at_once_;
    std::function<void(const ChildEnd& end)> ended_;
    ChildLimits limits_;
    std::vector<Child> running_;
    std::size_t done_ = 0;
};

/// Runs each of `bodies` as one of Children and returns what they hand back in their order.
[[nodiscard]] std::vector<ChildOutcome>
run_children(const std::vector<ChildBody>& bodies, int at_once,
             const std::function<void(const ChildEnd& end)>& ended = {},
             const ChildLimits& limits = {});

} // namespace tessera::process
