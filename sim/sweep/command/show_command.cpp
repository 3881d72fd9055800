// SPDX-License-Identifier: MIT
// `tessera sweep show`.
#include "base/layout.h"
#include "base/text.h"
#include "sim/process/exit_code.h"
#include "sim/process/screen.h"
#include "sim/sweep/command/commands.h"
#include "sim/sweep/command/listings.h"

#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>

namespace tessera::sweep {
namespace {

/// What the look at hand is not about, and why.
void tell_left_out(const Shown& shown, const std::vector<Judged>& judged, const std::string& look,
                   bool is_all) {
    const Reasons reasons = left_out(shown.table, judged, look != "sensitivity");
    if (reasons.count() > 0) {
        process::tell_warning(fmt::format("{} of {} left out of --{}", reasons.count(),
                                          counted(judged.size(), "candidate"), look));
        for (const std::string& line : reasons.lines()) {
            std::fputs(("  " + line + "\n").c_str(), stderr);
        }
    }
    if (is_all && reasons.count() < judged.size()) { // of --sensitivity alone
        process::tell_failure(
            "no effect to be seen: what the points differ in has the same value in all "
            "that can be compared, or the objective is not above 0");
    } else if (is_all) {
        process::tell_failure(fmt::format("--{}: no point can be compared", look));
    }
}

void tell_failures(const std::vector<Condition>& conditions) {
    for (const Condition& condition : conditions) {
        if (const std::string failure = condition.failure(); !failure.empty()) {
            process::tell_warning(failure);
        }
    }
}

} // namespace

int sweep_show(const cli::SweepShowCommand& command) {
    Shown shown = read_shown(command);
    const bool is_look = command.look != "points";
    std::optional<Judgement> judgement;
    if (is_look) {
        judgement.emplace(shown);
    }
    const Listing listing = command.look == "pareto"        ? judgement->pareto()
                            : command.look == "sensitivity" ? judgement->sensitivity()
                            : is_look                       ? judgement->best()
                            : !shown.group.empty()          ? groups_of(shown)
                                                            : points_of(shown);
    tell_failures(shown.filters);
    tell_failures(shown.constraints);
    if (listing.rows > 0 || !is_look || command.format != "text") {
        listing.print(command.format, static_cast<std::size_t>(command.limit));
    }
    if (shown.rows.empty()) {
        process::tell_failure(fmt::format(
            "no point: {}", shown.table.rows() == 0 ? shown.folder.string() + " has none"
                                                    : "--filter holds for none of " +
                                                          counted(shown.table.rows(), "point")));
    } else if (is_look) {
        tell_left_out(shown, judgement->judged(), command.look, listing.rows == 0);
    }
    return is_look && listing.rows == 0 ? process::kCheckFailed : process::kOk;
}

} // namespace tessera::sweep
