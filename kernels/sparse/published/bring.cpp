// SPDX-License-Identifier: MIT
#include "kernels/sparse/published/emitter.h"
#include "models/timing/tile_position.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace tessera::sparse {

/// Each row of B goes to the tiles of a band whose blocks touch it.
void PublishedEmitter::bring_b(graph::Bringing& bring) {
    const std::vector<published::StaticPart>& parts = layout_.plan.parts;
    for (std::size_t number = 0; number < parts.size(); ++number) {
        const auto part = static_cast<std::int64_t>(number);
        for (const published::StaticBand& band : parts[number].bands) {
            for (std::int64_t i = 0; i < band.columns; ++i) {
                const std::int64_t row = layout_.column_of(band, i);
                layout_.b_homes.cut(layout_.elements_of(row, part),
                                    [&](TileId home, Range run, std::int64_t before) {
                                        send_b(bring, band, row, part, home, run, before);
                                    });
            }
        }
    }
}

/// Elements `run` of a row's part, which stand on tile `home` behind `before` others. A pair takes
/// together what both want of it and one of them does not have to give.
void PublishedEmitter::send_b(graph::Bringing& bring, const published::StaticBand& band,
                              std::int64_t row, std::int64_t part, TileId home, Range run,
                              std::int64_t before) {
    const std::vector<TileBlocks>& tiles = layout_.tiles;
    const Bytes bytes = run.size() * element_;
    const graph::Place from{buffers_.home_b, before * element_};
    const Bytes into = (run.first - layout_.elements_of(row, part).first) * element_;
    std::vector<graph::Receiver> wide;
    std::vector<graph::Receiver> narrow;
    const bool may_be_wide = layout_.sends_wide(home, bytes);
    for (std::int64_t i = 0; i < band.tiles; ++i) {
        const auto tile = static_cast<TileId>(band.first_tile + i);
        const auto slot = tiles[tile].slot_of(static_cast<std::int32_t>(row));
        if (!slot) {
            continue;
        }
        const bool together = may_be_wide && *slot < tiles[tile].together && tile != home &&
                              timing::partner_tile(layout_.machine.chip, tile) != home;
        (together ? wide : narrow)
            .push_back({tile, {buffers_.b, *slot * layout_.line_bytes(part) + into}});
    }
    graph_.add_message(bring.exchange, home, from, bytes, wide, true);
    bring.add(home, from, bytes, narrow);
}

/// Each run of blocks goes to the tiles that use it.
void PublishedEmitter::bring_blocks(graph::Bringing& bring) {
    std::set<std::int64_t> cuts{0};
    std::vector<std::vector<std::pair<Range, TileId>>> users(layout_.plan.parts.size());
    for (TileId tile = 0; tile < layout_.tiles.size(); ++tile) {
        const TileBlocks& mine = layout_.tiles[tile];
        if (!mine.blocks.empty()) {
            const Range span = layout_.values_of(mine);
            cuts.insert({span.first, span.last});
            users[static_cast<std::size_t>(mine.part)].emplace_back(span, tile);
        }
    }
    const auto send = [&](TileId home, Range run, std::int64_t before) {
        std::vector<graph::Receiver> all;
        for (const auto& of_part : users) {
            auto user = std::upper_bound(
                of_part.begin(), of_part.end(), run.first,
                [](std::int64_t at, const auto& one) { return at < one.first.first; });
            while (user != of_part.begin() && (--user)->first.last > run.first) {
                all.push_back(
                    {user->second, {buffers_.values, (run.first - user->first.first) * element_}});
            }
        }
        bring.add(home, {buffers_.home_values, before * element_}, run.size() * element_, all);
    };
    for (auto cut = cuts.begin(); std::next(cut) != cuts.end(); ++cut) {
        layout_.value_homes.cut({*cut, *std::next(cut)}, send);
    }
}

} // namespace tessera::sparse
