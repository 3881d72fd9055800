// SPDX-License-Identifier: MIT
// The exchange fabrics, without SystemC. In: a machine and one exchange. Out: which bytes go where,
// and how long each tile is at it.
//
//   exchange.fabric  compiled  executes the rows and checks them (the machine's own)
//                    bound     the busiest lane and nothing else           what-if
//                    mesh      2D mesh of tiles, links are waited for      what-if, network.h
//                    ring      ring of tiles, likewise                     what-if, network.h
//
// The compiled one: every row runs on its own count from its
// release by the sync; a word sent at event e is selected at e + T and written at e + L.
// Knows nothing of the planner: what arrives follows from the rows alone and is then compared with
// the planned transfers. Not modelled: host side sources, sendoff deltas, down-counts, release skew
// between grid rows. Source: docs/models/exchange.md.
#pragma once

#include "base/for_each.h"
#include "base/units.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tessera::exchange {

/// Fills `words` from tile memory at `address`. May be called on several threads.
using RowReader = std::function<void(TileId tile, Address address, std::span<std::uint32_t> words)>;

/// Bytes that go from one tile's memory to another's. All runs of an exchange read before any
/// writes: no tile receives into what it sends.
struct CopyRun {
    TileId source_tile = 0;
    Address source_address = 0;
    TileId destination_tile = 0;
    Address destination_address = 0;
    Bytes bytes = 0;

    friend bool operator==(const CopyRun&, const CopyRun&) = default;
};

struct FabricOutcome {
    std::vector<CopyRun> copies;    ///< ascending destination tile, then destination address
    Cycles prologue_cycles = 0;     ///< of every active tile, before its row
    std::vector<TileId> tiles;      ///< active ones, ascending
    std::vector<Cycles> row_cycles; ///< one entry an active tile: a row's events +
                                    ///< row_return_cycles; without rows until its last word
    std::vector<Cycles> lane_in;    ///< likewise: the tile's entries of Demand
    std::vector<Cycles> lane_out;
    std::int64_t words_sent = 0;     ///< 4-byte words on lanes; a wide item is two
    std::int64_t words_received = 0; ///< 4-byte words delivered, counted at each receiver
    Bytes bytes = 0;                 ///< delivered: 4 * words_received
    Cycles bound_cycles = 0;         ///< Demand::bound

    /// From the release of the sync to the end of the slowest tile; 0 where nobody is active.
    [[nodiscard]] Cycles phase_cycles() const;
};

/// Runs `exchange` on the fabric that `machine.exchange.fabric` names; `read_row` as below, not
/// called without rows to execute. @throws ProgramError for an exchange that is not legal there.
[[nodiscard]] FabricOutcome run_exchange(const spec::MachineSpec& machine,
                                         const program::Exchange& exchange,
                                         const RowReader& read_row,
                                         const ForEach& for_each = one_after_another);

/// Of a phase in which `from` sends one word to all other tiles, as for a decision of the control
/// program.
[[nodiscard]] Cycles broadcast_cycles(const spec::MachineSpec& machine, TileId from);

/// The compiled fabric. Executes `exchange`, whose rows `read_row` reads from tile memory
/// (rows[i].words.size() words at rows[i].address). Depends only on the machine, the exchange and
/// the row words, so a caller may keep the outcome for as long as those stay. Throws ProgramError,
/// naming tiles, event and reason, for every broken rule of docs/models/exchange.md#legality, also
/// when a tile receives into words that it sends in the same exchange: no order of the two is
/// accepted, even one that would be unambiguous.
[[nodiscard]] FabricOutcome execute_rows(const spec::MachineSpec& machine,
                                         const program::Exchange& exchange,
                                         const RowReader& read_row,
                                         const ForEach& for_each = one_after_another);

} // namespace tessera::exchange
