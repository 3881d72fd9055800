// SPDX-License-Identifier: MIT
// Adds to a trace the tile that is critical longest, which is known only when the run has ended.
//
//   producer --> CriticalTile --selected tiles, machine, links--> exporter
//                     |                                              ^
//                     +-- keeps the spans of all other tiles --------+ of one of them, at the end
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
/// - Spans are of one chip.
/// - `to` wants all tiles at the level of `selection`, and outlives this.
/// - Where more than `most_kept` spans would be kept, those of the tiles that were critical least so
///   far are dropped.
/// - Arrows (flows) that begin at a tile that is added are not drawn from it: formats want them in
///   order of time.
class CriticalTile final : public TraceSink {
public:
    CriticalTile(TraceSink& to, const Selection& selection, std::size_t most_kept = kMostKeptSpans);

    void span(const Span& span) override;
    void counter(const CounterSample& sample) override { to_.counter(sample); }

    /// Sends the spans of the tile that was critical longest, the lowest number of equals. Returns
    /// its number where they had been dropped. Nothing may follow.
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
    void drop_half();
    void drop_all();

    TraceSink& to_;
    std::vector<bool> selected_;
    std::vector<bool> dropped_;           ///< by tile
    std::vector<std::vector<Kept>> kept_; ///< by tile
    std::vector<Cycles> critical_cycles_; ///< by tile
    std::size_t most_kept_;
    std::uint32_t chip_ = 0; ///< whose the spans are
    std::size_t kept_spans_ = 0;
};

} // namespace tessera::traces
