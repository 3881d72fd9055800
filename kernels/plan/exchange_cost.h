// SPDX-License-Identifier: MIT
// What an exchange costs beside the words of its busiest tile, on each fabric: exactly what is the
// same for all, and an estimate of the way for those who choose before they plan.
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <vector>

namespace tessera::plan {

/// Around the longest row, or what stands for it: its call and its return.
[[nodiscard]] inline Cycles row_overhead(const spec::ExchangeSpec& exchange) {
    switch (exchange.fabric) {
    case spec::Fabric::Compiled:
        return exchange.prologue_cycles + exchange.row_return_cycles;
    case spec::Fabric::Mesh:
    case spec::Fabric::Ring:
        return exchange.prologue_cycles;
    case spec::Fabric::Bound:
        break;
    }
    return 0;
}

/// That and the way of the words, from the fabric's latencies. A row begins with what it can have
/// first and stays alive behind its last word.
class ExchangeCost {
public:
    /// Looks at all pairs of tiles once.
    explicit ExchangeCost(const spec::MachineSpec& machine);

    /// Messages to single tiles, or to neighbours, of the first `tiles` tiles: near senders come
    /// first, so it is the mean sender's way to the tile that is farthest from all.
    [[nodiscard]] Cycles to_neighbours(std::int64_t tiles) const {
        return fixed_ + to_neighbours_[index(tiles)];
    }
    /// Messages to tiles all over the first `tiles`: a word leaves when the last of the muxes can
    /// be set, and the sender from which that and the longest way take most decides.
    [[nodiscard]] Cycles to_all_over(std::int64_t tiles) const {
        return fixed_ + to_all_over_[index(tiles)];
    }

private:
    [[nodiscard]] std::size_t index(std::int64_t tiles) const;

    Cycles fixed_ = 0;
    std::vector<Cycles> to_neighbours_; ///< by the number of tiles, less one
    std::vector<Cycles> to_all_over_;
};

} // namespace tessera::plan
