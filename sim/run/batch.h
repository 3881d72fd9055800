// SPDX-License-Identifier: MIT
// `tessera run`: one workload in this process, or several one after another, each in its own
// (SystemC elaborates once a process).
#pragma once

#include "sim/cli/cli.h"

#include <functional>

namespace tessera::sim {

/// Runs `body` inside sc_main; rethrows what it throws.
using Elaborate = std::function<void(const std::function<void()>& body)>;

/// Does what `tessera run` does, with its output on stdout and stderr. Returns the exit code 0, or
/// 1 if a check failed. Of several workloads those that cannot be run stand in the result with why,
/// and the exit code is the worst. Throws as run_workload does where there is one workload.
int run_command(const RunCommand& command, const Elaborate& elaborate);

} // namespace tessera::sim
