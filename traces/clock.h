// SPDX-License-Identifier: MIT
// What the time of a trace is: cycles, or the machine's own time.
#pragma once

#include "base/units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tessera::traces {

/// The option --trace-clock.
enum class Clock : std::uint8_t {
    Cycles, ///< 1 ns in the viewer is 1 tile cycle
    Machine ///< cycle c is at c / clock_hz seconds
};
inline constexpr std::array<std::string_view, 2> kClockWords = {"cycles", "machine"};
[[nodiscard]] constexpr std::string_view word(Clock clock) {
    return kClockWords[static_cast<std::size_t>(clock)];
}
/// The clock that is called `text`; empty for Clock::Cycles. @throws ConfigError, in which the
/// file is the option's name
[[nodiscard]] Clock parse_clock(std::string_view text);

/// Ticks that a second is divided into, as a power of 1000.
enum class Tick : std::uint8_t { Nanosecond = 3, Picosecond = 4 };

/// When `cycle` begins on a machine of `clock_hz` (taken as a whole number), to the nearest tick,
/// halves up. It never falls from a cycle to the next, so what does not overlap in cycles does not
/// in ticks.
[[nodiscard]] std::int64_t machine_time(Cycles cycle, double clock_hz, Tick tick);

} // namespace tessera::traces
