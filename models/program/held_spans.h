// SPDX-License-Identifier: MIT
// How much of its history a run holds at once: what tiles did is held from one barrier to the next,
// so a loop without barriers holds all of its rounds.
#pragma once

#include "models/program/program.h"

#include <limits>

namespace tessera::program {

/// The most spans, over all `tiles`, between two barriers: one of each tile for each round of a
/// repeat, one of each tile that takes part for each compute set. Of a program that has passed
/// check_control(). `most_rounds`: so many rounds of a repeat without barriers are held, the others
/// counted.
[[nodiscard]] double most_held_spans(const Program& program, std::int64_t tiles,
                                     double most_rounds = std::numeric_limits<double>::infinity());

/// Rounds that timing mode holds of a repeat of which each round does the same.
inline constexpr double kRoundsInTimingMode = 4;

/// What the host keeps of one, with room for more.
inline constexpr double kHeldSpanBytes = 160;

} // namespace tessera::program
