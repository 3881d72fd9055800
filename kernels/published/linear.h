// SPDX-License-Identifier: MIT
// Elements that lie linearly over tiles from `start` on, as spread_piece() cuts them: on as few tiles
// as the largest share allows, in whole grains, as evenly as possible. Each tile has at least `least`
// grains, if there are as many.
#pragma once

#include "base/range.h"
#include "base/units.h"
#include "kernels/published/dense_planner.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::published {

class Linear {
public:
    Linear(std::int64_t elements, std::int64_t grain, std::int64_t tiles, std::int64_t least = 1,
           std::int64_t start = 0)
        : tiles_(tiles), start_(start),
          spans_(spread_piece(elements, tiles, grain, least * grain)) {}

    [[nodiscard]] std::int64_t used() const { return std::ssize(spans_); }
    [[nodiscard]] TileId tile(std::int64_t number) const {
        return static_cast<TileId>((start_ + number) % tiles_);
    }
    [[nodiscard]] const Range& span(std::int64_t number) const {
        return spans_[static_cast<std::size_t>(number)];
    }
    /// Calls `take(tile, run, elements of the tile before the run)` for what each tile has of `run`.
    template <class Take> void cut(Range run, const Take& take) const {
        const auto behind = std::ranges::upper_bound(spans_, run.first, {}, &Range::first);
        for (std::int64_t at = behind - spans_.begin() - 1; run.first < run.last; ++at) {
            const Range& here = span(at);
            const Range piece{run.first, std::min(run.last, here.last)};
            take(tile(at), piece, piece.first - here.first);
            run.first = piece.last;
        }
    }

private:
    std::int64_t tiles_;
    std::int64_t start_;
    std::vector<Range> spans_;
};

} // namespace tessera::published
