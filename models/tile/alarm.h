// SPDX-License-Identifier: MIT
// Wakes tiles in the cycles that they ask for. All tiles that wake in the same cycle share one
// SystemC event.
//
//   wake_at(tile, cycle) --cycle--> wake
//
// Ports: implements ports::Alarm, which tiles call. `tiles` binds one Sleeper for each tile, by
//   number.
// Timing: a tile wakes exactly in its cycle. Tiles of one cycle wake in ascending order. After
//   shuffle(), they wake in an order that follows from the seed. No result may depend on the order.
#pragma once

#include "models/ports/ports.h"

#include <systemc>

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::tile {

class Alarm : public sc_core::sc_module, public ports::Alarm {
public:
    sc_core::sc_port<ports::Sleeper, 0> tiles;

    explicit Alarm(const sc_core::sc_module_name& name);
    void shuffle(std::uint64_t seed) { shuffle_ = seed; }

    void wake_at(TileId tile, Cycles cycle) override;

private:
    static constexpr unsigned kTileBits = 20;
    void on_due();
    /// Merges the requests since its last call into due_.
    void on_asked();

    std::vector<std::uint64_t> asked_; ///< requests: the cycle, with the tile in the low bits
    std::vector<std::uint64_t> due_; ///< requests as in asked_, sorted; those before next_ are done
    std::size_t next_ = 0;
    std::vector<TileId> now_;
    std::optional<std::uint64_t> shuffle_;
    sc_core::sc_event ev_asked_;
    sc_core::sc_event ev_due_;
};

} // namespace tessera::tile
