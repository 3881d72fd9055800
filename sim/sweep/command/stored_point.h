// SPDX-License-Identifier: MIT
// One point of a store as a run again: `tessera run --point`.
#pragma once

#include "sim/cli/cli.h"

namespace tessera::sweep {

/// The command with the workload, machine, values and mode of the point that `point` begins the key
/// of, where these are not given. Files are those of the point or, where they have changed since,
/// those that were frozen with a sweep. @throws UsageError where no point or several have such a
/// key; IoError where the files of the point are gone
[[nodiscard]] cli::RunCommand of_stored_point(cli::RunCommand command);

} // namespace tessera::sweep
