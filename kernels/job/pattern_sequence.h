// SPDX-License-Identifier: MIT
// The patterns of a sparse tensor of a run, one after the other, with its values.
#pragma once

#include "kernels/family/family.h"
#include "kernels/workload/schedule.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::job {

class PatternSequence {
public:
    /// Begins with `first`, whose values may not be known.
    PatternSequence(const workload::Schedule& schedule, family::Value first)
        : schedule_(schedule), now_(std::move(first)) {}

    [[nodiscard]] const family::Value& now() const { return now_; }
    /// How many changes there were, and blocks that went in the last one.
    [[nodiscard]] std::int64_t changes() const { return changes_; }
    [[nodiscard]] std::int64_t went() const { return went_; }
    /// Whether the schedule goes by values and there were none.
    [[nodiscard]] bool is_drawn_instead() const { return is_drawn_instead_; }

    /// Goes on to the next pattern. `trained`: the values by blocks, as the run has left them; empty: they
    /// are not known.
    void change(const std::vector<std::byte>& trained);

private:
    workload::Schedule schedule_;
    family::Value now_;
    std::int64_t changes_ = 0;
    std::int64_t went_ = 0;
    bool is_drawn_instead_ = false;
};

} // namespace tessera::job
