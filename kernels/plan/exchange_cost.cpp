// SPDX-License-Identifier: MIT
#include "kernels/plan/exchange_cost.h"

#include "models/timing/exchange_latency.h"
#include "models/timing/tile_position.h"

#include <algorithm>
#include <numeric>

namespace tessera::plan {
namespace {

/// Where there is no schedule: a third of each side of a grid, a quarter of a ring or half a line.
Cycles typical_hops(const spec::MachineSpec& machine) {
    const auto& exchange = machine.exchange;
    if (exchange.fabric == spec::Fabric::Mesh) {
        return exchange.hop_cycles *
               (timing::kTilesPerRow + timing::grid_rows(machine.chip.tiles)) / 3;
    }
    if (exchange.fabric == spec::Fabric::Ring) {
        return exchange.hop_cycles * machine.chip.tiles / (2 * exchange.ring_directions);
    }
    return 0;
}

/// Senders, those of one column and sub beside each other: to one receiver their latencies differ
/// by their rows alone. Of each, its first word to the receivers so far.
class Senders {
public:
    explicit Senders(const timing::ExchangeTiming& timing) : timing_(timing) {
        const auto tiles = static_cast<std::size_t>(timing.grid().tiles());
        std::vector<TileId> order(tiles);
        std::iota(order.begin(), order.end(), TileId{0});
        const auto place = [&](TileId tile) {
            return timing.grid().position(tile).physical_id % timing::kTilesPerRow;
        };
        std::ranges::stable_sort(order, {}, place);
        number_.resize(tiles);
        for (std::size_t i = 0; i < tiles; ++i) {
            number_[order[i]] = i;
            if (i == 0 || place(order[i]) != place(order[i - 1])) {
                columns_.push_back({i, order[i]});
            }
            const TileId first = columns_.back().tile;
            further_.push_back(static_cast<std::int32_t>(timing.latency(order[i], first) -
                                                         timing.latency(first, first)));
        }
        columns_.push_back({tiles, 0});
        start_.resize(tiles);
        farthest_.resize(tiles);
    }

    /// Messages of all others to `to`, too. The sum of what the first word takes at least.
    Cycles add(TileId to) {
        const auto mux = static_cast<std::int32_t>(timing_.mux_to_pointer(to));
        const std::size_t own = number_[to];
        Cycles sum = 0;
        for (std::size_t i = 0; i + 1 < columns_.size(); ++i) {
            const auto latency = static_cast<std::int32_t>(timing_.latency(columns_[i].tile, to));
            const std::size_t begin = columns_[i].begin;
            const std::size_t end = columns_[i + 1].begin;
            if (begin <= own && own < end) {
                sum += add(begin, own, latency, mux) + add(own + 1, end, latency, mux);
            } else {
                sum += add(begin, end, latency, mux);
            }
        }
        return sum;
    }

    /// Until no mux is late, and the longest way behind it, of the sender for which that is most.
    [[nodiscard]] Cycles slowest() const { return slowest_; }

private:
    struct Column {
        std::size_t begin = 0;
        TileId tile = 0; ///< its first
    };

    Cycles add(std::size_t begin, std::size_t end, std::int32_t column, std::int32_t mux) {
        std::int32_t sum = 0;
        std::int32_t slowest = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const std::int32_t latency = column + further_[i];
            start_[i] = std::max(start_[i], mux - latency);
            farthest_[i] = std::max(farthest_[i], latency);
            slowest = std::max(slowest, start_[i] + farthest_[i]);
            sum += std::max(mux, latency);
        }
        slowest_ = std::max<Cycles>(slowest_, slowest);
        return sum;
    }

    const timing::ExchangeTiming& timing_;
    std::vector<Column> columns_;
    std::vector<std::size_t> number_;   ///< by tile: in the next
    std::vector<std::int32_t> further_; ///< than the first of its column
    std::vector<std::int32_t> start_;   ///< until no mux is late
    std::vector<std::int32_t> farthest_;
    Cycles slowest_ = 0;
};

} // namespace

ExchangeCost::ExchangeCost(const spec::MachineSpec& machine)
    : fixed_(row_overhead(machine.exchange)) {
    if (machine.exchange.fabric != spec::Fabric::Compiled) {
        to_neighbours_ = to_all_over_ = {typical_hops(machine)};
        return;
    }
    fixed_ += machine.exchange.row_tail_cycles;
    const timing::ExchangeTiming timing(machine);
    const auto tiles = static_cast<TileId>(machine.chip.tiles);
    Senders senders(timing);
    Cycles neighbours = 0;
    for (TileId to = 0; to < tiles; ++to) {
        const Cycles sum = senders.add(to);
        neighbours = std::max(neighbours, tiles == 1 ? timing.mux_to_pointer(to)
                                                     : sum / (machine.chip.tiles - 1));
        to_neighbours_.push_back(neighbours);
        to_all_over_.push_back(std::max(senders.slowest(), neighbours));
    }
}

std::size_t ExchangeCost::index(std::int64_t tiles) const {
    const auto last = static_cast<std::int64_t>(to_all_over_.size()) - 1;
    return static_cast<std::size_t>(std::clamp<std::int64_t>(tiles - 1, 0, last));
}

} // namespace tessera::plan
