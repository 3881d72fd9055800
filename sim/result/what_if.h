// SPDX-License-Identifier: MIT
// Lists what a run does that the real machine's instructions cannot encode.
#pragma once

#include "models/program/program.h"

#include <string>
#include <vector>

namespace tessera::result {

/// One sentence for each such thing in `program`.
[[nodiscard]] std::vector<std::string> what_ifs(const program::Program& program);

} // namespace tessera::result
