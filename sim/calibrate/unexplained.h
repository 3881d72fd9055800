// SPDX-License-Identifier: MIT
// Sums measured minus simulated cycles, and fits this gap to the words that a run moves and to its
// steps. The fit is reported and corrects no cycle count.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tessera::calibrate {

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
    double explained = 0; ///< share of the gaps' sum of squares that the fit removes
};

struct Unexplained {
    std::size_t rows = 0;
    double cycles = 0;         ///< sum of measured - simulated
    double share = 0;          ///< of the measured cycles' sum
    std::optional<GapFit> fit; ///< nothing if the rows cannot separate the two
};

/// Least squares over the rows' gaps in cycles, so that long runs weigh most.
[[nodiscard]] Unexplained unexplained(const std::vector<Gap>& gaps);

} // namespace tessera::calibrate
