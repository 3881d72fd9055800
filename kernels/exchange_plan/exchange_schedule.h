// SPDX-License-Identifier: MIT
// When each message of an exchange is sent. All rules are events taken on lanes: of sending, of
// receiving, of controls, of memory elements. Rules: docs/models/exchange.md#legality.
#pragma once

#include "base/units.h"
#include "kernels/exchange_plan/event_lanes.h"
#include "kernels/exchange_plan/event_marks.h"
#include "kernels/exchange_plan/exchange_jobs.h"
#include "kernels/exchange_plan/memory_elements.h"
#include "models/spec/machine_spec.h"
#include "models/timing/exchange_latency.h"

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

namespace tessera::exchange_plan {

/// Events of the format controls around a wide run that arrives at A: on at A-2, off at A-2+items.
inline constexpr Cycles kFormatLead = 2;

/// A placed message or a piece of one: `items` items from its item `first` on leave from event
/// start+1 on, as many an event as the lane is wide.
struct Placement {
    std::uint32_t job = 0;
    std::uint32_t first = 0;
    std::uint32_t items = 0;
    bool wide = false;
    Cycles start = 0;

    [[nodiscard]] Bytes offset() const { return first * Job::item_bytes(wide); }
    [[nodiscard]] Cycles end(const timing::LaneTiming& lane) const {
        return start + lane.events(items);
    }
};

/// When the messages of an exchange go. It says nothing of addresses, and holds for the same messages elsewhere, unless
/// a tile sends from and receives into one memory element.
struct Schedule {
    struct Row {
        Cycles events = 0;
        Cycles borrowed_until = 0; ///< by the tile's partner, which takes its lane; 0: it does not
    };

    std::vector<Placement>
        placements;        ///< of every job in turn its first piece, then all further pieces
    std::vector<Row> rows; ///< by tile
    Cycles longest_row_events = 0;
};

/// How messages may be placed.
struct PlacementRules {
    bool wide = true;              ///< double width where it is possible
    std::uint32_t least_piece = 0; ///< events of the smallest piece but the last; 0: whole messages
    /// A message to several receivers that would end behind this event is put aside, or its pieces from the first that
    /// would, if its sender can send it to each receiver by itself in as many events. 0: none is.
    Cycles late = 0;
};

/// A message that was put aside, from its item `first` on.
struct Aside {
    std::uint32_t job = 0;
    std::uint32_t first = 0;
};

/// Places messages one by one, each at its earliest legal start among those already placed.
class MessagePlacer {
public:
    /// `jobs` outlives the placer.
    MessagePlacer(const spec::MachineSpec& machine, const timing::ExchangeTiming& timing,
                  const JobList& jobs);

    /// Places all jobs in `order`. A wide one goes by words when its partner's lane cannot be
    /// borrowed; wide ones are never divided. False, with jobs left over, as soon as a row has
    /// `row_events` events: rows only become longer.
    bool place_all(std::span<const std::uint32_t> order, const PlacementRules& rules,
                   Cycles row_events = std::numeric_limits<Cycles>::max());

    /// The messages that were put aside, in the order in which they came.
    [[nodiscard]] std::span<const Aside> aside() const { return aside_; }

    /// Goes on with `jobs`, which begin with those so far; what is placed of these stays. It outlives the placer.
    void go_on(const JobList& jobs);

    [[nodiscard]] const Schedule& schedule() const { return schedule_; }
    [[nodiscard]] Schedule take_schedule() { return std::move(schedule_); }

private:
    static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

    /// Lanes of a tile that takes part in double width, from `TileState::wide_lanes` on.
    enum WideLane : std::uint32_t {
        kFromDirection1, ///< taken for a wide message from direction 1
        kFromDirection2, ///< ... from direction 2
        kWideRuns,       ///< a wide message passes the mux
        kWideLanes
    };

    /// Events of a tile that takes part in double width.
    struct WideMarks {
        EventMarks wide_controls;  ///< controls of wide messages
        EventMarks plain_controls; ///< other controls
        EventMarks send_starts;    ///< first events of sends
    };

    struct TileState {
        Cycles mux_to_pointer = 0;
        Cycles first_send = std::numeric_limits<Cycles>::max();
        std::uint32_t wide_lanes = kNone;
        /// Two lanes an element, of reads and of writes; only where the tile sends from and
        /// receives into one element.
        std::uint32_t element_lanes = kNone;
    };

    /// A receiver's side of a message that starts at `start`.
    struct Reception {
        TileId tile;
        Cycles mux_first; ///< the first item passes the mux
        Cycles arrival;   ///< and meets the pointer
        Address address;
        std::int64_t items;
        Cycles events;
        bool wide;
        bool late;
    };

    void place(std::uint32_t index, const PlacementRules& rules);
    void place_pieces(Placement placed, const PlacementRules& rules);
    [[nodiscard]] bool put_aside(const Placement& placed, std::uint32_t left, Cycles late);
    void take(const Placement& placed);
    void set_uses(const Job& job, bool wide);
    void add_wide_lanes();
    void add_element_lanes(const spec::MachineSpec& machine);
    [[nodiscard]] std::uint32_t send_lane(TileId tile) const { return tile; }
    [[nodiscard]] std::uint32_t receive_lane(TileId tile) const {
        return static_cast<std::uint32_t>(tiles_.size()) + tile;
    }
    [[nodiscard]] bool special(TileId tile) const {
        return tiles_[tile].wide_lanes != kNone || tiles_[tile].element_lanes != kNone;
    }

    [[nodiscard]] Cycles least_start(const Job& job, bool wide) const;
    [[nodiscard]] bool find_start(Placement& placed);
    [[nodiscard]] Cycles conflict(const Placement& placed) const;
    [[nodiscard]] Reception reception(const Placement& placed, const Receiver& to) const;
    [[nodiscard]] Cycles send_conflict(const Placement& placed) const;
    [[nodiscard]] Cycles receive_conflict(const Reception& run) const;
    [[nodiscard]] bool controls_fit(const Reception& run) const;
    [[nodiscard]] Cycles element_conflict(TileId tile, bool write, Address address,
                                          std::int64_t items, Bytes item_bytes, Cycles first) const;

    void lengthen_row(TileId tile, Cycles events);
    void take_send(const Placement& placed);
    void take_reception(const Reception& run, const Receiver& to);
    void take_wide_lanes(const Reception& run, const Receiver& to);
    void mark_controls(const Reception& run);
    void take_elements(TileId tile, bool write, Address address, std::int64_t items,
                       Bytes item_bytes, Cycles first);

    TileId pair_bit_;
    Elements elements_;
    Cycles row_tail_;
    const JobList* list_;
    EventLanes lanes_;
    std::vector<TileState> tiles_;
    std::vector<WideMarks> marks_; ///< by tile
    std::size_t wide_left_ = 0;    ///< messages still to be placed that may be wide
    Schedule schedule_;
    std::vector<Aside> aside_;
    std::vector<Cycles>
        out_; ///< events that each tile sends in all, where messages may be put aside
    std::vector<LaneUse> uses_; ///< scratch: lanes of the message that is being placed
};

} // namespace tessera::exchange_plan
