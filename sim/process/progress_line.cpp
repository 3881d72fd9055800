// SPDX-License-Identifier: MIT
#include "sim/process/progress_line.h"

#include "base/text.h"
#include "base/utf8.h"
#include "sim/process/screen.h"
#include "sim/process/work_progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <unistd.h>
#include <utility>

namespace tessera::process {
namespace {

constexpr std::chrono::milliseconds kPeriod{100};

/// Of the process's one terminal.
std::atomic<bool> shown{false};

/// Past stdio: the watching thread may hold its lock where the process forks, and a signal may come
/// anywhere.
void put(const std::string& text) {
    // a terminal that takes nothing has nobody to tell
    static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
}

constexpr double kLeastSeconds = 2;

/// Three digits of it: "1,230,000".
std::string rounded(double number) {
    const double unit = std::pow(10.0, std::floor(std::log10(std::max(number, 1.0))) - 2);
    return grouped(unit <= 1 ? std::llround(number)
                             : std::llround(number / unit) * std::llround(unit));
}

} // namespace

ProgressLine::ProgressLine() : on_terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressLine::show(const std::string& text) {
    const auto now = std::chrono::steady_clock::now();
    if (!on_terminal_ || now - last_ < kPeriod) {
        return;
    }
    last_ = now;
    shown.store(true);
    put("\r\033[K" + text);
}

void ProgressLine::clear() {
    if (on_terminal_) {
        clear_progress_line_at_once();
    }
}

void clear_progress_line_at_once() noexcept {
    if (shown.exchange(false)) {
        static_cast<void>(!write(STDERR_FILENO, "\r\033[K", 4));
    }
}

ActivityWatch::ActivityWatch(std::string name, bool wanted) : name_(std::move(name)) {
    if (wanted && line_.on_terminal()) {
        thread_ = std::thread([this] { watch(); });
    }
}

ActivityWatch::~ActivityWatch() {
    if (thread_.joinable()) {
        {
            const std::lock_guard lock(mutex_);
            ended_ = true;
        }
        ev_ended_.notify_one();
        thread_.join();
    }
}

void ActivityWatch::watch() {
    std::string last;
    std::unique_lock lock(mutex_);
    while (!ev_ended_.wait_for(lock, kPeriod, [this] { return ended_; })) {
        std::string now = activity_text(name_, layout_of(stderr).columns - 1);
        if (now != last) {
            line_.show(now);
            last = std::move(now);
        }
    }
}

std::string activity_text(const std::string& name, std::size_t columns) {
    std::string text;
    for (const ActivityState& state : current_activities()) {
        text += ": " + state_text(state);
    }
    return text.empty() ? text : clipped(name + text, std::max<std::size_t>(columns, 3));
}

std::string state_text(const ActivityState& state) {
    std::string text = state.what;
    const std::int64_t done = std::min(state.done, state.total);
    if (state.total > 0) {
        text += fmt::format(" {} of {}", done, state.total);
    } else if (state.done > 0) {
        text += fmt::format(" {}", state.done);
    }
    if (state.seconds < kLeastSeconds) {
        return text; // a rate of so little says nothing
    }
    if (state.units > 0) {
        text += fmt::format(", {} {} a second",
                            rounded(static_cast<double>(state.units) / state.seconds), state.unit);
    }
    if (done > 0 && done < state.total) {
        const auto behind = static_cast<double>(done);
        const auto ahead = static_cast<double>(state.total - done);
        text += fmt::format(", some {} left", duration_text(state.seconds / behind * ahead));
    }
    return text;
}

} // namespace tessera::process
