// SPDX-License-Identifier: MIT
// Many runs from one process that stays warm: it reads every configuration once, and makes operands,
// patterns and plans once for all runs that agree on them. Each run is a forked child, as SystemC
// elaborates once a process; a child that crashes takes no other with it.
//
// Contract: this process has one thread and has not started SystemC. It keeps to this one thread from
// the first run on; plans that only one run needs are left to its child. Runs start in the order of
// their commands, but for those that share a plan, which start together.
#pragma once

#include "sim/cli/cli.h"
#include "sim/process/child.h"
#include "sim/run/batch.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace tessera::run {

/// Runs each command, which has one workload and names no output, `at_once` at a time. What a child
/// hands back is its result as JSON, or failed_result() of why there is none; in the order of the
/// commands. Mode auto is functional here. `ended` is called after each, of those that cannot be
/// read too, `body` being the number of the command.
/// @throws IoError if a process cannot be had
[[nodiscard]] std::vector<process::ChildOutcome>
run_warm(const std::vector<cli::RunCommand>& commands, int at_once, const Elaborate& elaborate,
         const std::function<void(const process::ChildEnd& end)>& ended = {},
         const process::ChildLimits& limits = {});

} // namespace tessera::run
