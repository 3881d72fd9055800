// SPDX-License-Identifier: MIT
// The groups of figures that are judged together, and what each must reach.
#pragma once

#include "sim/calibrate/statistics.h"

#include <string>
#include <vector>

namespace tessera::sim::calibrate {

struct Group {
    const char* name;
    Target target;
    /// Loops of its codelets were read from rows that are judged here: docs/evidence.md.
    bool reads_loops = false;
};

/// In the order in which they are told.
[[nodiscard]] const std::vector<Group>& groups();

/// @throws ConfigError with the nearest name
void check_group_name(const std::string& name);

} // namespace tessera::sim::calibrate
