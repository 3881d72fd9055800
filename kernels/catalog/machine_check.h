// SPDX-License-Identifier: MIT
// Mistakes that show where a machine and a workload meet.
#pragma once

#include "base/error.h"
#include "kernels/catalog/load.h"
#include "models/spec/load.h"

#include <vector>

namespace tessera::catalog {

/// Returns why `workload` does not run on `machine`, though each of both is right by itself: one is of
/// several chips and the other of one. Empty if it runs.
[[nodiscard]] std::vector<Diagnostic> mistakes_on(const spec::LoadedMachine& machine,
                                                  const LoadedWorkload& workload);

} // namespace tessera::catalog
