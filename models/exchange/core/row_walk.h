// SPDX-License-Identifier: MIT
// One tile's exchange row, event by event but on runs: what it sends and when, when it turns its
// mux, its pointer and its item format, and which memory elements its own fetch holds.
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"
#include "models/timing/exchange_latency.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::exchange {

/// An event of a row. Exchanges of many tiles have millions of runs, so theirs are kept short.
using Event = std::int32_t;

/// Items on the outgoing lane at consecutive events, from consecutive addresses: as many an event
/// as the lane is wide, the last event takes what is left.
struct SendRun {
    Event first_event = 0;
    std::int32_t items = 0;
    Address address = 0;
    unsigned ctl = 0;

    [[nodiscard]] bool wide() const { return (ctl & 4U) != 0; }
    [[nodiscard]] Bytes item_bytes() const { return wide() ? 8 : 4; }
    [[nodiscard]] Cycles last_event(const timing::LaneTiming& lane) const {
        return Cycles{first_event} + lane.events(items) - 1;
    }
};

/// An XPIC: the (paired) mux stands on physical id `source` from `event` on.
struct MuxChange {
    Event event = 0;
    bool paired = false;
    std::uint32_t source = 0;
};

/// A PIC: the pointer (in words) or the item format from `event` on.
struct PointerChange {
    Event event = 0;
    bool format = false;
    std::uint32_t value = 0;
};

/// Region-0 element that the row's fetch window touches during these events.
struct FetchSpan {
    std::int64_t element = 0;
    Cycles first_event = 0;
    Cycles last_event = 0;
};

/// Everything that one row does. All lists ascend in events.
struct RowWalk {
    TileId tile = 0;
    Address address = 0;
    Bytes bytes = 0;
    Cycles events = 0; ///< without the final branch
    std::vector<SendRun> sends;
    std::vector<MuxChange> muxes;
    std::vector<PointerChange> pointers;
    std::vector<FetchSpan> fetches;
};

/// Walks `words`, which stand at `address`. Throws ProgramError, naming tile, event and
/// instruction, where a row breaks a rule that concerns this tile alone: bad word, count above the
/// machine's limit, more events than `Event` holds, continuation without a message, SendPicp off
/// its 8-byte boundary, send from outside memory, two controls of a wide receive in one event, no
/// final branch, row outside region 0.
[[nodiscard]] RowWalk walk_row(const spec::MachineSpec& machine, const std::string& exchange,
                               TileId tile, Address address, std::span<const std::uint32_t> words);

} // namespace tessera::exchange
