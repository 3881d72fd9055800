// SPDX-License-Identifier: MIT
// Host seconds. Never in a result but under `host`.
#pragma once

#include <chrono>

namespace tessera {

class Stopwatch {
public:
    /// Seconds since construction or the last call.
    double lap() {
        const auto now = Clock::now();
        const std::chrono::duration<double> seconds = now - last_;
        last_ = now;
        return seconds.count();
    }

private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point last_ = Clock::now();
};

} // namespace tessera
