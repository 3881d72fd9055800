// SPDX-License-Identifier: MIT
// When each message of an exchange is sent: the timelines of all tiles, on runs of items.
// Rules: docs/models/exchange.md#legality. All events are on the tile's own count.
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"
#include "models/timing/exchange_latency.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tessera::plan {

/// One tile that takes a message. In a wide message both members of a pair are listed; both carry
/// the mux offset of the early member, the one with the smaller offset, which alone sets a mux.
struct Receiver {
    TileId tile = 0;
    Cycles mux_offset = 0;
    Address address = 0;
    unsigned direction = 0; ///< of the bus; the format value of a wide message
    bool late = false;
};

/// `items` items of `item_bytes` (4, or 8 where wide) from one tile to all its receivers at once.
struct Message {
    TileId source = 0;
    Address address = 0;
    std::int64_t items = 0;
    unsigned ctl = 0;
    bool wide = false;
    std::span<const Receiver> receivers;

    [[nodiscard]] Bytes item_bytes() const { return wide ? 8 : 4; }
};

/// A placed message on its sender's lane: events start+1 .. start+items.
struct SendRun {
    Cycles start = 0;
    std::int64_t items = 0;
    Address address = 0;
    unsigned ctl = 0;
    bool wide = false;

    [[nodiscard]] Cycles end() const { return start + items; }
    [[nodiscard]] Bytes item_bytes() const { return wide ? 8 : 4; }
};

/// A placed message at one receiver: its mux stands on the source from `mux_first` to `mux_end`
/// - 1.
struct ReceiveRun {
    Cycles mux_first = 0;
    std::int64_t items = 0;
    TileId source = 0;
    Address address = 0;
    unsigned wide_direction = 0; ///< 0: 32-bit items
    bool late = false;

    [[nodiscard]] bool wide() const { return wide_direction != 0; }
    [[nodiscard]] Cycles mux_end() const { return mux_first + items; }
    [[nodiscard]] Bytes item_bytes() const { return wide() ? 8 : 4; }
    [[nodiscard]] Bytes bytes() const { return items * item_bytes(); }
};

/// What one tile does in the phase.
struct TileTimeline {
    Cycles mux_to_pointer = 0;
    Cycles lane_free_from = 0;        ///< last event at which the partner borrows this tile's lane
    std::vector<SendRun> sends;       ///< ascending, disjoint
    std::vector<ReceiveRun> receives; ///< ascending, disjoint

    /// Event at which the run's first item meets the pointer. A wide item is complete when the late
    /// member's half is, one event after the early member's mux.
    [[nodiscard]] Cycles arrival(const ReceiveRun& run) const {
        return run.mux_first + (run.wide() ? 1 : 0) + mux_to_pointer;
    }
    [[nodiscard]] Cycles arrival_end(const ReceiveRun& run) const {
        return arrival(run) + run.items;
    }
    [[nodiscard]] bool active() const {
        return !sends.empty() || !receives.empty() || lane_free_from > 0;
    }
};

/// Events of the format controls around a wide run that arrives at A: on at A-2, off at A-2+items.
inline constexpr Cycles kFormatLead = 2;

/// Events that runs `before` and `after` on one pair keep between them (mux ends to mux begins).
[[nodiscard]] Cycles separation(const ReceiveRun& before, const ReceiveRun& after);

/// Places messages one by one, each at its earliest legal start among those already placed.
class ExchangeSchedule {
public:
    ExchangeSchedule(const spec::MachineSpec& machine, const timing::ExchangeTiming& timing);

    /// Least start >= `from`, or nothing when a wide message can no longer borrow the partner's
    /// lane.
    [[nodiscard]] std::optional<Cycles> earliest_start(const Message& message, Cycles from) const;

    void place(const Message& message, Cycles start);

    [[nodiscard]] const TileTimeline& tile(TileId tile) const { return tiles_[tile]; }
    [[nodiscard]] Cycles row_events(TileId tile) const;
    [[nodiscard]] Cycles longest_row_events() const;

private:
    [[nodiscard]] Cycles after_sender_checks(const Message& message, Cycles start) const;
    [[nodiscard]] Cycles after_receiver_checks(const Message& message, const Receiver& receiver,
                                               Cycles start) const;
    [[nodiscard]] bool controls_fit(const TileTimeline& tile, const ReceiveRun& run) const;
    [[nodiscard]] Cycles clear_of_receives(const TileTimeline& tile, const SendRun& send) const;
    [[nodiscard]] Cycles clear_of_sends(TileId tile, const ReceiveRun& run) const;
    [[nodiscard]] Cycles element_clash(const SendRun& send, Cycles arrival, const ReceiveRun& run,
                                       bool move_send) const;
    [[nodiscard]] std::int64_t element_of(Bytes address) const;
    [[nodiscard]] Bytes element_begin(std::int64_t element) const;

    spec::MemorySpec memory_;
    Cycles row_tail_;
    std::int64_t region0_elements_;
    std::int64_t tile_count_;
    std::vector<TileTimeline> tiles_;
};

} // namespace tessera::plan
