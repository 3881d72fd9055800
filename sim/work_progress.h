// SPDX-License-Identifier: MIT
// How far work of many parts is: a line on a terminal that overwrites itself, elsewhere a line every
// half minute.
#pragma once

#include "sim/progress_line.h"

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>

namespace tessera::sim {

class WorkProgress {
public:
    /// `parts` names what is counted, in the plural: "points". A quiet one shows nothing but on a
    /// terminal.
    WorkProgress(std::string parts, bool quiet) : parts_(std::move(parts)), quiet_(quiet) {}

    /// `done` of `all` parts have ended. Contract: at least one.
    void show(std::size_t done, std::size_t all, const std::string& note = {});
    void clear() { line_.clear(); }

private:
    using Clock = std::chrono::steady_clock;

    std::string parts_;
    bool quiet_;
    Clock::time_point start_ = Clock::now();
    static constexpr double kEverySeconds = 30; ///< where there is no terminal
    double next_seconds_ = kEverySeconds;
    ProgressLine line_;
};

/// "12 of 90 points, 0.5 a second, 3 min left", and the note behind a comma.
[[nodiscard]] std::string progress_text(std::size_t done, std::size_t all, const std::string& parts,
                                        double seconds, const std::string& note);

} // namespace tessera::sim
