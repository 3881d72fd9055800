// SPDX-License-Identifier: MIT
// What the process is busy with, for whoever shows it to people who wait. Long work says what it is
// by an Activity that lives as long; nobody is called, and nothing is printed here.
//
// Contract:
// - `what` is a literal, in words that go on with "...": "planning exchanges";
// - activities are made and ended on one thread, that of the outermost, the last made first; those
//   of other threads are ignored;
// - `unit` is a literal, too: what else is counted, in the plural, "cycles";
// - step() may be called from any thread. It costs an atomic addition: once a row or a message, not
//   once an element.
#pragma once

#include <cstdint>
#include <vector>

namespace tessera {

class Activity {
public:
    /// `total` steps in all; 0: not known. `unit`: null where nothing else is counted.
    explicit Activity(const char* what, std::int64_t total = 0, const char* unit = nullptr);
    ~Activity();
    Activity(const Activity&) = delete;
    Activity& operator=(const Activity&) = delete;

    void step(std::int64_t steps = 1) const;
    /// So many steps in all are done, of `total`, and so many units.
    void at(std::int64_t done, std::int64_t total, std::int64_t units = 0) const;

private:
    int level_; ///< -1: ignored
};

struct ActivityState {
    const char* what = nullptr;
    std::int64_t done = 0;
    std::int64_t total = 0; ///< 0: not known
    const char* unit = nullptr;
    std::int64_t units = 0;
    double seconds = 0; ///< since its begin
};

/// The activities that go on, the outermost first. From any thread; what changes meanwhile may be
/// seen half changed.
[[nodiscard]] std::vector<ActivityState> current_activities();

} // namespace tessera
