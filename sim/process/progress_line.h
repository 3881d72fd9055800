// SPDX-License-Identifier: MIT
// A line on a terminal that overwrites itself, ten times a second at most, and is gone at the end;
// nothing where stderr is no terminal.
#pragma once

#include "base/activity.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace tessera::process {

class ProgressLine {
public:
    ProgressLine();
    ~ProgressLine() { clear(); }
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    [[nodiscard]] bool on_terminal() const { return on_terminal_; }
    void show(const std::string& text);
    void clear();

private:
    bool on_terminal_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// For signal handlers: as clear() of a line that is shown.
void clear_progress_line_at_once() noexcept;

/// Shows the process's activities (base/activity.h) on such a line while it lives. A thread looks
/// at them, so that whoever works pays nothing for it.
class ActivityWatch {
public:
    /// `name` stands in front: of the workload. A watch that is not `wanted` shows nothing.
    explicit ActivityWatch(std::string name, bool wanted = true);
    ~ActivityWatch();
    ActivityWatch(const ActivityWatch&) = delete;
    ActivityWatch& operator=(const ActivityWatch&) = delete;

private:
    void watch();

    std::string name_;
    ProgressLine line_;
    std::mutex mutex_;
    std::condition_variable ev_ended_;
    bool ended_ = false;
    std::thread thread_;
};

/// "simulating, step 12 of 95, 1,230,000 cycles a second, some 27 s left"
[[nodiscard]] std::string state_text(const ActivityState& state);

/// What such a line says of all that goes on, cut to `columns`; empty where nothing goes on.
[[nodiscard]] std::string activity_text(const std::string& name, std::size_t columns);

} // namespace tessera::process
