// SPDX-License-Identifier: MIT
#include "traces/clock.h"

#include "base/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

namespace tessera::traces {

Clock parse_clock(std::string_view text) {
    if (text.empty()) {
        return Clock::Cycles;
    }
    const auto found = std::find(kClockWords.begin(), kClockWords.end(), text);
    if (found == kClockWords.end()) {
        const std::string message =
            fmt::format("got '{}', expected {}", text, fmt::join(kClockWords, " or "));
        throw ConfigError(std::vector<Diagnostic>{{"--trace-clock", 0, 0, "", message, ""}});
    }
    return static_cast<Clock>(found - kClockWords.begin());
}

std::int64_t machine_time(Cycles cycle, double clock_hz, Tick tick) {
    const std::int64_t hz = std::llround(clock_hz);
    TESSERA_ASSERT(cycle >= 0 && hz > 0);
    // A long division, a thousand at a time: the product of cycles and ticks does not fit 64 bits.
    std::int64_t ticks = cycle / hz;
    std::int64_t rest = cycle % hz;
    for (int i = 0; i < static_cast<int>(tick); ++i) {
        rest *= 1000;
        ticks = ticks * 1000 + rest / hz;
        rest %= hz;
    }
    return ticks + (2 * rest >= hz ? 1 : 0);
}

} // namespace tessera::traces
