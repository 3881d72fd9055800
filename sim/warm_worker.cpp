// SPDX-License-Identifier: MIT
#include "sim/warm_worker.h"

#include "base/config/paths.h"
#include "sim/exit_code.h"
#include "sim/run.h"
#include "sim/several.h"

#include <tbb/global_control.h>

#include <map>
#include <optional>
#include <string>
#include <utility>

namespace tessera::sim {
namespace {

ChildOutcome failed(const std::string& workload) {
    const Failure failure = failure_of(std::current_exception());
    return {failure.exit_code, failed_result(workload, failure).dump()};
}

/// Numbers of runs by what they share.
using ByKey = std::map<std::string, std::vector<std::size_t>>;

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

} // namespace

std::vector<ChildOutcome> run_warm(const std::vector<RunCommand>& commands, int at_once,
                                   const Elaborate& elaborate,
                                   const std::function<void(const ChildEnd&)>& ended,
                                   const ChildLimits& limits) {
    const config::ConfigPaths paths = config::default_config_paths();
    if (!one_thread()) {
        one_thread().emplace(tbb::global_control::max_allowed_parallelism, 1U);
    }
    std::vector<ChildOutcome> outcomes(commands.size());
    std::vector<std::optional<PreparedRun>> runs(commands.size());
    ByKey by_operands;
    std::size_t done = 0;
    for (std::size_t i = 0; i < commands.size(); ++i) {
        try {
            runs[i].emplace(commands[i], commands[i].workloads.front(), paths);
            by_operands[runs[i]->operands_key()].push_back(i);
        } catch (...) {
            outcomes[i] = failed(commands[i].workloads.front());
            ++done;
            if (ended) {
                ended({done, i, outcomes[i]});
            }
        }
    }
    Children children(
        at_once,
        [&](const ChildEnd& end) {
            outcomes[end.body] = end.outcome;
            if (ended) {
                ended({++done, end.body, end.outcome});
            }
        },
        limits);
    // Each has its copy of what is shared once it has started.
    const auto run = [&](const std::vector<std::size_t>& some) {
        for (const std::size_t i : some) {
            children.start(i, [&, i] {
                one_thread().reset();
                try {
                    RunReport report;
                    elaborate([&] { report = runs[i]->run(); });
                    return ChildOutcome{report.passed ? kOk : kCheckFailed, report.result.dump()};
                } catch (...) {
                    return failed(commands[i].workloads.front());
                }
            });
        }
        for (const std::size_t i : some) {
            runs[i].reset();
        }
    };
    for (const auto& [operands, with_equal_operands] : by_operands) {
        PreparedRun& first = *runs[with_equal_operands.front()];
        const bool made =
            with_equal_operands.size() > 1 && succeeds([&] { first.make_operands(); });
        ByKey by_plan;
        for (const std::size_t i : with_equal_operands) {
            by_plan[runs[i]->plan_key()].push_back(i);
            if (made && &*runs[i] != &first) {
                runs[i]->share_operands(first);
            }
        }
        std::vector<std::size_t> alone;
        for (const auto& [plan, with_equal_plans] : by_plan) {
            if (with_equal_plans.size() == 1) {
                alone.push_back(with_equal_plans.front());
                continue;
            }
            // A job holds one plan at a time: these run before the next is made.
            PreparedRun& planned = *runs[with_equal_plans.front()];
            if (succeeds([&] { planned.make_plan(); })) {
                for (const std::size_t i : with_equal_plans) {
                    if (&*runs[i] != &planned) {
                        runs[i]->share_plan(planned);
                    }
                }
            }
            run(with_equal_plans);
        }
        ByKey by_schedule;
        for (const std::size_t i : alone) {
            by_schedule[runs[i]->schedule_key()].push_back(i);
        }
        for (const auto& [schedule, with_equal_schedules] : by_schedule) {
            constexpr std::size_t kFewest = 4; // else the wait for the first plan costs more
            if (made && with_equal_schedules.size() >= kFewest) {
                PreparedRun& planned = *runs[with_equal_schedules.front()];
                succeeds([&] { planned.make_plan(); });
            }
            run(with_equal_schedules);
        }
    }
    children.wait();
    return outcomes;
}

} // namespace tessera::sim
