// SPDX-License-Identifier: MIT
// The control program's own code: it takes memory and is not executed (what it takes is
// control.*_cycles).
#pragma once

#include "base/units.h"
#include "models/program/program.h"
#include "models/spec/control_spec.h"

namespace tessera::lower {

/// Code of all steps of the tree, each where it stands; a repeated step is there once. Steps that
/// come again in the same order, perhaps with other rows of a remote buffer, are a loop too where
/// that is shorter.
[[nodiscard]] Bytes control_bytes(const spec::ControlSpec& control, const program::Step& step);

} // namespace tessera::lower
