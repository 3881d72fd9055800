// SPDX-License-Identifier: MIT
#include "traces/critical_tile.h"

#include <algorithm>

namespace tessera::traces {

CriticalTile::CriticalTile(TraceSink& to, const Selection& selection, std::size_t most_kept)
    : TraceSink(selection.level, std::vector<bool>(selection.tiles.size(), true)), to_(to),
      selected_(selection.tiles), dropped_(selected_.size()), kept_(selected_.size()),
      critical_cycles_(selected_.size()), most_kept_(most_kept) {}

void CriticalTile::span(const Span& span) {
    const Track& track = span.track;
    chip_ = track.chip;
    if (track.level == Level::Machine) {
        if (track.of_chip(0) == slowest_track()) {
            if (const auto tile = span.arg(ArgKey::Tile)) {
                critical_cycles_.at(static_cast<std::size_t>(*tile)) += span.end - span.begin;
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
    if (selected_[track.tile]) {
        to_.span(span);
    } else if (!dropped_[track.tile] && span.begin < span.end) {
        kept_[track.tile].push_back({span.begin, span.end, span.arg(ArgKey::Times).value_or(1),
                                     span.name, span.kind, track.level, track.context});
        if (++kept_spans_ > most_kept_) {
            drop_half();
        }
    }
}

std::optional<TileId> CriticalTile::finish() {
    const auto most = std::max_element(critical_cycles_.begin(), critical_cycles_.end());
    if (most == critical_cycles_.end() || *most == 0) {
        return std::nullopt;
    }
    const auto tile = static_cast<TileId>(most - critical_cycles_.begin());
    if (selected_[tile] || !wants(tile_track(tile))) {
        return std::nullopt;
    }
    if (dropped_[tile]) {
        return tile;
    }
    for (const Kept& kept : kept_[tile]) {
        to_.span({.track = {kept.level, kept.context, tile, chip_},
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
    std::vector<TileId> tiles;
    for (TileId tile = 0; tile < kept_.size(); ++tile) {
        if (!selected_[tile] && !dropped_[tile]) {
            tiles.push_back(tile);
        }
    }
    std::stable_sort(tiles.begin(), tiles.end(), [this](TileId left, TileId right) {
        return critical_cycles_[left] > critical_cycles_[right];
    });
    for (std::size_t i = tiles.size() / 2; i < tiles.size(); ++i) {
        dropped_[tiles[i]] = true;
        kept_spans_ -= kept_[tiles[i]].size();
        std::vector<Kept>().swap(kept_[tiles[i]]);
    }
}

void CriticalTile::drop_all() {
    dropped_.assign(dropped_.size(), true);
    kept_.assign(kept_.size(), {});
    kept_spans_ = 0;
}

} // namespace tessera::traces
