// SPDX-License-Identifier: MIT
// Groups of whole products and vertices: how near they are, a line each,
//
//     group                rows  ratio     p90  no sync   ours  target
//     dense FP16: n > 256    13  1.063  12.3 %    1.061  0.901  0.92..1.08, p90 20 %: reached
//
// and where the cycles of the rows that are farthest off went.
#pragma once

#include "base/layout.h"
#include "sim/calibrate/outcome.h"

#include <string>

namespace tessera::calibrate {

/// Empty where no such group has rows.
[[nodiscard]] std::string kernel_groups_text(const Calibration& calibration, const Layout& layout);

} // namespace tessera::calibrate
