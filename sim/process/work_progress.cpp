// SPDX-License-Identifier: MIT
#include "sim/process/work_progress.h"

#include "base/text.h"
#include "sim/process/exit_code.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace tessera::process {

std::string duration_text(double seconds) {
    constexpr double kMinute = 60;
    constexpr double kHour = 3600;
    return seconds < 2 * kMinute ? fmt::format("{:.0f} s", std::ceil(seconds))
           : seconds < 2 * kHour ? fmt::format("{:.0f} min", seconds / kMinute)
                                 : fmt::format("{:.1f} h", seconds / kHour);
}

std::string progress_text(const Progress& progress) {
    std::string text = fmt::format("{} of {}", grouped(static_cast<std::int64_t>(progress.done)),
                                   counted(progress.parts, progress.part));
    if (progress.done == 0) {
        return text + fmt::format(" in {}", duration_text(progress.seconds));
    }
    const auto done = static_cast<double>(progress.done);
    const auto left = static_cast<double>(progress.parts - progress.done);
    text += fmt::format(", {:.3g} a second, {} left", done / progress.seconds,
                        duration_text(progress.seconds / done * left));
    std::size_t failed = 0;
    std::string by_status;
    for (const auto& [status, count] : progress.not_ok) {
        failed += count;
        by_status += fmt::format("{}{} {}", by_status.empty() ? "" : ", ", count, status);
    }
    return text + (failed == 0 ? "" : fmt::format(", {} not ok: {}", failed, by_status));
}

bool LogPace::is_due(const Progress& progress) {
    constexpr double kLeast = 1;
    constexpr double kMost = 30;
    if (progress.done == progress.parts) { // what came of it is told
        return false;
    }
    const double since = progress.seconds - last_s_;
    const std::size_t tenths = 10 * progress.done / progress.parts;
    if (since < kMost && (since < kLeast || tenths == last_tenths_)) {
        return false;
    }
    last_s_ = progress.seconds;
    last_tenths_ = tenths;
    return true;
}

ProgressShow::ProgressShow(const char* part, std::size_t parts, bool quiet) : quiet_(quiet) {
    progress_.part = part;
    progress_.parts = parts;
}

void ProgressShow::ended(const std::string& failed) {
    ++progress_.done;
    if (!failed.empty()) {
        ++progress_.not_ok[failed];
    }
    tick();
}

void ProgressShow::tick() {
    progress_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    if (line_.on_terminal()) {
        line_.show(progress_text(progress_));
    } else if (!quiet_ && pace_.is_due(progress_)) {
        tell(progress_text(progress_) + "\n");
    }
}

} // namespace tessera::process
