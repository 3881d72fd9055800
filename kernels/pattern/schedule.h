// SPDX-License-Identifier: MIT
// How a sparse pattern changes while its values are trained: some of the kept blocks are pruned, and
// as many other blocks are kept instead.
//
//   { "prune": "magnitude", "regrow": "random", "fraction": 0.5, "decay": "cosine",
//     "patterns": 160, "seed": 1 }
//
// A sequence has T = `patterns` patterns, and the first one is given. Change t = 0 .. T - 2 makes
// pattern t + 1 from pattern t. It moves round(p k) of k kept blocks, halves up, where
//   p = fraction (1 + cos(pi t / T)) / 2; without decay p = fraction.
// The norm of a block is the sum of the magnitudes of its elements.
// Source: pruning by magnitude and regrowing at random as in SET (D. C. Mocanu et al., "Scalable
// training of artificial neural networks with adaptive sparse connectivity inspired by network
// science", 2018) and arXiv 2108.06277, which has blocks; regrowing by gradient and the decay as in
// RigL (U. Evci et al., "Rigging the Lottery: Making All Tickets Winners", 2020).
#pragma once

#include "base/float16.h"
#include "kernels/workload/operands.h"
#include "kernels/workload/schedule.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tessera::pattern {

using workload::Schedule;

/// The share of the kept blocks that change `change` moves.
[[nodiscard]] double share_of(const Schedule& schedule, std::int64_t change);

/// What is known of the values. Where the schedule goes by something that is not known, as in timing
/// mode, blocks are drawn instead.
struct BlockNorms {
    std::optional<std::span<const double>> kept;      ///< of the pattern's blocks, in their order
    std::optional<std::span<const double>> gradients; ///< of all blocks of the grid, row-major
};

struct PatternChange {
    workload::SparsePattern pattern;
    /// Of each block of `pattern` its number in the pattern before; -1: it came.
    std::vector<std::int64_t> from;
    /// Blocks as block row * block columns + block column, ascending.
    std::vector<std::int64_t> went;
    std::vector<std::int64_t> came;
    bool is_drawn_instead = false; ///< something that the schedule goes by was not known
};

/// Change `change` of a sequence, a function of its arguments alone. Of blocks of equal norms the
/// last ones go and the first ones come; a norm that is NaN is less than all others. What comes at
/// random is not what has just gone, unless there is nothing else. What comes by gradient may have
/// just gone, and is then in `went` and in `came`.
[[nodiscard]] PatternChange next_pattern(const workload::SparsePattern& now,
                                         const BlockNorms& norms, const Schedule& schedule,
                                         std::int64_t change);

/// A value as a number; binary16 is given by its bits.
[[nodiscard]] inline double number_of(double value) {
    return value;
}
[[nodiscard]] inline double number_of(std::uint16_t bits) {
    return f16_to_f32(bits);
}

/// The norms of blocks of block x block values each.
template <class Element>
[[nodiscard]] std::vector<double> block_norms(const std::vector<Element>& values,
                                              std::int64_t block) {
    const auto width = static_cast<std::size_t>(block * block);
    std::vector<double> norms(values.size() / width);
    for (std::size_t i = 0; i < norms.size() * width; ++i) {
        norms[i / width] += std::fabs(number_of(values[i]));
    }
    return norms;
}

/// Values of the pattern before, weights or state of an optimiser, as the new pattern has them. Those
/// of blocks that came are zero.
template <class Element>
[[nodiscard]] std::vector<Element> moved_values(const PatternChange& change,
                                                const std::vector<Element>& values) {
    const std::int64_t width = change.pattern.block * change.pattern.block;
    std::vector<Element> moved(static_cast<std::size_t>(change.pattern.stored_elements()));
    auto to = moved.begin();
    for (const std::int64_t number : change.from) {
        if (number >= 0) {
            std::copy_n(values.begin() + number * width, width, to);
        }
        to += width;
    }
    return moved;
}

} // namespace tessera::pattern
