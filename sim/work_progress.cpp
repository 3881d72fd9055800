// SPDX-License-Identifier: MIT
#include "sim/work_progress.h"

#include "base/text.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <cstdio>

namespace tessera::sim {
namespace {

/// "3 s", "12 min", "2.5 h".
std::string duration_text(double seconds) {
    constexpr double kMinute = 60;
    constexpr double kHour = 3600;
    return seconds < 2 * kMinute ? fmt::format("{:.0f} s", std::ceil(seconds))
           : seconds < 2 * kHour ? fmt::format("{:.0f} min", seconds / kMinute)
                                 : fmt::format("{:.1f} h", seconds / kHour);
}

} // namespace

std::string progress_text(std::size_t done, std::size_t all, const std::string& parts,
                          double seconds, const std::string& note) {
    const double rate = static_cast<double>(done) / seconds;
    return fmt::format(
        "{} of {} {}, {:.3g} a second, {} left{}{}", grouped(static_cast<std::int64_t>(done)),
        grouped(static_cast<std::int64_t>(all)), parts, rate,
        duration_text(static_cast<double>(all - done) / rate), note.empty() ? "" : ", ", note);
}

void WorkProgress::show(std::size_t done, std::size_t all, const std::string& note) {
    const std::chrono::duration<double> since = Clock::now() - start_;
    const std::string text = progress_text(done, all, parts_, since.count(), note);
    if (line_.on_terminal()) {
        line_.show(text);
    } else if (!quiet_ && since.count() >= next_seconds_) {
        next_seconds_ = since.count() + kEverySeconds;
        std::fputs((text + "\n").c_str(), stderr);
    }
}

} // namespace tessera::sim
