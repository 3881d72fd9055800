// SPDX-License-Identifier: MIT
#include "kernels/workload/pattern.h"

#include "base/error.h"
#include "kernels/workload/random.h"

#include <algorithm>
#include <cmath>

namespace tessera::workload {
namespace {

constexpr std::uint64_t kPatternStream = 0x7061747465726eU;

/// The first `wanted` distinct values of a random sequence over 0 .. population-1, ascending.
/// Drawing only as many as are missing never overshoots, so no choice among the drawn is needed and
/// the set is uniform. wanted <= population / 2, so each round at least halves what is missing, on
/// average.
std::vector<std::int64_t> distinct_draws(std::int64_t population, std::int64_t wanted,
                                         std::uint64_t seed) {
    const CounterRandom random(seed, kPatternStream);
    std::vector<std::int64_t> chosen;
    chosen.reserve(static_cast<std::size_t>(wanted));
    std::uint64_t drawn = 0;
    while (static_cast<std::int64_t>(chosen.size()) < wanted) {
        const auto sorted_part = static_cast<std::ptrdiff_t>(chosen.size());
        for (std::int64_t missing = wanted - sorted_part; missing > 0; --missing) {
            chosen.push_back(static_cast<std::int64_t>(
                random.below(static_cast<std::uint64_t>(population), drawn)));
            ++drawn;
        }
        std::sort(chosen.begin() + sorted_part, chosen.end());
        std::inplace_merge(chosen.begin(), chosen.begin() + sorted_part, chosen.end());
        chosen.erase(std::unique(chosen.begin(), chosen.end()), chosen.end());
    }
    return chosen;
}

/// Block (r, c) has its centre at ((r + 1/2) / rows, (c + 1/2) / columns) of the unit square.
/// Distances are those along the row, times 2 * rows * columns: whole numbers.
class Band {
public:
    explicit Band(BlockGrid grid) : grid_(grid) {}

    [[nodiscard]] std::int64_t distance(std::int64_t row, std::int64_t column) const {
        return std::abs((2 * row + 1) * grid_.columns - (2 * column + 1) * grid_.rows);
    }

    struct Run {
        std::int64_t first = 0;
        std::int64_t end = 0;
    };

    /// The columns of a row whose distance is at most `width`.
    [[nodiscard]] Run run(std::int64_t row, std::int64_t width) const {
        const std::int64_t centre = (2 * row + 1) * grid_.columns;
        const std::int64_t step = 2 * grid_.rows;
        // (2 column + 1) rows >= centre - width, rounded up; and <= centre + width, rounded down.
        const std::int64_t low = centre - width - grid_.rows;
        const std::int64_t high = centre + width - grid_.rows;
        const std::int64_t first = low <= 0 ? 0 : (low + step - 1) / step;
        const std::int64_t end = high < 0 ? 0 : high / step + 1;
        return {std::min(first, grid_.columns), std::min(std::max(first, end), grid_.columns)};
    }

    [[nodiscard]] std::int64_t blocks_within(std::int64_t width) const {
        std::int64_t total = 0;
        for (std::int64_t row = 0; row < grid_.rows; ++row) {
            const Run kept = run(row, width);
            total += kept.end - kept.first;
        }
        return total;
    }

    [[nodiscard]] std::int64_t largest_distance() const { return 2 * grid_.rows * grid_.columns; }

private:
    BlockGrid grid_;
};

} // namespace

std::int64_t kept_blocks(BlockGrid grid, double density) {
    TESSERA_ASSERT(density >= 0.0 && density <= 1.0);
    const std::int64_t all = grid.rows * grid.columns;
    return std::min<std::int64_t>(std::llround(density * static_cast<double>(all)), all);
}

std::vector<std::int64_t> uniform_blocks(BlockGrid grid, std::int64_t kept, std::uint64_t seed) {
    const std::int64_t all = grid.rows * grid.columns;
    TESSERA_ASSERT(kept >= 0 && kept <= all);
    if (kept <= all / 2) {
        return distinct_draws(all, kept, seed);
    }
    // A nearly full grid: choose what to leave out.
    const std::vector<std::int64_t> left_out = distinct_draws(all, all - kept, seed);
    std::vector<std::int64_t> blocks;
    blocks.reserve(static_cast<std::size_t>(kept));
    auto next_out = left_out.begin();
    for (std::int64_t block = 0; block < all; ++block) {
        if (next_out != left_out.end() && *next_out == block) {
            ++next_out;
        } else {
            blocks.push_back(block);
        }
    }
    return blocks;
}

std::vector<std::int64_t> banded_blocks(BlockGrid grid, std::int64_t kept) {
    const Band band(grid);
    TESSERA_ASSERT(kept >= 0 && kept <= grid.rows * grid.columns);
    // The narrowest band that holds `kept` blocks; the ring at exactly its width may be kept in
    // part.
    std::int64_t too_narrow = -1;
    std::int64_t width = band.largest_distance();
    while (width - too_narrow > 1) {
        const std::int64_t middle = too_narrow + (width - too_narrow) / 2;
        (band.blocks_within(middle) >= kept ? width : too_narrow) = middle;
    }
    std::int64_t from_ring = kept - (width > 0 ? band.blocks_within(width - 1) : 0);
    std::vector<std::int64_t> blocks;
    blocks.reserve(static_cast<std::size_t>(kept));
    for (std::int64_t row = 0; row < grid.rows; ++row) {
        const Band::Run run = band.run(row, width);
        for (std::int64_t column = run.first; column < run.end; ++column) {
            if (band.distance(row, column) == width && from_ring-- <= 0) {
                continue;
            }
            blocks.push_back(row * grid.columns + column);
        }
    }
    return blocks;
}

} // namespace tessera::workload
