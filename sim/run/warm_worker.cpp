// SPDX-License-Identifier: MIT
#include "sim/run/warm_worker.h"

#include "base/config/json_text.h"
#include "base/config/paths.h"
#include "sim/process/exit_code.h"
#include "sim/run/run.h"
#include "sim/run/several.h"
#include "sim/run/warm_order.h"

#include <tbb/global_control.h>

#include <optional>
#include <string>
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
    std::vector<std::optional<WarmKeys>> keys(runs.size());
    for (std::size_t i = 0; i < runs.size(); ++i) {
        if (runs[i]) {
            keys[i] = {runs[i]->operands_key(), runs[i]->plan_key(), runs[i]->schedule_key()};
        }
    }
    const auto start = [&](std::size_t run) {
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
    };
    start_warm(keys,
               {.make_operands = [&](std::size_t run) { runs[run]->make_operands(); },
                .make_plan = [&](std::size_t run) { runs[run]->make_plan(); },
                .share_operands = [&](std::size_t run,
                                      std::size_t from) { runs[run]->share_operands(*runs[from]); },
                .share_plan = [&](std::size_t run,
                                  std::size_t from) { runs[run]->share_plan(*runs[from]); },
                .start = start,
                // its child has a copy of what it shares
                .drop = [&](std::size_t run) { runs[run].reset(); }});
    children.wait();
    return outcomes;
}

} // namespace tessera::run
