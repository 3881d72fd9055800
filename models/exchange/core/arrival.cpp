// SPDX-License-Identifier: MIT
#include "models/exchange/core/arrival.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::exchange {

namespace {

/// Appends the stretches of one tile's plain or paired mux; checks that it ends neutral.
void add_stretches(const Phase& phase, const RowWalk& walk, bool paired,
                   std::vector<Stretch>& stretches) {
    const auto neutral = timing::neutral_source(phase.machine());
    Stretch open{walk.tile, paired, neutral, 0, 0};
    const auto close = [&](Cycles event) {
        open.end = event;
        if (open.value != neutral && open.end > open.begin)
            stretches.push_back(open);
    };
    for (const auto& change : walk.muxes) {
        if (change.paired != paired)
            continue;
        close(change.event);
        open.value = change.source;
        open.begin = change.event;
    }
    if (open.value != neutral)
        phase.fail(walk.tile, walk.events,
                   fmt::format("the {} is left on source 0x{:x} at the end of the row, expected "
                               "neutral 0x{:x}",
                               paired ? "paired mux" : "mux", open.value, neutral));
}

TileId source_of(const Phase& phase, const Stretch& stretch) {
    auto id = stretch.value;
    if (stretch.paired)
        id ^= phase.timing().grid().position(stretch.tile).physical_id & 2U;
    const auto tile = phase.timing().grid().tile_of(id);
    if (!tile) {
        if (id >= timing::kHostSideSource && timing::is_machine_grid(phase.machine().chip))
            phase.not_modelled(stretch.tile, stretch.begin,
                               fmt::format("mux source 0x{:x} on the host side", id));
        phase.fail(stretch.tile, stretch.begin, fmt::format("mux source 0x{:x} is no tile", id));
    }
    if (*tile == stretch.tile)
        phase.not_modelled(stretch.tile, stretch.begin, "a tile that receives its own words");
    if (phase.walk_of(*tile) == nullptr)
        phase.fail(stretch.tile, stretch.begin,
                   fmt::format("the mux stands on tile {}, which has no row", *tile));
    return *tile;
}

[[noreturn]] void fail_silence(const Phase& phase, const Stretch& stretch, TileId source,
                               Cycles event) {
    phase.fail(stretch.tile, event,
               fmt::format("the {} stands on tile {} from event {} to {}, but no word of tile {} "
                           "passes at event {}",
                           stretch.paired ? "paired mux" : "mux", source, stretch.begin,
                           stretch.end - 1, source, event));
}

/// First of the runs that ends at `event` or later, looked for from index `near` outwards: senders
/// of one exchange go on at about the same pace.
std::size_t first_ending_at(const std::vector<SendRun>& runs, const timing::LaneTiming& lane,
                            Cycles event, std::size_t near) {
    const auto is_before = [event, lane](const SendRun& run) {
        return run.last_event(lane) < event;
    };
    std::size_t low = std::min(near, runs.size());
    std::size_t high = low;
    for (std::size_t step = 1; low > 0 && !is_before(runs[low - 1]); step *= 2) {
        high = low - 1;
        low -= std::min(low, step);
    }
    for (std::size_t step = 1; high < runs.size() && is_before(runs[high]); step *= 2) {
        low = high + 1;
        high = std::min(runs.size(), high + step);
    }
    const auto begin = runs.begin();
    return static_cast<std::size_t>(std::partition_point(begin + static_cast<std::ptrdiff_t>(low),
                                                         begin + static_cast<std::ptrdiff_t>(high),
                                                         is_before) -
                                    begin);
}

/// A part of a sender's run, by a receiver's mux.
struct Passing {
    Cycles mux_event = 0;
    Cycles events = 0;
    std::int64_t items = 0;
    Address address = 0; ///< of the first of them at the sender
};

/// Calls `take(run, passing)` for each part of the sender's runs that passes
/// while the mux stands, which must leave no event of the stretch without a word. Looks for the
/// first of them near index `near`, which becomes its index.
template <typename Take>
void for_each_passing(const Phase& phase, const Stretch& stretch, TileId source, std::size_t& near,
                      Take take) {
    const auto& lane = phase.lane();
    const auto offset = phase.timing().mux_offset(source, stretch.tile);
    const auto& sends = phase.walk_of(source)->sends;
    near = first_ending_at(sends, lane, stretch.begin - offset, near);
    auto at = sends.begin() + static_cast<std::ptrdiff_t>(near);
    auto covered = stretch.begin;
    for (; at != sends.end() && at->first_event + offset < stretch.end; ++at) {
        const auto first = std::max(stretch.begin, at->first_event + offset);
        const auto last = std::min(stretch.end - 1, at->last_event(lane) + offset);
        if (first != covered)
            fail_silence(phase, stretch, source, covered);
        const auto events = last - first + 1;
        const auto before = (first - offset - at->first_event) * lane.items();
        const auto items = std::min(events * lane.items(), at->items - before);
        take(*at, Passing{first, events, items,
                          at->address + static_cast<Address>(before * at->item_bytes())});
        covered = last + 1;
    }
    if (covered != stretch.end)
        fail_silence(phase, stretch, source, covered);
}

void check_heard(const Phase& phase, const Stretch& stretch, TileId source, const SendRun& run,
                 Cycles event) {
    const auto direction = phase.timing().direction(source, stretch.tile);
    if ((run.ctl & direction) == 0)
        phase.fail(stretch.tile, event,
                   fmt::format("the mux stands on tile {}, whose message at event {} goes in "
                               "direction {} only, expected {}",
                               source, run.first_event, run.ctl & 3U, direction));
    if (run.wide() != stretch.paired)
        phase.fail(stretch.tile, event,
                   fmt::format("the {} selects a message of {}-byte items from tile {}",
                               stretch.paired ? "paired mux" : "mux", run.item_bytes(), source));
}

/// A plain mux of either member may neither stand on a source nor be written during a paired
/// stretch.
void check_pair_modes(const Phase& phase, const Stretch& wide, const Stretch* before) {
    const TileId bit = phase.timing().grid().pair_bit();
    for (const TileId member : {wide.tile & ~bit, wide.tile | bit}) {
        auto standing = timing::neutral_source(phase.machine());
        for (const auto& change : phase.walk_of(member)->muxes) {
            if (change.paired || change.event > wide.end)
                continue;
            if (change.event >= wide.begin)
                phase.fail(member, change.event,
                           fmt::format("the mux is written while the pair of tile {} receives "
                                       "64-bit items from event {} to {}",
                                       wide.tile, wide.begin, wide.end));
            standing = change.source;
        }
        if (standing != timing::neutral_source(phase.machine()))
            phase.fail(member, wide.begin,
                       "the pair begins a 64-bit receive while a mux is not neutral");
    }
    // The late member's half passes one event later: its mux must rest that long.
    if (before != nullptr && before->tile != wide.tile && wide.begin <= before->end)
        phase.fail(
            wide.tile, wide.begin,
            fmt::format("64-bit receive begins before that of tile {} has ended", before->tile));
}

/// One mux lets one word through an event, and 64-bit stretches keep clear of 32-bit ones.
void sort_disjoint(std::vector<Arrival>& arrivals) {
    std::sort(arrivals.begin(), arrivals.end(),
              [](const Arrival& a, const Arrival& b) { return a.first_event < b.first_event; });
    for (std::size_t i = 1; i < arrivals.size(); ++i)
        TESSERA_ASSERT(arrivals[i].first_event > arrivals[i - 1].last_event());
}

} // namespace

Phase::Phase(const spec::MachineSpec& machine, const std::string& name, std::vector<RowWalk> walks)
    : machine_(machine), name_(name), timing_(machine), walks_(std::move(walks)),
      walk_of_tile_(static_cast<std::size_t>(machine.chip.tiles), -1) {
    for (std::size_t i = 0; i < walks_.size(); ++i)
        walk_of_tile_[walks_[i].tile] = static_cast<std::int64_t>(i);
}

const RowWalk* Phase::walk_of(TileId tile) const {
    const auto index = tile < walk_of_tile_.size() ? walk_of_tile_[tile] : -1;
    return index < 0 ? nullptr : &walks_[static_cast<std::size_t>(index)];
}

void Phase::fail(TileId tile, Cycles event, const std::string& what) const {
    throw ProgramError(fmt::format("exchange {}: tile {} event {}: {}", name_, tile, event, what));
}

void Phase::not_modelled(TileId tile, Cycles event, const std::string& what) const {
    throw NotModelled(fmt::format("exchange {}: tile {} event {}: not modelled: {}; see "
                                  "docs/models/exchange.md",
                                  name_, tile, event, what));
}

void PairArrivals::receive_plain(const Phase& phase, const RowWalk& walk) {
    stretches_.clear();
    add_stretches(phase, walk, false, stretches_);
    const auto depth = phase.timing().mux_to_pointer(walk.tile);
    auto& arrivals = arrivals_[member(walk.tile)];
    near_ = 0;
    for (const auto& stretch : stretches_) {
        const auto source = source_of(phase, stretch);
        for_each_passing(phase, stretch, source, near_,
                         [&](const SendRun& run, const Passing& part) {
                             check_heard(phase, stretch, source, run, part.mux_event);
                             arrivals.push_back({part.mux_event + depth, part.events, part.items,
                                                 source, part.address, 0});
                         });
    }
}

void PairArrivals::receive_wide(const Phase& phase, const Stretch& stretch) {
    const auto& timing = phase.timing();
    const auto& exchange = phase.machine().exchange;
    const auto source = source_of(phase, stretch);
    const auto partner = timing.grid().partner(stretch.tile);
    if (!exchange.pair_double)
        phase.fail(stretch.tile, stretch.begin, "64-bit receive, but exchange.pair_double is off");
    if (!partner || phase.walk_of(*partner) == nullptr)
        phase.fail(stretch.tile, stretch.begin,
                   "64-bit receive by a tile whose partner has no row");
    if (source == *partner)
        phase.fail(stretch.tile, stretch.begin,
                   fmt::format("64-bit receive from tile {} in the same pair", source));
    const auto own = timing.mux_offset(source, stretch.tile);
    const auto other = timing.mux_offset(source, *partner);
    if (own >= other)
        phase.fail(stretch.tile, stretch.begin,
                   fmt::format("the paired mux for tile {} is set in the late member of the pair, "
                               "expected in tile {}",
                               source, *partner));
    const auto direction = timing.direction(source, stretch.tile);
    // The item is complete when the late member's half is.
    const auto depth = timing.mux_to_pointer(stretch.tile) + (other - own);
    std::int64_t items = 0;
    for_each_passing(phase, stretch, source, near_, [&](const SendRun& run, const Passing& part) {
        check_heard(phase, stretch, source, run, part.mux_event);
        const Arrival arrival{part.mux_event + depth, part.events, part.items, source,
                              part.address,           direction};
        items += part.items;
        for (auto& of_tile : arrivals_)
            of_tile.push_back(arrival);
    });
    if (items < exchange.pair_min_items)
        phase.fail(stretch.tile, stretch.begin,
                   fmt::format("64-bit receive of {} items, expected at least {}", items,
                               exchange.pair_min_items));
}

void PairArrivals::receive_wide(const Phase& phase, TileId pair) {
    stretches_.clear();
    for (const TileId tile : {pair, pair | pair_bit_})
        if (const auto* walk = phase.walk_of(tile); walk != nullptr)
            add_stretches(phase, *walk, true, stretches_);
    std::sort(stretches_.begin(), stretches_.end(),
              [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
    near_ = 0;
    for (std::size_t i = 0; i < stretches_.size(); ++i) {
        receive_wide(phase, stretches_[i]);
        check_pair_modes(phase, stretches_[i], i > 0 ? &stretches_[i - 1] : nullptr);
    }
}

void PairArrivals::find(const Phase& phase, TileId pair) {
    for (auto& of_tile : arrivals_)
        of_tile.clear();
    for (const TileId tile : {pair, pair | pair_bit_})
        if (const auto* walk = phase.walk_of(tile); walk != nullptr)
            receive_plain(phase, *walk);
    receive_wide(phase, pair);
    for (auto& of_tile : arrivals_)
        sort_disjoint(of_tile);
}

} // namespace tessera::exchange
