// SPDX-License-Identifier: MIT
// The size of the control program's code. This code takes tile memory but is not executed: the
// parameters control.*_cycles give its time.
#pragma once

#include "base/units.h"
#include "models/program/program.h"
#include "models/spec/control_spec.h"

namespace tessera::lower {

/// Returns the bytes of code for `step` and all steps below it. A step has code at each place where
/// it occurs in the tree; the body of a repeat has it once. A group of steps that recurs directly
/// after itself becomes a loop if that is shorter, even if its rows of a remote buffer differ.
[[nodiscard]] Bytes control_bytes(const spec::ControlSpec& control, const program::Step& step);

} // namespace tessera::lower
