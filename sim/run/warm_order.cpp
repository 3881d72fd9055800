// SPDX-License-Identifier: MIT
#include "sim/run/warm_order.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace tessera::run {
namespace {

constexpr std::size_t kFewestSchedules = 4; // for fewer the wait for the first plan costs more
constexpr std::size_t kMostOperands = 8;    // of memory

/// Runs with one key.
using Group = std::vector<std::size_t>;

bool succeeds(const std::function<void(std::size_t)>& make, std::size_t run) {
    try {
        make(run);
        return true;
    } catch (...) {
        return false;
    }
}

class WarmOrder {
public:
    WarmOrder(const std::vector<std::optional<WarmKeys>>& runs, const WarmSteps& steps)
        : runs_(runs), steps_(steps), started_(runs.size()) {
        for (std::size_t run = 0; run < runs_.size(); ++run) {
            if (const auto& keys = runs_[run]) {
                operands_[keys->operands].push_back(run);
                plans_[keys->plan].push_back(run);
                schedules_[{keys->operands, keys->schedule}].push_back(run);
            }
        }
    }

    void start_all() {
        for (std::size_t run = 0; run < runs_.size(); ++run) {
            if (runs_[run]) {
                start(run);
            }
        }
    }

private:
    void start(std::size_t run) {
        if (started_[run]) {
            return;
        }
        const bool has_operands = make_operands(operands_.at(runs_[run]->operands));
        const Group& with_equal_plans = plans_.at(runs_[run]->plan);
        if (with_equal_plans.size() > 1) {
            if (succeeds(steps_.make_plan, run)) {
                for (const std::size_t other : with_equal_plans) {
                    if (other != run) {
                        steps_.share_plan(other, run);
                    }
                }
            }
        } else if (has_operands && is_first_of_many_schedules(run)) {
            succeeds(steps_.make_plan, run);
        }
        for (const std::size_t one : with_equal_plans) {
            started_[one] = true;
            steps_.start(one);
        }
        std::for_each(with_equal_plans.begin(), with_equal_plans.end(), steps_.drop);
    }

    [[nodiscard]] bool is_first_of_many_schedules(std::size_t run) {
        Group& alike = schedules_.at({runs_[run]->operands, runs_[run]->schedule});
        const auto alone = std::count_if(alike.begin(), alike.end(), [&](std::size_t one) {
            return plans_.at(runs_[one]->plan).size() == 1;
        });
        const bool is_first = static_cast<std::size_t>(alone) >= kFewestSchedules;
        if (is_first) {
            alike.clear();
        }
        return is_first;
    }

    /// Whether all of a group have operands that were made for them together.
    bool make_operands(const Group& group) {
        const auto known = is_made_.find(&group);
        if (known != is_made_.end()) {
            return known->second;
        }
        if (group.size() < 2) {
            return false;
        }
        std::erase_if(held_, [&](const Group* one) {
            return std::all_of(one->begin(), one->end(),
                               [&](std::size_t run) { return started_[run]; });
        });
        if (held_.size() == kMostOperands) {
            const Group& oldest = *held_.front();
            held_.pop_front();
            for (const std::size_t run : oldest) {
                start(run);
            }
        }
        const std::size_t first = group.front();
        const bool is_made = succeeds(steps_.make_operands, first);
        is_made_[&group] = is_made;
        if (is_made) {
            held_.push_back(&group);
            for (const std::size_t run : group) {
                if (run != first) {
                    steps_.share_operands(run, first);
                }
            }
        }
        return is_made;
    }

    const std::vector<std::optional<WarmKeys>>& runs_;
    const WarmSteps& steps_;
    std::vector<bool> started_;
    std::map<std::string, Group> operands_;
    std::map<std::string, Group> plans_;
    std::map<std::pair<std::string, std::string>, Group> schedules_;
    std::map<const Group*, bool> is_made_; ///< of operands
    std::deque<const Group*> held_;        ///< whose operands are there, the first made first
};

} // namespace

void start_warm(const std::vector<std::optional<WarmKeys>>& runs, const WarmSteps& steps) {
    WarmOrder(runs, steps).start_all();
}

} // namespace tessera::run
