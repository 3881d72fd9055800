// SPDX-License-Identifier: MIT
// From "these bytes go from here to there" to the rows of exchange instructions that do it.
// The cost of planning depends on the number of transfers and receivers, never on their bytes.
// Rules: docs/models/exchange.md. The fabric (models/exchange) checks every row again, with other
// code.
#pragma once

#include "base/units.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"
#include "models/timing/exchange_bound.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::exchange_plan {

class KnownSchedules;

/// What a plan came to, for cost models and reports.
struct ExchangeStats {
    timing::ExchangeBound bound;
    Cycles longest_row_events = 0; ///< without `row_return_cycles`
    /// Words on lanes; a multicast counts once each time that it is sent.
    std::int64_t words_sent = 0;
    std::int64_t words_received = 0;   ///< words delivered, counted at each receiver
    std::int64_t active_tiles = 0;     ///< tiles with a row
    std::int64_t wide_messages = 0;    ///< sent as 8-byte items
    std::int64_t lowered_messages = 0; ///< asked for double width, sent as 4-byte items
    Bytes row_bytes = 0;               ///< of all rows
    Bytes longest_row_bytes = 0;
};

struct PlannedExchange {
    program::Exchange exchange;
    ExchangeStats stats;
};

/// Rows for all active tiles, addresses left 0; none where `machine.exchange.fabric` is not the
/// compiled one. The caller places each row in region 0 on an 8-byte
/// boundary, outside the elements of region-0 data that moves meanwhile. Transfers may be
/// reordered: several orders, the one given among them, are tried and the one with the shortest
/// longest row is kept. `paired` transfers that cannot be wide, or would make the exchange longer,
/// are sent as 4-byte items. What `known` has is not scheduled anew, and what it has not is told to it; rows are the
/// same either way.
/// Throws ProgramError, naming the transfer, for: bytes that are no positive multiple of 4, a
/// misaligned address, an address outside memory, a tile outside the chip, a tile that is its own
/// receiver, no or repeated receivers, two receives of one word, a word sent from where the same
/// exchange receives.
[[nodiscard]] PlannedExchange plan_exchange_with_stats(const spec::MachineSpec& machine,
                                                       std::string name,
                                                       std::vector<program::Transfer> transfers,
                                                       KnownSchedules* known = nullptr);

[[nodiscard]] program::Exchange plan_exchange(const spec::MachineSpec& machine, std::string name,
                                              std::vector<program::Transfer> transfers);

} // namespace tessera::exchange_plan
