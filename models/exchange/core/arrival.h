// SPDX-License-Identifier: MIT
// From rows to arrivals: which words each mux lets through, and when they meet the pointer.
#pragma once

#include "base/error.h"
#include "base/units.h"
#include "models/exchange/core/row_walk.h"
#include "models/spec/machine_spec.h"
#include "models/timing/exchange_latency.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::exchange {

/// Items that meet one tile's pointer at consecutive events.
struct Arrival {
    Cycles first_event = 0;
    Cycles events = 0;
    std::int64_t items = 0; ///< as many an event as the lane is wide, what is left in the last
    TileId source = 0;
    Address source_address = 0;
    unsigned format = 0; ///< 0: 32-bit; 1 or 2: 64-bit items from that direction

    [[nodiscard]] Bytes item_bytes() const { return format != 0 ? 8 : 4; }
    [[nodiscard]] Bytes bytes() const { return items * item_bytes(); }
    [[nodiscard]] Cycles last_event() const { return first_event + events - 1; }
};

/// A stretch [begin, end) of one mux on one source.
struct Stretch {
    TileId tile = 0;
    bool paired = false;
    std::uint32_t value = 0; ///< as written: a physical id
    Cycles begin = 0;
    Cycles end = 0;
};

/// The rows of one exchange as the fabric sees them.
class Phase {
public:
    Phase(const spec::MachineSpec& machine, const std::string& name, std::vector<RowWalk> walks);

    [[nodiscard]] const spec::MachineSpec& machine() const { return machine_; }
    [[nodiscard]] const timing::ExchangeTiming& timing() const { return timing_; }
    [[nodiscard]] const timing::LaneTiming& lane() const { return timing_.lane(); }
    [[nodiscard]] const std::vector<RowWalk>& walks() const { return walks_; }
    /// The tile's row, or null where it has none or is outside the chip.
    [[nodiscard]] const RowWalk* walk_of(TileId tile) const;
    [[nodiscard]] std::size_t tiles() const { return walk_of_tile_.size(); }

    [[noreturn]] void fail(TileId tile, Cycles event, const std::string& what) const;
    [[noreturn]] void not_modelled(TileId tile, Cycles event, const std::string& what) const;

private:
    const spec::MachineSpec& machine_;
    const std::string& name_;
    timing::ExchangeTiming timing_;
    std::vector<RowWalk> walks_;
    std::vector<std::int64_t> walk_of_tile_;
};

/// What the two tiles of one pair receive, ascending in events and disjoint.
class PairArrivals {
public:
    explicit PairArrivals(TileId pair_bit) : pair_bit_(pair_bit) {}

    /// The muxes of a pair, whose first member is the tile `pair`. Checks them: every stretch
    /// is filled by words of its source, all muxes end neutral, a pair is 32-bit or 64-bit between
    /// neutrals.
    void find(const Phase& phase, TileId pair);

    [[nodiscard]] const std::vector<Arrival>& of(TileId tile) const {
        return arrivals_[member(tile)];
    }

private:
    void receive_plain(const Phase& phase, const RowWalk& walk);
    void receive_wide(const Phase& phase, TileId pair);
    void receive_wide(const Phase& phase, const Stretch& stretch);

    [[nodiscard]] std::size_t member(TileId tile) const { return (tile & pair_bit_) != 0 ? 1 : 0; }

    TileId pair_bit_;
    std::array<std::vector<Arrival>, 2> arrivals_;
    std::vector<Stretch> stretches_; ///< scratch
    std::size_t near_ = 0;           ///< where the last sender's runs were entered
};

} // namespace tessera::exchange
