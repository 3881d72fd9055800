// SPDX-License-Identifier: MIT
// An axis of a sweep file, in any of its forms.
#pragma once

#include "sim/sweep/space.h"
#include "sim/sweep/sweep_notes.h"
#include "sim/sweep/sweep_text.h"

#include <optional>
#include <string>

namespace tessera::sweep {

/// The axis that stands at `pointer`; nothing where it has mistakes, which are noted. Where the sweep
/// `samples`, a range needs no step.
[[nodiscard]] std::optional<Axis> axis_of(SweepNotes& notes, const std::string& pointer,
                                          const AxisText& given, bool samples);

} // namespace tessera::sweep
