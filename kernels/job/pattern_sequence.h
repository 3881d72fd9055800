// SPDX-License-Identifier: MIT
// The patterns of a sparse tensor of a run, one after the other, with its values and with others that
// have its patterns: state of its optimiser.
#pragma once

#include "kernels/family/family.h"
#include "kernels/pattern/schedule.h"

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
        /// The values of each of the others, in the same form.
        std::vector<std::vector<std::byte>> states = {};
    };

    /// Begins with `first`, whose values may not be known, and with others of its pattern and type.
    explicit PatternSequence(family::Value first, std::vector<std::vector<std::byte>> states = {})
        : now_(std::move(first)), states_(std::move(states)) {}

    [[nodiscard]] const family::Value& now() const { return now_; }
    /// The others, by the blocks of now(). One whose values are not known is empty.
    [[nodiscard]] const std::vector<std::vector<std::byte>>& states() const { return states_; }
    /// How many changes there were.
    [[nodiscard]] std::int64_t changes() const { return changes_; }
    /// Blocks that went in each change. One that was pruned and regrown at once counts too.
    [[nodiscard]] const std::vector<std::int64_t>& went() const { return went_; }
    /// Whether a schedule goes by what was not known.
    [[nodiscard]] bool is_drawn_instead() const { return is_drawn_instead_; }

    /// Goes on to the pattern that the schedule makes of what was left.
    void change(const workload::Schedule& schedule, const Left& left);
    /// Goes on to a pattern that is given, with values. Of what was left states alone count.
    void take(family::Value next, const Left& left);

private:
    void move_states(const pattern::PatternChange& change, const Left& left);

    family::Value now_;
    std::vector<std::vector<std::byte>> states_;
    std::int64_t changes_ = 0;
    std::vector<std::int64_t> went_;
    bool is_drawn_instead_ = false;
};

} // namespace tessera::job
