// SPDX-License-Identifier: MIT
// Tracks as numbers, and how viewers order them: the same in all formats.
#pragma once

#include "traces/event.h"

#include <cstdint>

namespace tessera::traces {

// Numbers of a chip's tracks lie behind those of the chips before it.
inline constexpr unsigned kChipShift = 40;
[[nodiscard]] constexpr std::uint64_t number_of_chip(std::uint64_t number, std::uint32_t chip) {
    return (std::uint64_t{chip} << kChipShift) + number;
}

// Tile tracks begin at 256; 0 means no track to Perfetto and the idle thread to Chrome's viewers.
inline constexpr std::uint64_t kProcessNumber = 1;
inline constexpr std::uint64_t kMachineNumber = 2;
inline constexpr std::uint64_t kTilesNumber = 3;
inline constexpr std::uint64_t kNotesNumber = 4;
inline constexpr std::uint64_t kRunNumber = 5;
inline constexpr std::uint64_t kFirstCounterNumber = 16;
inline constexpr std::uint64_t kFirstLinkNumber = 32;

// Behind those of all tiles, by the number of the other chip.
inline constexpr std::uint64_t kFirstEdgeNumber = std::uint64_t{1} << 28U;
inline constexpr std::uint64_t kFirstLinkTrackNumber = std::uint64_t{1} << 29U;

/// The same for a track of each chip.
[[nodiscard]] constexpr std::uint64_t number_in_chip(Track track) {
    if (is_link(track)) {
        return kFirstLinkTrackNumber + 2 * std::uint64_t{track.tile} + track.context -
               kFirstLinkContext;
    }
    if (track.level == Level::Machine) {
        return track.of_chip(0) == machine_track() ? kMachineNumber
                                                   : kFirstLinkNumber + track.context;
    }
    const std::uint64_t tile = (std::uint64_t{track.tile} + 1) << 8U;
    if (track.level == Level::Tile) {
        return tile;
    }
    return track.context == kSupervisorContext ? tile + 255 : tile + 1 + track.context;
}
[[nodiscard]] constexpr std::uint64_t track_number(Track track) {
    return number_of_chip(number_in_chip(track), track.chip);
}
[[nodiscard]] constexpr std::uint64_t track_number(const CounterSample& sample) {
    const std::uint64_t number =
        sample.counter == Counter::EdgeBytes
            ? kFirstEdgeNumber + sample.to
            : kFirstCounterNumber + static_cast<std::uint64_t>(sample.counter);
    return number_of_chip(number, sample.chip);
}

// Among the parts of the machine; tiles go by their number, contexts by theirs.
inline constexpr int kRunRank = 0;
inline constexpr int kFirstCounterRank = 1;
inline constexpr int kFirstLinkRank = 8;
inline constexpr int kMachineRank = 16;
inline constexpr int kTilesRank = 17;
inline constexpr int kNotesRank = 18;
inline constexpr int kFirstLinkTrackRank = 32;
inline constexpr int kFirstEdgeRank = 1 << 16;

[[nodiscard]] constexpr int rank(Track track) {
    if (is_link(track)) {
        return kFirstLinkTrackRank + 2 * static_cast<int>(track.tile) + track.context -
               kFirstLinkContext;
    }
    if (track.level == Level::Machine) {
        return track.of_chip(0) == machine_track() ? kMachineRank : kFirstLinkRank + track.context;
    }
    return track.level == Level::Tile ? static_cast<int>(track.tile) : int{track.context};
}
[[nodiscard]] constexpr int rank(const CounterSample& sample) {
    return sample.counter == Counter::EdgeBytes
               ? kFirstEdgeRank + static_cast<int>(sample.to)
               : kFirstCounterRank + static_cast<int>(sample.counter);
}

/// The track of the tile that `track` lies below, or is.
[[nodiscard]] constexpr Track tile_of(Track track) {
    return tile_track(track.tile).of_chip(track.chip);
}

} // namespace tessera::traces
