// SPDX-License-Identifier: MIT
// What a run does that the instructions of the machine as built cannot say.
#pragma once

#include "models/program/program.h"

#include <string>
#include <vector>

namespace tessera::sim {

/// A sentence for each.
[[nodiscard]] std::vector<std::string> what_ifs(const program::Program& program);

} // namespace tessera::sim
