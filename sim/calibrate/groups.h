// SPDX-License-Identifier: MIT
// The groups of figures that are judged together, what each must reach, and the rows that a machine
// parameter was taken from.
#pragma once

#include "sim/calibrate/statistics.h"

#include <string>
#include <vector>

namespace tessera::sim::calibrate {

struct Group {
    const char* name;
    Target target;
};

/// In the order in which they are told.
[[nodiscard]] const std::vector<Group>& groups();

/// @throws ConfigError with the nearest name
void check_group_name(const std::string& name);

/// The machine parameter that was taken from the row; empty: none, the row is judged. Each of them
/// is named in docs/evidence.md#calibrated-rows.
[[nodiscard]] std::string calibrated_parameter(const std::string& row_id);

} // namespace tessera::sim::calibrate
