// SPDX-License-Identifier: MIT
// From arrivals to memory: where the pointer puts them, and what the tile's memory allows
// meanwhile.
#pragma once

#include "models/exchange/core/arrival.h"

#include <vector>

namespace tessera::exchange {

/// Items written to consecutive addresses at consecutive events.
struct Landing {
    Arrival arrival;
    Address address = 0;
};

/// Where one tile's arrivals are written, in event order. Checks format, pointer and row end.
[[nodiscard]] std::vector<Landing> find_landings(const Phase& phase, const RowWalk& walk,
                                                 const std::vector<Arrival>& arrivals);

/// Rules of 64-bit senders: partner's lane, partner's row, nobody of the pair receiving meanwhile.
void check_wide_senders(const Phase& phase, const std::vector<std::vector<Arrival>>& arrivals);

/// One element serves one access an event: row fetch, send read, receive write. Also: nothing is
/// received into the row itself or into words that the tile sends.
void check_memory(const Phase& phase, const RowWalk& walk, const std::vector<Landing>& landings);

} // namespace tessera::exchange
