// SPDX-License-Identifier: MIT
// What measured cycles have over simulated ones, and how much of that goes with the words that a
// run moves and with its steps. It is told and never added to anything.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tessera::sim::calibrate {

/// One run beside what was measured.
struct Gap {
    double measured_cycles = 0;
    double simulated_cycles = 0;
    double words = 0; ///< received by a tile, mean
    double steps = 0;
};

/// measured - simulated ~ cycles_per_word * words + cycles_per_step * steps
struct GapFit {
    double cycles_per_word = 0;
    double cycles_per_step = 0;
    double explained = 0; ///< share of the gaps' sum of squares that the fit takes away
};

struct Unexplained {
    std::size_t rows = 0;
    double cycles = 0;         ///< sum of measured - simulated
    double share = 0;          ///< of the measured cycles' sum
    std::optional<GapFit> fit; ///< nothing where the rows do not tell words and steps apart
};

/// Least squares over the rows, each with the weight of its cycles.
[[nodiscard]] Unexplained unexplained(const std::vector<Gap>& gaps);

} // namespace tessera::sim::calibrate
