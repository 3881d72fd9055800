// SPDX-License-Identifier: MIT
#include "kernels/exchange_plan/exchange_schedule.h"

#include "base/activity.h"
#include "base/error.h"

#include <algorithm>

namespace tessera::exchange_plan {

namespace {

// A receive may be written up to 7 events after its pointer event, a send read up to 8 before the
// bus (ipu1 measurement); whole intervals [first, last + 7] keep clear of both.
constexpr Cycles kElementMargin = 7;

constexpr std::uint32_t kReads = 0;
constexpr std::uint32_t kWrites = 1;

/// Calls `take(element, first item, items)` for each part of a run in one element.
template <typename Take>
void for_each_element(const Elements& elements, Address address, std::int64_t items,
                      Bytes item_bytes, Take take) {
    const auto last = elements.of(address + items * item_bytes - 1);
    for (auto element = elements.of(address); element <= last; ++element) {
        const auto first_item =
            std::max<std::int64_t>((elements.begin(element) - address) / item_bytes, 0);
        const auto last_item =
            std::min((elements.begin(element + 1) - 1 - address) / item_bytes, items - 1);
        take(element, first_item, last_item - first_item + 1);
    }
}

} // namespace

MessagePlacer::MessagePlacer(const spec::MachineSpec& machine, const timing::ExchangeTiming& timing,
                             const JobList& jobs)
    : pair_bit_(timing::pair_bit(machine.chip)), elements_(machine.memory),
      row_tail_(machine.exchange.row_tail_cycles), list_(&jobs),
      tiles_(static_cast<std::size_t>(machine.chip.tiles)), marks_(tiles_.size()) {
    schedule_.placements.resize(jobs.jobs.size());
    schedule_.rows.resize(tiles_.size());
    lanes_.add(2 * tiles_.size());
    for (TileId tile = 0; tile < tiles_.size(); ++tile)
        tiles_[tile].mux_to_pointer = timing.mux_to_pointer(tile);
    add_wide_lanes();
    add_element_lanes(machine);
}

void MessagePlacer::add_wide_lanes() {
    for (const auto& job : list_->jobs)
        if (job.wide)
            for (const auto& to : list_->of(job))
                if (auto& lanes = tiles_[to.tile].wide_lanes; lanes == kNone)
                    lanes = lanes_.add(kWideLanes);
}

void MessagePlacer::add_element_lanes(const spec::MachineSpec& machine) {
    const auto shared = tiles_with_shared_elements(machine, *list_);
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile)
        if (shared[tile] != 0)
            tiles_[tile].element_lanes =
                lanes_.add(2 * static_cast<std::size_t>(elements_.count()));
}

MessagePlacer::Reception MessagePlacer::reception(const Placement& placed,
                                                  const Receiver& to) const {
    const bool wide = placed.wide;
    const auto mux_first = placed.start + 1 + to.offset(wide);
    // A wide item is complete when the late member's half is, one event after the early one's mux.
    return {to.tile,
            mux_first,
            mux_first + (wide ? 1 : 0) + tiles_[to.tile].mux_to_pointer,
            to.address + static_cast<Address>(placed.offset()),
            placed.items,
            list_->lane.events(placed.items),
            wide,
            wide && to.late()};
}

/// Events by which a run that starts at `first` must be later to meet nothing in an element.
Cycles MessagePlacer::element_conflict(TileId tile, bool write, Address address, std::int64_t items,
                                       Bytes item_bytes, Cycles first) const {
    const auto base = tiles_[tile].element_lanes;
    if (base == kNone)
        return 0;
    Cycles later = 0;
    for_each_element(elements_, address, items, item_bytes,
                     [&](std::int64_t element, std::int64_t from, std::int64_t n) {
                         const auto lane = base + 2 * static_cast<std::uint32_t>(element) +
                                           (write ? kReads : kWrites);
                         const auto begin = first + from / list_->lane.items();
                         const auto last = lanes_.last_taken(lane, begin,
                                                             first + list_->lane.events(from + n) +
                                                                 kElementMargin - begin);
                         if (last >= 0)
                             later = std::max(later, last + 1 - begin);
                     });
    return later;
}

void MessagePlacer::take_elements(TileId tile, bool write, Address address, std::int64_t items,
                                  Bytes item_bytes, Cycles first) {
    const auto base = tiles_[tile].element_lanes;
    if (base == kNone)
        return;
    for_each_element(
        elements_, address, items, item_bytes,
        [&](std::int64_t element, std::int64_t from, std::int64_t n) {
            const auto begin = first + from / list_->lane.items();
            lanes_.take(base + 2 * static_cast<std::uint32_t>(element) + (write ? kWrites : kReads),
                        begin, first + list_->lane.events(from + n) + kElementMargin - begin);
        });
}

/// Events by which the send must be later for the rules of its own tile; 0 if none.
Cycles MessagePlacer::send_conflict(const Placement& placed) const {
    const auto& job = list_->jobs[placed.job];
    const auto& marks = marks_[job.source];
    if (marks.wide_controls.any_marked(placed.start, 2) ||
        marks.plain_controls.marked(placed.start + 1))
        return 1;
    return element_conflict(job.source, false, job.address + static_cast<Address>(placed.offset()),
                            placed.items, Job::item_bytes(placed.wide), placed.start + 1);
}

/// A control of a wide message shares its event with nothing and has no other control or start of
/// a send right behind it, so that an instruction next to it can be cut where a boundary asks for
/// it. Where a tile takes wide messages, plain controls keep off the starts of sends too: the start
/// would carry a second control, which may not touch the plain mux while a wide message passes.
bool MessagePlacer::controls_fit(const Reception& run) const {
    const auto lanes = tiles_[run.tile].wide_lanes;
    if (lanes == kNone)
        return true;
    const auto& marks = marks_[run.tile];
    const auto mux_end = run.mux_first + run.events;
    if (!run.wide) {
        const auto plain_fits = [&](Cycles event) {
            return !marks.wide_controls.any_marked(event - 1, 3) &&
                   !marks.send_starts.marked(event);
        };
        return plain_fits(run.mux_first) && plain_fits(mux_end) && plain_fits(run.arrival);
    }
    const auto fits = [&](Cycles event) {
        return event >= 1 && !marks.wide_controls.marked(event) &&
               !marks.plain_controls.any_marked(event - 1, 3) &&
               !marks.send_starts.any_marked(event, 2);
    };
    // Where wide runs join, mux and format stay: the boundary has one control or none.
    const bool joins_before = lanes_.taken(lanes + kWideRuns, run.mux_first - 1);
    const bool joins_after = lanes_.taken(lanes + kWideRuns, mux_end);
    const auto format = run.arrival - kFormatLead;
    return fits(run.arrival) && (run.late || joins_before || fits(run.mux_first)) &&
           (run.late || joins_after || fits(mux_end)) && (joins_before || fits(format)) &&
           (joins_after || fits(format + run.events));
}

/// Events by which the message must be later for the rules of this receiver; 0 if none.
Cycles MessagePlacer::receive_conflict(const Reception& run) const {
    const auto later = element_conflict(run.tile, true, run.address, run.items,
                                        Job::item_bytes(run.wide), run.arrival);
    return later > 0 ? later : controls_fit(run) ? 0 : 1;
}

/// Events by which the placement must be later for the rules that are not of lanes alone.
Cycles MessagePlacer::conflict(const Placement& placed) const {
    const auto& job = list_->jobs[placed.job];
    auto later = special(job.source) ? send_conflict(placed) : 0;
    for (const auto& to : list_->of(job)) {
        if (later > 0)
            break;
        if (special(to.tile))
            later = receive_conflict(reception(placed, to));
    }
    return later;
}

void MessagePlacer::set_uses(const Job& job, bool wide) {
    uses_.assign(1, {send_lane(job.source), 1});
    for (const auto& to : list_->of(job)) {
        auto lane = receive_lane(to.tile);
        if (wide)
            lane = tiles_[to.tile].wide_lanes +
                   (to.direction == 1 ? kFromDirection1 : kFromDirection2);
        uses_.push_back({lane, static_cast<std::int32_t>(to.offset(wide) + 1)});
    }
}

/// The first mux control is at event 1.
Cycles MessagePlacer::least_start(const Job& job, bool wide) const {
    Cycles start = 0;
    for (const auto& to : list_->of(job))
        start = std::max(start, -to.offset(wide));
    return start;
}

/// Moves `placed` to its earliest legal start; false when a wide message can no longer borrow the
/// partner's lane. The lanes that it needs are in `uses_`.
bool MessagePlacer::find_start(Placement& placed) {
    const auto partner = list_->jobs[placed.job].source ^ pair_bit_;
    const auto events = list_->lane.events(placed.items);
    for (;;) {
        placed.start = lanes_.first_free(uses_, placed.start, events);
        if (placed.wide && tiles_[partner].first_send < placed.start + events)
            return false;
        const auto later = conflict(placed);
        if (later == 0)
            return true;
        placed.start += later;
    }
}

bool MessagePlacer::place_all(std::span<const std::uint32_t> order, const PlacementRules& rules,
                              Cycles row_events) {
    // Orders jump about in the list, so what comes next is fetched ahead.
    constexpr std::size_t kAhead = 8;
    constexpr std::size_t kTold = 1024; // messages from one word about it to the next
    const Activity placing("message", static_cast<std::int64_t>(order.size()));
    wide_left_ = rules.wide ? static_cast<std::size_t>(std::count_if(
                                  order.begin(), order.end(),
                                  [&](std::uint32_t job) { return list_->jobs[job].wide; }))
                            : 0;
    if (rules.late > 0 && out_.empty()) {
        out_.resize(tiles_.size());
        for (const auto& job : list_->jobs)
            out_[job.source] += list_->events(job, job.wide && rules.wide);
    }
    for (std::size_t i = 0; i < order.size(); ++i) {
        if (i % kTold == 0)
            placing.step(kTold);
        if (i + 3 * kAhead < order.size())
            __builtin_prefetch(&list_->jobs[order[i + 3 * kAhead]]);
        if (i + 2 * kAhead < order.size()) {
            const auto next = order[i + 2 * kAhead];
            __builtin_prefetch(&list_->receivers[list_->jobs[next].first_receiver]);
            __builtin_prefetch(&schedule_.placements[next], 1);
        }
        if (i + kAhead < order.size()) {
            const auto& next = list_->jobs[order[i + kAhead]];
            lanes_.prefetch(send_lane(next.source));
            lanes_.prefetch(receive_lane(list_->receivers[next.first_receiver].tile));
        }
        place(order[i], rules);
        if (schedule_.longest_row_events >= row_events)
            return false;
    }
    return schedule_.longest_row_events < row_events;
}

void MessagePlacer::place(std::uint32_t index, const PlacementRules& rules) {
    const auto& job = list_->jobs[index];
    const bool may_be_wide = job.wide && rules.wide;
    if (may_be_wide)
        --wide_left_;
    for (const bool wide : {true, false}) {
        if (wide && !may_be_wide)
            continue;
        set_uses(job, wide);
        Placement placed{index, 0, static_cast<std::uint32_t>(job.items(wide)), wide,
                         least_start(job, wide)};
        if (!wide && rules.least_piece > 0) {
            place_pieces(placed, rules);
            return;
        }
        if (find_start(placed)) {
            if (!wide && put_aside(placed, placed.items, rules.late))
                return;
            schedule_.placements[index] = placed;
            take(placed);
            return;
        }
    }
    TESSERA_ASSERT(false);
}

/// Fills the free stretches of at least `least` events one after another. All pieces but the last
/// fill the lane in all their events.
void MessagePlacer::place_pieces(Placement placed, const PlacementRules& rules) {
    const auto items_of = [this](Cycles events, std::uint32_t left) {
        return static_cast<std::uint32_t>(
            std::min<std::int64_t>(events * list_->lane.items(), left));
    };
    for (auto left = placed.items; left > 0;) {
        const auto shortest = items_of(rules.least_piece, left);
        placed.items = shortest;
        const bool found = find_start(placed);
        TESSERA_ASSERT(found);
        placed.items =
            items_of(lanes_.free_from(uses_, placed.start, list_->lane.events(left)), left);
        if (conflict(placed) > 0)
            placed.items = shortest;
        if (put_aside(placed, left, rules.late))
            return;
        if (placed.first == 0)
            schedule_.placements[placed.job] = placed;
        else
            schedule_.placements.push_back(placed);
        take(placed);
        placed.first += placed.items;
        placed.start = placed.end(list_->lane);
        left -= placed.items;
    }
}

/// Whether `placed`, the next piece of a message of which `left` items are left, is late and these go to each receiver
/// by themselves. The lanes of the message are in `uses_`.
bool MessagePlacer::put_aside(const Placement& placed, std::uint32_t left, Cycles late) {
    if (late == 0 || uses_.size() <= 2)
        return false;
    Cycles behind = 0;
    for (const auto& use : uses_)
        behind = std::max<Cycles>(behind, use.offset);
    if (placed.end(list_->lane) + behind <= late)
        return false;
    const auto& job = list_->jobs[placed.job];
    auto& out = out_[job.source];
    const auto more = list_->lane.events(left) * (static_cast<Cycles>(job.receivers) - 1);
    if (out + more > late)
        return false;
    out += more;
    aside_.push_back({placed.job, placed.first});
    return true;
}

void MessagePlacer::go_on(const JobList& jobs) {
    schedule_.placements.insert(schedule_.placements.begin() +
                                    static_cast<std::ptrdiff_t>(list_->jobs.size()),
                                jobs.jobs.size() - list_->jobs.size(), {});
    list_ = &jobs;
}

void MessagePlacer::take(const Placement& placed) {
    take_send(placed);
    for (const auto& to : list_->of(list_->jobs[placed.job]))
        take_reception(reception(placed, to), to);
}

void MessagePlacer::lengthen_row(TileId tile, Cycles events) {
    auto& row = schedule_.rows[tile];
    row.events = std::max(row.events, events);
    schedule_.longest_row_events = std::max(schedule_.longest_row_events, events);
}

void MessagePlacer::take_send(const Placement& placed) {
    const auto& job = list_->jobs[placed.job];
    auto& tile = tiles_[job.source];
    const auto end = placed.end(list_->lane);
    lanes_.take(send_lane(job.source), placed.start + 1, end - placed.start);
    tile.first_send = std::min(tile.first_send, placed.start);
    lengthen_row(job.source, end);
    if (tile.wide_lanes != kNone)
        marks_[job.source].send_starts.mark(placed.start + 1);
    take_elements(job.source, false, job.address + static_cast<Address>(placed.offset()),
                  placed.items, Job::item_bytes(placed.wide), placed.start + 1);
    if (!placed.wide)
        return;
    const TileId partner = job.source ^ pair_bit_;
    lanes_.take(send_lane(partner), 0, end + 1);
    auto& borrowed = schedule_.rows[partner].borrowed_until;
    borrowed = std::max(borrowed, end);
    lengthen_row(partner, end);
}

void MessagePlacer::take_reception(const Reception& run, const Receiver& to) {
    const auto& tile = tiles_[run.tile];
    const auto mux_end = run.mux_first + run.events;
    // A pair turns to another width through at least one event of neutral.
    lanes_.take(receive_lane(run.tile), run.mux_first - (run.wide ? 1 : 0),
                run.events + (run.wide ? 2 : 0));
    lengthen_row(run.tile, std::max(mux_end, run.arrival + run.events - 1 + row_tail_));
    take_elements(run.tile, true, run.address, run.items, Job::item_bytes(run.wide), run.arrival);
    if (tile.wide_lanes == kNone)
        return;
    if (wide_left_ > 0)
        take_wide_lanes(run, to);
    mark_controls(run);
}

/// What further wide messages must keep clear of.
void MessagePlacer::take_wide_lanes(const Reception& run, const Receiver& to) {
    const auto lanes = tiles_[run.tile].wide_lanes;
    // Wide messages from the two directions keep two events: the early member changes.
    for (const std::uint32_t direction : {1U, 2U}) {
        const Cycles margin = !run.wide ? 1 : direction == to.direction ? 0 : 2;
        lanes_.take(lanes + (direction == 1 ? kFromDirection1 : kFromDirection2),
                    run.mux_first - margin, run.events + 2 * margin);
    }
    if (run.wide)
        lanes_.take(lanes + kWideRuns, run.mux_first, run.events);
}

void MessagePlacer::mark_controls(const Reception& run) {
    auto& marks = marks_[run.tile];
    const auto mux_end = run.mux_first + run.events;
    if (!run.wide) {
        for (const auto event : {run.mux_first, mux_end, run.arrival})
            marks.plain_controls.mark(event);
        return;
    }
    const auto format = run.arrival - kFormatLead;
    for (const auto event : {run.arrival, format, format + run.events})
        marks.wide_controls.mark(event);
    if (!run.late)
        for (const auto event : {run.mux_first, mux_end})
            marks.wide_controls.mark(event);
}

} // namespace tessera::exchange_plan
