// SPDX-License-Identifier: MIT
// Codes say what buckets do behind the distribution, one thing after another, until each tile has
// seen the blocks of its part. Source: docs/published_plans.md#buckets.
//
// All buckets move by one part of rows (x) or of columns (y), or every tile looks through those that
// its z tiles have at the time. A bucket that moves goes from one of two buffers to the other. Passes
// that write to buckets follow the codes of the way back, too: one part back along x or y, or on
// along z.
#pragma once

#include "kernels/dynamic/encode.h"
#include "kernels/dynamic/published/planner.h"

#include <cstdint>
#include <set>
#include <utility>
#include <vector>

namespace tessera::dynamic {

/// Bits of a code; the control program has a word for each. Codelet: dynamic_next.S.
struct TravelCode {
    static constexpr std::uint32_t kMore = 1;    ///< there is something to do
    static constexpr std::uint32_t kScan = 2;    ///< not a move
    static constexpr std::uint32_t kAlongX = 4;  ///< a move along x, not y
    static constexpr std::uint32_t kSecond = 8;  ///< buckets stand in the second buffer
    static constexpr std::uint32_t kAtHome = 16; ///< or still at home
    static constexpr std::uint32_t kBack = 32;   ///< there is something to do on the way back
    static constexpr std::uint32_t kAlongZ = 64; ///< a move of the way back along z
    static constexpr std::int64_t kBits = 7;
};

/// How far blocks are from their part along x and along y; none is at home.
using Ways = std::set<std::pair<std::int64_t, std::int64_t>>;
/// Until all of them have been seen.
[[nodiscard]] Travel travel_of(const Split& split, const Ways& ways);

/// The codes of a pattern: the way there, the way back, then one without kMore and kBack, which says
/// where buckets stand.
[[nodiscard]] std::vector<std::uint32_t> travel_codes(const Split& split, const Travel& travel);
/// So many at most, for any pattern.
[[nodiscard]] std::int64_t most_travel_codes(const Split& split);

/// Words of the control tile: one for each bit, the number of the next code, the codes.
inline constexpr std::int64_t kTravelWords = TravelCode::kBits + 1;
/// They stand at the first code, as dynamic_next.S leaves them behind the last one.
[[nodiscard]] std::vector<std::uint32_t> travel_words(const Split& split, const Travel& travel);

} // namespace tessera::dynamic
