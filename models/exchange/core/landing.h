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

/// Rules of 64-bit senders: partner's lane, partner's row. (That nobody of the pair is among the
/// receivers is the receivers' rule.)
void check_wide_senders(const Phase& phase);

/// One element serves one access an event: row fetch, send read, receive write.
void check_elements(const Phase& phase, const RowWalk& walk, const std::vector<Landing>& landings);

void sort_by_address(std::vector<Landing>& landings);

/// Nothing is received into the row itself, into words that the tile sends or into one word twice.
/// Landings ascend in addresses.
void check_overlap(const Phase& phase, const RowWalk& walk, const std::vector<Landing>& landings);

} // namespace tessera::exchange
