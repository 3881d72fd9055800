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
    /// What the run has left for the next change.
    struct Left {
        std::vector<std::byte> values; ///< by blocks; empty: they are not known
        /// Norms of the gradient's blocks in binary32, of the whole grid, row-major; empty: the same.
        std::vector<std::byte> gradients = {};
    };

    /// Begins with `first`, whose values may not be known.
    explicit PatternSequence(family::Value first) : now_(std::move(first)) {}

    [[nodiscard]] const family::Value& now() const { return now_; }
    /// How many changes there were.
    [[nodiscard]] std::int64_t changes() const { return changes_; }
    /// Blocks that went in each change. One that was pruned and regrown at once counts too.
    [[nodiscard]] const std::vector<std::int64_t>& went() const { return went_; }
    /// Whether a schedule goes by what was not known.
    [[nodiscard]] bool is_drawn_instead() const { return is_drawn_instead_; }

    /// Goes on to the pattern that the schedule makes of what was left.
    void change(const workload::Schedule& schedule, const Left& left);
    /// Goes on to a pattern that is given.
    void take(family::Value next);

private:
    family::Value now_;
    std::int64_t changes_ = 0;
    std::vector<std::int64_t> went_;
    bool is_drawn_instead_ = false;
};

} // namespace tessera::job
