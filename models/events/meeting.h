// SPDX-License-Identifier: MIT
// What a tile comes to where it has to do with others.
#pragma once

#include "base/units.h"
#include "models/program/program.h"

#include <cstdint>

namespace tessera::events {

/// What tiles meet at a barrier for.
struct Meeting {
    enum class Purpose { Sync, Exchange, Link, Value, End };
    Purpose purpose = Purpose::Sync;
    std::int64_t step = 0; ///< number of the step in order of execution, from 1
    program::SyncZone zone = {};
    std::uint32_t exchange = 0;    ///< Exchange: which; Link: which link exchange
    program::TileValue value = {}; ///< Value: what all tiles are told

    friend bool operator==(const Meeting& left, const Meeting& right) {
        return left.purpose == right.purpose && left.step == right.step &&
               left.zone == right.zone && left.exchange == right.exchange &&
               left.value.tile == right.value.tile && left.value.address == right.value.address;
    }
};

/// A tile's call for a stream copy.
struct Call {
    std::uint32_t copy = 0;
    std::int64_t row = 0;
    std::int64_t step = 0;
    bool background = false;
};

} // namespace tessera::events
