// SPDX-License-Identifier: MIT
// Adds to a trace the tile of each chip that is critical longest, which is known only when the run has ended.
//
//   producer --> CriticalTile --selected tiles, machine, links--> exporter
//                     |                                              ^
//                     +-- keeps the spans of all other tiles --------+ of one of each chip, at the end
#pragma once

#include "traces/event.h"
#include "traces/selection.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::traces {

/// Spans that are kept at most, of 32 bytes each.
inline constexpr std::size_t kMostKeptSpans = 4'000'000;

/// Contract:
/// - `to` wants all tiles at the level of `selection`, and outlives this.
/// - Where more than `most_kept` spans would be kept, those of the tiles that were critical least so
///   far are dropped.
/// - Arrows (flows) that begin at a tile that is added are not drawn from it: formats want them in
///   order of time.
class CriticalTile final : public TraceSink {
public:
    CriticalTile(TraceSink& to, const Selection& selection, std::size_t most_kept = kMostKeptSpans,
                 std::uint32_t chips = 1);

    void span(const Span& span) override;
    void counter(const CounterSample& sample) override { to_.counter(sample); }

    /// Sends the spans of each chip's tile that was critical longest, the lowest number of equals.
    /// Returns the number of the first one whose spans had been dropped. Nothing may follow.
    [[nodiscard]] std::optional<TileId> finish();

private:
    struct Kept {
        Cycles begin = 0;
        Cycles end = 0;
        std::int64_t times = 1; ///< ArgKey::Times
        NameId name = kUnnamed;
        Kind kind = Kind::Compute;
        Level level = Level::Tile;
        std::uint8_t context = 0;
    };
    /// Where a tile of a chip stands in the lists.
    [[nodiscard]] std::size_t place(std::uint32_t chip, TileId tile) const {
        return chip * selected_.size() + tile;
    }
    [[nodiscard]] std::optional<TileId> finish_chip(std::uint32_t chip);
    void drop_half();
    void drop_all();

    TraceSink& to_;
    std::vector<bool> selected_;          ///< by tile
    std::vector<bool> dropped_;           ///< by place
    std::vector<std::vector<Kept>> kept_; ///< by place
    std::vector<Cycles> critical_cycles_; ///< by place
    std::size_t most_kept_;
    std::uint32_t chips_;
    std::size_t kept_spans_ = 0;
};

} // namespace tessera::traces
