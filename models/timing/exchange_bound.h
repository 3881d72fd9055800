// SPDX-License-Identifier: MIT
// What an exchange asks for, whatever its schedule: its messages, which of them can have double
// width, and the least cycles that they take. Planner and reports share it.
// Source: docs/models/exchange.md#the-bound
#pragma once

#include "base/units.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <span>
#include <vector>

namespace tessera::timing {

/// Lower bound on the longest row: no tile can take or give more than a lane's width an event, and
/// two messages never share one.
struct ExchangeBound {
    Cycles events_in = 0; ///< most events in which one tile receives
    Cycles events_out =
        0; ///< most events that one lane is taken, or the lanes of a pair in the mean

    [[nodiscard]] Cycles cycles() const { return events_in > events_out ? events_in : events_out; }
};

/// One or several transfers in sequence that together are one message.
struct TransferRun {
    std::size_t first = 0; ///< index of the first of them
    Bytes bytes = 0;       ///< of all of them
    bool wide = false;     ///< asks for double width and may have it
};

/// Whether a message of `bytes` bytes to the receivers of `transfer` can have double width:
/// machine.exchange.pairs(), an even number of words, at least pair_min_items items, 8-byte
/// alignment at both ends, complete pairs with one address, neither the sender nor its partner
/// among the receivers, and controls that do not meet each other. Whether the partner's lane can be
/// borrowed depends on the rest of the exchange.
[[nodiscard]] bool pairable(const spec::MachineSpec& machine, const program::Transfer& transfer,
                            Bytes bytes);

/// Transfers that continue each other at both ends, joined.
[[nodiscard]] std::vector<TransferRun> transfer_runs(const spec::MachineSpec& machine,
                                                     std::span<const program::Transfer> transfers);

/// The bound, whether pairable runs that ask for double width get it or not: at double width a run takes half the events
/// on the two lanes of a pair. Tiles are on the chip.
[[nodiscard]] ExchangeBound exchange_bound(const spec::MachineSpec& machine,
                                           std::span<const program::Transfer> transfers,
                                           std::span<const TransferRun> runs);
[[nodiscard]] ExchangeBound exchange_bound(const spec::MachineSpec& machine,
                                           std::span<const program::Transfer> transfers);

} // namespace tessera::timing
