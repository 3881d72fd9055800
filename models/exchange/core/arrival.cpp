// SPDX-License-Identifier: MIT
#include "models/exchange/core/arrival.h"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::exchange {

namespace {

/// The stretches of one tile's plain or paired mux; checks that it ends neutral.
std::vector<Stretch> stretches_of(const Phase& phase, const RowWalk& walk, bool paired) {
    const auto neutral = timing::neutral_source(phase.machine());
    std::vector<Stretch> stretches;
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
    return stretches;
}

TileId source_of(const Phase& phase, const Stretch& stretch) {
    auto id = stretch.value;
    if (stretch.paired)
        id ^= phase.timing().grid().position(stretch.tile).physical_id & 2U;
    const auto tile = phase.timing().grid().tile_of(id);
    if (!tile) {
        if (id >= timing::kHostSideSource)
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

/// Calls `take(run, first item, items, mux event)` for each part of the sender's runs that passes
/// while the mux stands, which must leave no event of the stretch without a word.
template <typename Take>
void for_each_passing(const Phase& phase, const Stretch& stretch, TileId source, Take take) {
    const auto offset = phase.timing().mux_offset(source, stretch.tile);
    const auto& sends = phase.walk_of(source)->sends;
    auto at =
        std::lower_bound(sends.begin(), sends.end(), stretch.begin - offset,
                         [](const SendRun& run, Cycles event) { return run.last_event() < event; });
    auto covered = stretch.begin;
    for (; at != sends.end() && at->first_event + offset < stretch.end; ++at) {
        const auto first = std::max(stretch.begin, at->first_event + offset);
        const auto last = std::min(stretch.end - 1, at->last_event() + offset);
        if (first != covered)
            fail_silence(phase, stretch, source, covered);
        take(*at, first - offset - at->first_event, last - first + 1, first);
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

void receive_plain(const Phase& phase, const Stretch& stretch, std::vector<Arrival>& arrivals) {
    const auto source = source_of(phase, stretch);
    const auto depth = phase.timing().mux_to_pointer(stretch.tile);
    for_each_passing(phase, stretch, source,
                     [&](const SendRun& run, std::int64_t item, std::int64_t items, Cycles mux) {
                         check_heard(phase, stretch, source, run, mux);
                         arrivals.push_back({mux + depth, items, source,
                                             run.address + static_cast<Address>(item * 4), 0});
                     });
}

void receive_wide(const Phase& phase, const Stretch& stretch,
                  std::vector<std::vector<Arrival>>& arrivals) {
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
    if (stretch.end - stretch.begin < exchange.pair_min_items)
        phase.fail(stretch.tile, stretch.begin,
                   fmt::format("64-bit receive of {} items, expected at least {}",
                               stretch.end - stretch.begin, exchange.pair_min_items));
    const auto direction = timing.direction(source, stretch.tile);
    // The item is complete when the late member's half is.
    const auto depth = timing.mux_to_pointer(stretch.tile) + (other - own);
    for_each_passing(phase, stretch, source,
                     [&](const SendRun& run, std::int64_t item, std::int64_t items, Cycles mux) {
                         check_heard(phase, stretch, source, run, mux);
                         const Arrival arrival{mux + depth, items, source,
                                               run.address + static_cast<Address>(item * 8),
                                               direction};
                         arrivals[stretch.tile].push_back(arrival);
                         arrivals[*partner].push_back(arrival);
                     });
}

/// A plain mux of either member may neither stand on a source nor be written during a paired
/// stretch.
void check_pair_modes(const Phase& phase, const Stretch& wide, const Stretch* before) {
    const auto pair = wide.tile & ~1U;
    for (const TileId member : {pair, pair + 1}) {
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
    const auto index = walk_of_tile_[tile];
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

std::vector<std::vector<Arrival>> find_arrivals(const Phase& phase) {
    std::vector<std::vector<Arrival>> arrivals(phase.tiles());
    for (const auto& walk : phase.walks())
        for (const auto& stretch : stretches_of(phase, walk, false))
            receive_plain(phase, stretch, arrivals[walk.tile]);
    for (TileId pair = 0; pair + 1 < phase.tiles(); pair += 2) {
        std::vector<Stretch> wide;
        for (const TileId member : {pair, pair + 1})
            if (const auto* walk = phase.walk_of(member); walk != nullptr)
                for (const auto& stretch : stretches_of(phase, *walk, true))
                    wide.push_back(stretch);
        std::sort(wide.begin(), wide.end(),
                  [](const Stretch& a, const Stretch& b) { return a.begin < b.begin; });
        for (std::size_t i = 0; i < wide.size(); ++i) {
            receive_wide(phase, wide[i], arrivals);
            check_pair_modes(phase, wide[i], i > 0 ? &wide[i - 1] : nullptr);
        }
    }
    for (auto& of_tile : arrivals)
        sort_disjoint(of_tile);
    return arrivals;
}

} // namespace tessera::exchange
