// SPDX-License-Identifier: MIT
#include "traces/critical_tile.h"

#include <algorithm>

namespace tessera::traces {

CriticalTile::CriticalTile(TraceSink& to, const Selection& selection, std::size_t most_kept,
                           std::uint32_t chips)
    : TraceSink(selection.level, std::vector<bool>(selection.tiles.size(), true)), to_(to),
      selected_(selection.tiles), dropped_(chips * selected_.size()), kept_(dropped_.size()),
      critical_cycles_(dropped_.size()), most_kept_(most_kept), chips_(chips) {}

void CriticalTile::span(const Span& span) {
    const Track& track = span.track;
    if (track.level == Level::Machine) {
        if (track.of_chip(0) == slowest_track()) {
            if (const auto tile = span.arg(ArgKey::Tile)) {
                critical_cycles_.at(place(track.chip, static_cast<TileId>(*tile))) +=
                    span.end - span.begin;
            }
        }
        to_.span(span);
        return;
    }
    if (!to_.wants(track)) { // it has been cut
        stop_finer_levels();
        drop_all();
        return;
    }
    const std::size_t at = place(track.chip, track.tile);
    if (selected_[track.tile]) {
        to_.span(span);
    } else if (!dropped_[at] && span.begin < span.end) {
        kept_[at].push_back({span.begin, span.end, span.arg(ArgKey::Times).value_or(1), span.name,
                             span.kind, track.level, track.context});
        if (++kept_spans_ > most_kept_) {
            drop_half();
        }
    }
}

std::optional<TileId> CriticalTile::finish() {
    std::optional<TileId> missing;
    for (std::uint32_t chip = 0; chip < chips_; ++chip) {
        const auto lacks = finish_chip(chip);
        missing = missing ? missing : lacks;
    }
    return missing;
}

std::optional<TileId> CriticalTile::finish_chip(std::uint32_t chip) {
    const auto begin = critical_cycles_.begin() + static_cast<std::ptrdiff_t>(place(chip, 0));
    const auto end = begin + static_cast<std::ptrdiff_t>(selected_.size());
    const auto most = std::max_element(begin, end);
    if (most == end || *most == 0) {
        return std::nullopt;
    }
    const auto tile = static_cast<TileId>(most - begin);
    if (selected_[tile] || !wants(tile_track(tile))) {
        return std::nullopt;
    }
    if (dropped_[place(chip, tile)]) {
        return tile;
    }
    for (const Kept& kept : kept_[place(chip, tile)]) {
        to_.span({.track = {kept.level, kept.context, tile, chip},
                  .kind = kept.kind,
                  .name = kept.name,
                  .begin = kept.begin,
                  .end = kept.end,
                  .args = {{kept.times > 1 ? Arg{ArgKey::Times, kept.times} : Arg{}}}});
    }
    return std::nullopt;
}

/// Of the tiles that are kept, those that were critical for fewest cycles; of equals the higher.
void CriticalTile::drop_half() {
    std::vector<std::size_t> places;
    for (std::size_t at = 0; at < kept_.size(); ++at) {
        if (!selected_[at % selected_.size()] && !dropped_[at]) {
            places.push_back(at);
        }
    }
    std::stable_sort(places.begin(), places.end(), [this](std::size_t left, std::size_t right) {
        return critical_cycles_[left] > critical_cycles_[right];
    });
    for (std::size_t i = places.size() / 2; i < places.size(); ++i) {
        dropped_[places[i]] = true;
        kept_spans_ -= kept_[places[i]].size();
        std::vector<Kept>().swap(kept_[places[i]]);
    }
}

void CriticalTile::drop_all() {
    dropped_.assign(dropped_.size(), true);
    kept_.assign(kept_.size(), {});
    kept_spans_ = 0;
}

} // namespace tessera::traces
