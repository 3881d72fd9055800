// SPDX-License-Identifier: MIT
// Wakes tiles when they come to where they are going: one event of SystemC's for all tiles that get
// there in one cycle.
//
//   wake_at(tile, cycle) --cycle--> wake
//
// Ports: is the tiles' Alarm; tiles, by number.
// Timing: exactly the cycle. Of several in one cycle the lowest number first, or, shuffled, in an
//   order that follows from the seed: nothing may depend on it.
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
    /// Files what was asked for since the last time.
    void on_asked();

    std::vector<std::uint64_t> asked_; ///< cycle, then tile in the low bits
    std::vector<std::uint64_t> due_;   ///< ascending from next_
    std::size_t next_ = 0;
    std::vector<TileId> now_;
    std::optional<std::uint64_t> shuffle_;
    sc_core::sc_event ev_asked_;
    sc_core::sc_event ev_due_;
};

} // namespace tessera::tile
