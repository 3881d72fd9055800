// SPDX-License-Identifier: MIT
// Exchange rows in memory. A row that its tile has already, for an exchange before, stands once.
#pragma once

#include "base/units.h"
#include "models/program/program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::lower {

struct RowHomes {
    /// By exchange and row: the exchange at whose address the row stands, itself or one before.
    std::vector<std::vector<std::uint32_t>> of_row;
    std::vector<Bytes> bytes; ///< by exchange: of the longest row that stands at its address
};

[[nodiscard]] RowHomes find_row_homes(std::span<const program::Exchange> exchanges);

} // namespace tessera::lower
