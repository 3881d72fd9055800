// SPDX-License-Identifier: MIT
// `tessera run`: one workload on one machine in this process, or several runs one after another, each
// in a process of its own (SystemC elaborates once a process).
#pragma once

#include "sim/cli/cli.h"

#include <functional>

namespace tessera::run {

/// Runs `body` inside sc_main; rethrows what it throws.
using Elaborate = std::function<void(const std::function<void()>& body)>;

/// Does what `tessera run` does, with its output on stdout and stderr. Returns the exit code 0, or
/// 1 if a check failed. Of several runs, those that fail are in the result with the reason, and the
/// exit code is the worst. Throws as run_workload does where there is one run.
int run_command(const cli::RunCommand& command, const Elaborate& elaborate);

} // namespace tessera::run
