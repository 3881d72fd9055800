// SPDX-License-Identifier: MIT
// Which slots of a round the supervisor may issue in: those whose worker does not run, and those that
// have no worker.
#pragma once

#include "base/units.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace tessera::tile {

class WorkerSlots {
public:
    /// `round`: slots of a round, as many as there are workers or more.
    WorkerSlots(std::size_t workers, Cycles round) : round_(round), free_(workers, 0) {}

    /// Frees all of them.
    void clear() {
        std::fill(free_.begin(), free_.end(), 0);
        last_ = 0;
    }
    /// The slot of worker `number` is its own up to here.
    void hold(std::size_t number, Cycles end) {
        const Cycles before = free_[number];
        free_[number] = end;
        last_ = end >= last_      ? end
                : before == last_ ? *std::max_element(free_.begin(), free_.end())
                                  : last_;
    }
    /// From when on the worker does not run.
    [[nodiscard]] Cycles free_from(std::size_t number) const { return free_[number]; }
    [[nodiscard]] bool is_held(std::size_t number, Cycles cycle) const {
        return free_[number] > cycle;
    }
    [[nodiscard]] std::size_t workers() const { return free_.size(); }
    /// From when on no worker runs.
    [[nodiscard]] Cycles all_free_from() const { return last_; }
    [[nodiscard]] bool any_held(Cycles cycle) const { return last_ > cycle; }
    /// Whether the supervisor may issue in this clock.
    [[nodiscard]] bool is_free(Cycles cycle) const {
        if (last_ <= cycle) {
            return true;
        }
        const auto slot = static_cast<std::size_t>(cycle % round_);
        return slot >= free_.size() || free_[slot] <= cycle;
    }
    /// The first clock from `cycle` on in which it may.
    [[nodiscard]] Cycles next_free(Cycles cycle) const {
        for (Cycles at = cycle; at < cycle + round_; ++at) {
            if (is_free(at)) {
                return at;
            }
        }
        return next_free(*std::min_element(free_.begin(), free_.end()));
    }

private:
    Cycles round_;
    Cycles last_ = 0;
    std::vector<Cycles> free_; ///< by worker
};

} // namespace tessera::tile
