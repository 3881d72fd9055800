// SPDX-License-Identifier: MIT
// Groups of whole products and vertices: how near they are, a line each,
//
//     group                  rows  ratio     p90  no sync   ours  sign  target
//     dense FP16: n > 256      14  1.012   8.1 %    1.003  0.911        ratio 0.92 to 1.08, ...
//
// and where the cycles of the rows that are farthest off went.
#pragma once

#include "base/layout.h"
#include "sim/calibrate/outcome.h"

#include <string>

namespace tessera::sim::calibrate {

/// Empty where no such group has rows.
[[nodiscard]] std::string kernel_groups_text(const Calibration& calibration, const Layout& layout);

} // namespace tessera::sim::calibrate
