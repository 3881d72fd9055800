// SPDX-License-Identifier: MIT
#include "sim/run/warm_worker.h"

#include "base/config/json_text.h"
#include "base/config/paths.h"
#include "sim/process/exit_code.h"
#include "sim/run/run.h"
#include "sim/run/several.h"

#include <tbb/global_control.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::run {
namespace {

process::ChildOutcome failed(const cli::RunCommand& command) {
    const process::Failure failure = process::failure_of(std::current_exception());
    return {failure.exit_code, config::text_of_json(failed_result(command.workloads.front(),
                                                                  command.machine, failure))};
}

/// Threads of this process would be missing in its children, which would wait for them: once set, it
/// has one for good. (Where TBB may have more again, it can start them for work long done.)
std::optional<tbb::global_control>& one_thread() {
    static std::optional<tbb::global_control> one;
    return one;
}

/// Each child finds out by itself what went wrong, and says it.
template <class Make> bool succeeds(const Make& make) {
    try {
        make();
        return true;
    } catch (...) {
        return false;
    }
}

/// Runs that are started in their order, but for what shares a plan. What others share is made before
/// the first of them and kept until the last.
class WarmRuns {
public:
    WarmRuns(std::vector<std::optional<PreparedRun>>& runs,
             std::function<void(std::size_t run)> start)
        : runs_(runs), start_(std::move(start)), started_(runs.size()), operands_of_(runs.size()),
          plan_of_(runs.size()), schedule_of_(runs.size()) {
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            if (!runs_[i]) {
                started_[i] = true; // it cannot be
                continue;
            }
            const std::string operands = runs_[i]->operands_key();
            operands_of_[i] = number_of(operands_, operands, i);
            plan_of_[i] = number_of(plans_, runs_[i]->plan_key(), i);
            schedule_of_[i] = number_of(schedules_, operands + runs_[i]->schedule_key(), i);
        }
        made_.resize(operands_.groups.size(), Made::NotYet);
    }

    void start_all() {
        for (std::size_t i = 0; i < runs_.size(); ++i) {
            start(i);
        }
    }

private:
    enum class Made { NotYet, Yes, No };
    /// Numbers of runs by what they share.
    struct Groups {
        std::map<std::string, std::size_t> numbers; ///< by key
        std::vector<std::vector<std::size_t>> groups;
    };

    static std::size_t number_of(Groups& groups, const std::string& key, std::size_t run) {
        const auto [found, is_new] = groups.numbers.try_emplace(key, groups.groups.size());
        if (is_new) {
            groups.groups.emplace_back();
        }
        groups.groups[found->second].push_back(run);
        return found->second;
    }

    void start(std::size_t run) {
        if (started_[run]) {
            return;
        }
        make_operands(operands_of_[run]);
        const std::vector<std::size_t>& with_equal_plans = plans_.groups[plan_of_[run]];
        if (with_equal_plans.size() > 1) {
            // A job holds one plan at a time: these run before the next is made.
            PreparedRun& planned = *runs_[run];
            if (succeeds([&] { planned.make_plan(); })) {
                for (const std::size_t other : with_equal_plans) {
                    if (other != run) {
                        runs_[other]->share_plan(planned);
                    }
                }
            }
        } else if (is_first_of_many_schedules(run)) {
            succeeds([&] { runs_[run]->make_plan(); });
        }
        for (const std::size_t one : with_equal_plans) {
            started_[one] = true;
            start_(one);
        }
        for (const std::size_t one : with_equal_plans) {
            runs_[one].reset();
        }
    }

    /// What many runs schedule alike is better known before they start.
    [[nodiscard]] bool is_first_of_many_schedules(std::size_t run) {
        constexpr std::size_t kFewest = 4; // else the wait for the first plan costs more
        std::vector<std::size_t>& alike = schedules_.groups[schedule_of_[run]];
        const auto alone = std::count_if(alike.begin(), alike.end(), [&](std::size_t one) {
            return plans_.groups[plan_of_[one]].size() == 1;
        });
        const bool is_first =
            made_[operands_of_[run]] == Made::Yes && static_cast<std::size_t>(alone) >= kFewest;
        if (is_first) {
            alike.clear();
        }
        return is_first;
    }

    void make_operands(std::size_t group) {
        const std::vector<std::size_t>& with_equal_operands = operands_.groups[group];
        if (made_[group] != Made::NotYet || with_equal_operands.size() < 2) {
            return;
        }
        std::erase_if(kept_, [&](std::size_t one) {
            const std::vector<std::size_t>& all = operands_.groups[one];
            return std::all_of(all.begin(), all.end(),
                               [&](std::size_t run) { return started_[run]; });
        });
        constexpr std::size_t kMostKept = 8; // of memory; what waits longest goes first
        if (kept_.size() == kMostKept) {
            const std::size_t oldest = kept_.front();
            kept_.pop_front();
            for (const std::size_t run : operands_.groups[oldest]) {
                start(run);
            }
        }
        PreparedRun& first = *runs_[with_equal_operands.front()];
        made_[group] = succeeds([&] { first.make_operands(); }) ? Made::Yes : Made::No;
        if (made_[group] == Made::Yes) {
            kept_.push_back(group);
            for (const std::size_t run : with_equal_operands) {
                if (&*runs_[run] != &first) {
                    runs_[run]->share_operands(first);
                }
            }
        }
    }

    std::vector<std::optional<PreparedRun>>& runs_;
    std::function<void(std::size_t run)> start_;
    std::vector<bool> started_;
    Groups operands_;
    Groups plans_;
    Groups schedules_;
    std::vector<std::size_t> operands_of_; ///< number of its group, by run
    std::vector<std::size_t> plan_of_;
    std::vector<std::size_t> schedule_of_;
    std::vector<Made> made_;       ///< by group of operands
    std::deque<std::size_t> kept_; ///< groups whose operands are there, the first made first
};

} // namespace

std::vector<process::ChildOutcome>
run_warm(const std::vector<cli::RunCommand>& commands, int at_once, const Elaborate& elaborate,
         const std::function<void(const process::ChildEnd&)>& ended,
         const process::ChildLimits& limits) {
    const config::ConfigPaths paths = config::default_config_paths();
    if (!one_thread()) {
        one_thread().emplace(tbb::global_control::max_allowed_parallelism, 1U);
    }
    std::vector<process::ChildOutcome> outcomes(commands.size());
    std::vector<std::optional<PreparedRun>> runs(commands.size());
    std::size_t done = 0;
    for (std::size_t i = 0; i < commands.size(); ++i) {
        try {
            runs[i].emplace(commands[i], commands[i].workloads.front(), paths);
        } catch (...) {
            outcomes[i] = failed(commands[i]);
            ++done;
            if (ended) {
                ended({done, i, outcomes[i]});
            }
        }
    }
    process::Children children(
        at_once,
        [&](const process::ChildEnd& end) {
            outcomes[end.body] = end.outcome;
            if (ended) {
                ended({++done, end.body, end.outcome});
            }
        },
        limits);
    // Each has its copy of what is shared once it has started.
    WarmRuns(runs, [&](std::size_t run) {
        children.start(run, [&, run] {
            one_thread().reset();
            try {
                RunReport report;
                elaborate([&] { report = runs[run]->run(); });
                return process::ChildOutcome{report.passed ? process::kOk : process::kCheckFailed,
                                             config::text_of_json(report.result)};
            } catch (...) {
                return failed(commands[run]);
            }
        });
    }).start_all();
    children.wait();
    return outcomes;
}

} // namespace tessera::run
