// SPDX-License-Identifier: MIT
#include "kernels/plan/exchange_schedule.h"

#include "base/error.h"

#include <algorithm>

namespace tessera::plan {

namespace {

// A receive may be written up to 7 events after its pointer event, a send read up to 8 before the
// bus (ipu1 measurement); whole intervals [first, last + 7] keep clear of both.
constexpr Cycles kElementMargin = 7;

enum ControlKinds : unsigned { kNone = 0, kMux = 1, kPointer = 2, kWideControl = 4 };

/// First run whose mux begins after `event`.
std::size_t first_after(const std::vector<ReceiveRun>& runs, Cycles event) {
    const auto found =
        std::upper_bound(runs.begin(), runs.end(), event,
                         [](Cycles at, const ReceiveRun& run) { return at < run.mux_first; });
    return static_cast<std::size_t>(found - runs.begin());
}

/// Controls that placed runs have at `event`. Contiguous runs may drop theirs later; counting them
/// keeps every later insertion legal.
unsigned controls_at(const TileTimeline& tile, Cycles event) {
    const auto& runs = tile.receives;
    unsigned kinds = kNone;
    auto i = first_after(runs, event);
    if (i > 0) {
        const auto& run = runs[i - 1];
        if (!run.late && (run.mux_first == event || run.mux_end() == event))
            kinds |= kMux | (run.wide() ? kWideControl : kNone);
        // The run before may end exactly where this one, a late member without controls, begins.
        if (i > 1 && !runs[i - 2].late && runs[i - 2].mux_end() == event)
            kinds |= kMux | (runs[i - 2].wide() ? kWideControl : kNone);
    }
    const auto passed = event - tile.mux_to_pointer;
    i = first_after(runs, passed + 1);
    for (std::size_t back = 1; back <= 3 && back <= i; ++back) {
        const auto& run = runs[i - back];
        if (!run.wide()) {
            if (run.mux_first == passed)
                kinds |= kPointer;
        } else if (const auto at = tile.arrival(run); event == at || event == at - kFormatLead ||
                                                      event == at - kFormatLead + run.items) {
            kinds |= kPointer | kWideControl;
        }
    }
    return kinds;
}

/// A message start keeps its own event and the one before it free of controls.
bool near_message_start(const TileTimeline& tile, Cycles event) {
    const auto found =
        std::upper_bound(tile.sends.begin(), tile.sends.end(), event,
                         [](Cycles at, const SendRun& run) { return at < run.start; });
    return found != tile.sends.begin() && event - std::prev(found)->start <= 1;
}

bool single_control_fits(const TileTimeline& tile, Cycles event, unsigned kind, bool wide) {
    if (event < 1 || near_message_start(tile, event))
        return false;
    const auto present = controls_at(tile, event);
    if (present == kNone)
        return true;
    if ((present & kind) != 0)
        return false;
    return !wide && (present & kWideControl) == 0;
}

Cycles next_free_mux(const TileTimeline& tile, ReceiveRun run) {
    const auto& runs = tile.receives;
    auto i = first_after(runs, run.mux_first);
    if (i > 0)
        run.mux_first =
            std::max(run.mux_first, runs[i - 1].mux_end() + separation(runs[i - 1], run));
    for (; i < runs.size(); ++i) {
        if (run.mux_end() + separation(run, runs[i]) <= runs[i].mux_first)
            break;
        run.mux_first = std::max(run.mux_first, runs[i].mux_end() + separation(runs[i], run));
    }
    return run.mux_first;
}

/// Least start >= `start` at which the lane is free for `items` events.
Cycles next_free_lane(const TileTimeline& tile, Cycles start, std::int64_t items) {
    auto at = std::upper_bound(tile.sends.begin(), tile.sends.end(), start,
                               [](Cycles event, const SendRun& run) { return event < run.end(); });
    for (; at != tile.sends.end() && start + items > at->start; ++at)
        start = std::max(start, at->end());
    return start;
}

} // namespace

Cycles separation(const ReceiveRun& before, const ReceiveRun& after) {
    if (!before.wide() && !after.wide())
        return 0;
    // A pair changes between 32 and 64 bits, or its early member, only through neutral.
    if (before.wide() != after.wide())
        return 1;
    return before.wide_direction == after.wide_direction ? 0 : 2;
}

ExchangeSchedule::ExchangeSchedule(const spec::MachineSpec& machine,
                                   const timing::ExchangeTiming& timing)
    : memory_(machine.memory), row_tail_(machine.exchange.row_tail_cycles),
      region0_elements_((machine.memory.region0_bytes + machine.memory.element_bytes - 1) /
                        machine.memory.element_bytes),
      tile_count_(machine.chip.tiles), tiles_(static_cast<std::size_t>(machine.chip.tiles)) {
    for (TileId tile = 0; tile < tiles_.size(); ++tile)
        tiles_[tile].mux_to_pointer = timing.mux_to_pointer(tile);
}

std::int64_t ExchangeSchedule::element_of(Bytes address) const {
    const auto offset = address - memory_.base;
    if (offset < memory_.region0_bytes)
        return offset / memory_.element_bytes;
    return region0_elements_ + (offset - memory_.region0_bytes) / (2 * memory_.element_bytes);
}

Bytes ExchangeSchedule::element_begin(std::int64_t element) const {
    if (element < region0_elements_)
        return memory_.base + element * memory_.element_bytes;
    return memory_.base + memory_.region0_bytes +
           (element - region0_elements_) * 2 * memory_.element_bytes;
}

/// Events by which the moved one of the two must be later to be clear of the other; 0 if it is.
Cycles ExchangeSchedule::element_clash(const SendRun& send, Cycles arrival, const ReceiveRun& run,
                                       bool move_send) const {
    Cycles send_first = send.start + 1;
    Cycles send_last = send.end();
    Cycles run_first = arrival;
    Cycles run_last = arrival + run.items - 1;
    const auto send_bytes = send.items * send.item_bytes();
    const auto low = std::max(element_of(send.address), element_of(run.address));
    const auto high = std::min(element_of(send.address + send_bytes - 1),
                               element_of(run.address + run.bytes() - 1));
    if (low > high)
        return 0;
    const auto begin = element_begin(low);
    const auto end = element_begin(high + 1);
    const auto narrow = [&](Cycles& first, Cycles& last, Address address, Bytes item_bytes) {
        const auto start = first;
        first = std::max(first, start + (begin - address) / item_bytes);
        last = std::min(last, start + (end - 1 - address) / item_bytes);
    };
    narrow(send_first, send_last, send.address, send.item_bytes());
    narrow(run_first, run_last, run.address, run.item_bytes());
    send_last += kElementMargin;
    run_last += kElementMargin;
    if (send_last < run_first || run_last < send_first)
        return 0;
    return move_send ? run_last + 1 - send_first : send_last + 1 - run_first;
}

/// Least start of `send` at which no receive of the tile meets it in a memory element.
Cycles ExchangeSchedule::clear_of_receives(const TileTimeline& tile, const SendRun& send) const {
    const auto& runs = tile.receives;
    auto at = std::lower_bound(
        runs.begin(), runs.end(), send.start - kElementMargin,
        [&](const ReceiveRun& run, Cycles event) { return tile.arrival_end(run) < event; });
    for (; at != runs.end() && tile.arrival(*at) <= send.end() + kElementMargin; ++at)
        if (const auto later = element_clash(send, tile.arrival(*at), *at, true))
            return send.start + later;
    return send.start;
}

/// Events by which `run` must move to be clear of the sends of its tile.
Cycles ExchangeSchedule::clear_of_sends(TileId tile, const ReceiveRun& run) const {
    const auto& own = tiles_[tile];
    const auto arrival = own.arrival(run);
    auto at =
        std::lower_bound(own.sends.begin(), own.sends.end(), arrival - kElementMargin,
                         [](const SendRun& send, Cycles event) { return send.end() < event; });
    for (; at != own.sends.end() && at->start <= arrival + run.items + kElementMargin; ++at)
        if (const auto later = element_clash(*at, arrival, run, false))
            return later;
    return 0;
}

bool ExchangeSchedule::controls_fit(const TileTimeline& tile, const ReceiveRun& run) const {
    const bool wide = run.wide();
    const auto next = first_after(tile.receives, run.mux_first);
    const bool joins_before = next > 0 && tile.receives[next - 1].mux_end() == run.mux_first;
    const bool joins_after =
        next < tile.receives.size() && tile.receives[next].mux_first == run.mux_end();
    // A shared boundary is one control. A plain one may since have met a pointer control, which is
    // legal; only the sender's own starts matter there, and they were checked with the neighbour.
    if (!run.late) {
        if (!joins_before && !single_control_fits(tile, run.mux_first, kMux, wide))
            return false;
        if (!joins_after && !single_control_fits(tile, run.mux_end(), kMux, wide))
            return false;
    }
    const auto arrival = tile.arrival(run);
    if (!single_control_fits(tile, arrival, kPointer, wide))
        return false;
    if (!wide)
        return true;
    const bool on_shared = joins_before && tile.receives[next - 1].wide();
    const bool off_shared = joins_after && tile.receives[next].wide();
    return (on_shared || single_control_fits(tile, arrival - kFormatLead, kPointer, true)) &&
           (off_shared ||
            single_control_fits(tile, arrival - kFormatLead + run.items, kPointer, true));
}

Cycles ExchangeSchedule::after_sender_checks(const Message& message, Cycles start) const {
    const auto& tile = tiles_[message.source];
    SendRun send{start, message.items, message.address, message.ctl, message.wide};
    send.start = next_free_lane(tile, std::max(start, tile.lane_free_from), message.items);
    if (controls_at(tile, send.start) != kNone || controls_at(tile, send.start + 1) != kNone)
        return send.start + 1;
    return clear_of_receives(tile, send);
}

Cycles ExchangeSchedule::after_receiver_checks(const Message& message, const Receiver& receiver,
                                               Cycles start) const {
    const auto& tile = tiles_[receiver.tile];
    const auto first = start + 1 + receiver.mux_offset;
    ReceiveRun run{first,
                   message.items,
                   message.source,
                   receiver.address,
                   message.wide ? receiver.direction : 0,
                   receiver.late};
    run.mux_first = next_free_mux(tile, run);
    if (run.mux_first == first) {
        run.mux_first += clear_of_sends(receiver.tile, run);
        if (run.mux_first == first && !controls_fit(tile, run))
            ++run.mux_first;
    }
    return start + (run.mux_first - first);
}

std::optional<Cycles> ExchangeSchedule::earliest_start(const Message& message, Cycles from) const {
    Cycles start = std::max<Cycles>(from, 0);
    for (const auto& receiver : message.receivers)
        start = std::max(start, -receiver.mux_offset); // the first mux control is at event 1
    const auto checks = message.receivers.size() + 1;
    std::size_t passed = 0;
    for (std::size_t check = 0; passed < checks; check = (check + 1) % checks) {
        const auto moved =
            check == 0 ? after_sender_checks(message, start)
                       : after_receiver_checks(message, message.receivers[check - 1], start);
        passed = moved == start ? passed + 1 : 0;
        start = moved;
        if (message.wide) {
            const auto& partner = tiles_[message.source ^ 1U];
            if (!partner.sends.empty() && partner.sends.front().start < start + message.items)
                return std::nullopt;
        }
    }
    return start;
}

void ExchangeSchedule::place(const Message& message, Cycles start) {
    auto& sender = tiles_[message.source];
    const SendRun send{start, message.items, message.address, message.ctl, message.wide};
    sender.sends.insert(
        std::upper_bound(sender.sends.begin(), sender.sends.end(), start,
                         [](Cycles at, const SendRun& run) { return at < run.start; }),
        send);
    if (message.wide) {
        auto& borrowed = tiles_[message.source ^ 1U].lane_free_from;
        borrowed = std::max(borrowed, send.end());
    }
    for (const auto& receiver : message.receivers) {
        auto& runs = tiles_[receiver.tile].receives;
        const auto first = start + 1 + receiver.mux_offset;
        runs.insert(runs.begin() + static_cast<std::ptrdiff_t>(first_after(runs, first)),
                    {first, message.items, message.source, receiver.address,
                     message.wide ? receiver.direction : 0, receiver.late});
    }
}

Cycles ExchangeSchedule::row_events(TileId tile) const {
    const auto& timeline = tiles_[tile];
    Cycles last = timeline.lane_free_from;
    if (!timeline.sends.empty())
        last = std::max(last, timeline.sends.back().end());
    if (!timeline.receives.empty()) {
        const auto& run = timeline.receives.back();
        last = std::max(last, run.mux_end()); // the neutral
        last = std::max(last, timeline.arrival_end(run) - 1 + row_tail_);
    }
    return last;
}

Cycles ExchangeSchedule::longest_row_events() const {
    Cycles longest = 0;
    for (TileId tile = 0; tile < tiles_.size(); ++tile)
        longest = std::max(longest, row_events(tile));
    return longest;
}

} // namespace tessera::plan
