// SPDX-License-Identifier: MIT
// How far work of many parts is, a sweep or a calibration: a line on a terminal that overwrites itself;
// elsewhere a line now and then, so that a log shows that something goes on and short work says
// nothing.
#pragma once

#include "sim/process/progress_line.h"

#include <chrono>
#include <cstddef>
#include <map>
#include <string>

namespace tessera::process {

/// What is known of work that goes on.
struct Progress {
    std::size_t parts = 0;
    std::size_t done = 0;
    std::map<std::string, std::size_t> not_ok; ///< of those, by status
    double seconds = 0;                        ///< since its start
    const char* part = "point";                ///< what a part is called
};

/// "12 of 95 points, 3.1 a second, 27 s left, 5 not ok: 4 does_not_fit, 1 fault"
[[nodiscard]] std::string progress_text(const Progress& progress);

/// "3 s", "12 min", "2.5 h".
[[nodiscard]] std::string duration_text(double seconds);

/// Which lines of a log are due: one at each tenth of the parts, none within a second of another,
/// and one after half a minute without any.
class LogPace {
public:
    [[nodiscard]] bool is_due(const Progress& progress);

private:
    double last_s_ = 0;
    std::size_t last_tenths_ = 0;
};

/// Shows it on stderr while it lives.
class ProgressShow {
public:
    ProgressShow(const char* part, std::size_t parts, bool quiet);

    /// One more part; `failed` says how where it did.
    void ended(const std::string& failed);
    /// Called now and then meanwhile.
    void tick();

private:
    bool quiet_;
    ProgressLine line_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    Progress progress_;
    LogPace pace_;
};

} // namespace tessera::process
