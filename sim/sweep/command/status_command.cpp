// SPDX-License-Identifier: MIT
// `tessera sweep status`: how far a sweep is, from its store alone.
#include "base/config/paths.h"
#include "base/text.h"
#include "sim/process/exit_code.h"
#include "sim/process/screen.h"
#include "sim/result/result.h"
#include "sim/sweep/command/commands.h"
#include "sim/sweep/command/tell_damage.h"
#include "sim/sweep/frozen.h"
#include "sim/sweep/outcome.h"
#include "sim/sweep/planner.h"
#include "sim/sweep/source.h"
#include "sim/sweep/store.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <map>
#include <string>
#include <unordered_set>

namespace tessera::sweep {
namespace {

namespace fs = std::filesystem;

/// What the sweep is called; of a frozen one without the digest behind its name.
std::string name_of(const cli::SweepStatusCommand& command, const Source& source) {
    return command.sweep.empty() ? source.name.substr(0, source.name.rfind('-')) : source.name;
}

/// The sweep that is asked about. @throws UsageError where there is none
std::string sweep_of(const cli::SweepStatusCommand& command) {
    if (!command.sweep.empty()) {
        return command.sweep;
    }
    if (const auto file = last_frozen(command.store)) {
        return file->string();
    }
    throw cli::UsageError(
        fmt::format("sweep status: {} has run no sweep; --sweep says which one is asked about",
                    in_quotes(command.store)));
}

} // namespace

int sweep_status(const cli::SweepStatusCommand& command) {
    need_store(command.store);
    const auto paths = config::default_config_paths();
    const Source source = read_source({sweep_of(command), {}, {}, {}}, paths);
    const KnownPoints known{fs::path(command.store)};
    tell_damage(known.damage());
    const Plan plan =
        plan_points(source.sweep, source.document, paths, PointKeys(result::kModelVersion));
    std::map<std::string, std::size_t> ended;
    std::unordered_set<PointKey, PointKey::Hash> not_ok;
    std::size_t missing = 0;
    double seconds = 0;
    for (const Plan::Point& point : plan.points) {
        const std::string* const status = known.status(point.key);
        if (status == nullptr) {
            ++missing;
            continue;
        }
        ++ended[*status];
        if (*status != kOkStatus) {
            not_ok.insert(point.key);
        }
    }
    double timed = 0;
    for (const auto& [workload, times] : known.times()) {
        seconds += times.seconds;
        timed += static_cast<double>(times.points);
    }
    std::string text = fmt::format("{}: {} in {}", name_of(command, source),
                                   counted(plan.points.size(), "point"), command.store);
    for (const auto& [status, count] : ended) {
        text += fmt::format(", {} {}", grouped(static_cast<std::int64_t>(count)), status);
    }
    if (plan.invalid > 0) {
        text += fmt::format(", {} invalid", grouped(plan.invalid));
    }
    text += fmt::format(", {} to run", grouped(static_cast<std::int64_t>(missing)));
    if (missing > 0 && timed > 0) {
        text += fmt::format("; about {:.0f} s of one process",
                            seconds / timed * static_cast<double>(missing));
    }
    std::fputs((text + "\n").c_str(), stdout);
    Outcome outcome;
    outcome.add_known(command.store, not_ok);
    for (const std::string& line : outcome.not_ok().lines()) {
        std::fputs(("  " + line + "\n").c_str(), stdout);
    }
    return process::kOk;
}

} // namespace tessera::sweep
