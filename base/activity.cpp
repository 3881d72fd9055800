// SPDX-License-Identifier: MIT
#include "base/activity.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <thread>

namespace tessera {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kMostLevels = 8;

struct Level {
    std::atomic<const char*> what{nullptr};
    std::atomic<std::int64_t> done{0};
    std::atomic<std::int64_t> total{0};
    std::atomic<const char*> unit{nullptr};
    std::atomic<std::int64_t> units{0};
    std::atomic<Clock::time_point> begin{};
};

std::array<Level, kMostLevels> levels;
std::atomic<int> depth{0};
std::atomic<std::thread::id> owner{}; ///< of the outermost

/// The level of a new activity, or -1.
int entered() {
    const int level = depth.load();
    if (level == 0) {
        owner.store(std::this_thread::get_id());
    } else if (owner.load() != std::this_thread::get_id()) {
        return -1;
    }
    return level < kMostLevels ? level : -1;
}

} // namespace

Activity::Activity(const char* what, std::int64_t total, const char* unit) : level_(entered()) {
    if (level_ >= 0) {
        Level& mine = levels.at(static_cast<std::size_t>(level_));
        mine.what.store(what);
        mine.done.store(0);
        mine.total.store(total);
        mine.unit.store(unit);
        mine.units.store(0);
        mine.begin.store(Clock::now());
        depth.store(level_ + 1);
    }
}

Activity::~Activity() {
    if (level_ >= 0) {
        depth.store(level_);
    }
}

void Activity::step(std::int64_t steps) const {
    if (level_ >= 0) {
        levels.at(static_cast<std::size_t>(level_))
            .done.fetch_add(steps, std::memory_order_relaxed);
    }
}

void Activity::at(std::int64_t done, std::int64_t total, std::int64_t units) const {
    if (level_ >= 0) {
        Level& mine = levels.at(static_cast<std::size_t>(level_));
        mine.done.store(done, std::memory_order_relaxed);
        mine.total.store(total, std::memory_order_relaxed);
        mine.units.store(units, std::memory_order_relaxed);
    }
}

std::vector<ActivityState> current_activities() {
    std::vector<ActivityState> states;
    const Clock::time_point now = Clock::now();
    const int known = std::min(depth.load(), kMostLevels);
    for (int level = 0; level < known; ++level) {
        const Level& one = levels.at(static_cast<std::size_t>(level));
        states.push_back(
            {.what = one.what.load(),
             .done = one.done.load(),
             .total = one.total.load(),
             .unit = one.unit.load(),
             .units = one.units.load(),
             .seconds = std::chrono::duration<double>(now - one.begin.load()).count()});
    }
    return states;
}

} // namespace tessera
