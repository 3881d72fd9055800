// SPDX-License-Identifier: MIT
// Exchange rows in memory. A row that its tile has already, for an exchange before, stands once.
// Rows stand from the start on; those that are needed for the last time in the same step stand
// behind each other, and go together.
#pragma once

#include "base/units.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::lower {

/// What the rows that stand at an exchange's own address take.
struct RowRoom {
    Bytes bytes = 0;        ///< of the longest
    std::uint32_t last = 0; ///< step in which one of them may run last, as lifetimes count steps
};

struct RowHomes {
    /// By exchange and row: the exchange at whose address the row stands, itself or one before.
    std::vector<std::vector<std::uint32_t>> of_row;
    std::vector<RowRoom> rooms; ///< by exchange
};

/// `last`: by exchange, the step in which it may run last.
[[nodiscard]] RowHomes find_row_homes(std::span<const program::Exchange> exchanges,
                                      std::span<const std::uint32_t> last);

/// Rows that go together.
struct RowBlock {
    Bytes bytes = 0; ///< with what is fetched ahead of the last one's end
    std::uint32_t last = 0;
};

/// Blocks, those that stay longest first, and where in them each exchange's rows stand.
struct RowBlocks {
    struct Place {
        std::uint32_t block = 0;
        Bytes offset = 0;
    };
    std::vector<RowBlock> blocks;
    std::vector<Place> of_exchange;
};

[[nodiscard]] RowBlocks lay_out_rows(const spec::MachineSpec& machine,
                                     std::span<const RowRoom> rooms);

/// Do `needed` stand where there is room for `kept`?
[[nodiscard]] bool have_room(std::span<const RowRoom> needed, std::span<const RowRoom> kept);

} // namespace tessera::lower
