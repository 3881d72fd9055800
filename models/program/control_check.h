// SPDX-License-Identifier: MIT
// What a control program must be before anything walks it, and how long its walk is.
#pragma once

#include "models/program/program.h"

#include <cstdint>

namespace tessera::program {

/// @throws ProgramError naming the step where the tree of the control program is wrong: an index
/// that nothing has, children where none belong, a condition without a value, a function that
/// calls itself, steps more than kDeepestStep levels deep.
void check_control(const Program& program);

/// Steps that a walk does, as far as it is known before the run: the body of a while counts once,
/// of an if the longer side. Of a checked program.
[[nodiscard]] std::int64_t expected_steps(const Program& program);

inline constexpr int kDeepestStep = 64;

} // namespace tessera::program
