// SPDX-License-Identifier: MIT
#include "sim/calibrate/report_kernels.h"

#include "base/text.h"
#include "sim/calibrate/report.h"
#include "sim/calibrate/report_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tessera::calibrate {
namespace {

using Rows = std::vector<std::vector<std::string>>;

std::vector<GroupOutcome> kernel_outcomes(const Calibration& calibration) {
    std::vector<GroupOutcome> outcomes = group_outcomes(calibration);
    std::erase_if(outcomes, [](const GroupOutcome& outcome) {
        return outcome.group.kind == Group::Kind::Micro;
    });
    return outcomes;
}

std::string mean_text(const Nearness& near) {
    return near.rows == 0 ? "-" : fmt::format("{:.3f}", near.ratio_mean);
}

/// Most of the cycles; what is left out is less than a fiftieth each.
std::string steps_text(const RunFacts& facts) {
    constexpr double kShown = 0.02;
    std::vector<std::string> parts;
    for (const StepCycles& step : facts.by_step) {
        if (step.cycles >= kShown * facts.cycles) {
            parts.push_back(fmt::format(
                "{} {}", step.name, grouped(static_cast<std::int64_t>(std::llround(step.cycles)))));
        }
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string run_text(const RunFacts& facts) {
    return fmt::format("{}{}: {}", facts.called.empty() ? "" : facts.called + " ",
                       grouped(static_cast<std::int64_t>(std::llround(facts.cycles))),
                       steps_text(facts));
}

std::string worst_text(const GroupOutcome& outcome, const Layout& layout) {
    Rows rows;
    for (const RowOutcome* row : outcome.worst) {
        std::vector<std::string> runs;
        for (const RunFacts& facts : row->facts) {
            runs.push_back(run_text(facts));
        }
        rows.push_back({row->row.id(), fmt::format("{:.3f}", *row->ratio()),
                        fmt::format("{}", fmt::join(runs, "; "))});
    }
    return rows.empty() ? ""
                        : "\n" + painted(layout, Paint::Head, outcome.group.name) + "\n" +
                              table(layout, 2, {Align::Left, Align::Right, Align::Left}, rows);
}

} // namespace

std::string kernel_groups_text(const Calibration& calibration, const Layout& layout) {
    const auto outcomes = kernel_outcomes(calibration);
    if (outcomes.empty()) {
        return {};
    }
    Rows rows{{"group", "rows", "ratio", "error", "p90", "seeds", "no sync", "ours", "target"}};
    std::string worst;
    for (const GroupOutcome& outcome : outcomes) {
        const Nearness& near = outcome.nearness;
        const auto share = [&](double error) {
            return near.rows == 0 ? std::string("-") : percent_text(error);
        };
        rows.push_back({marked_name(outcome.group), std::to_string(near.rows), mean_text(near),
                        share(near.error_mean), share(near.error_p90),
                        outcome.spread ? percent_text(*outcome.spread - 1) : "-",
                        mean_text(outcome.no_sync), mean_text(outcome.ours),
                        verdict(outcome, layout)});
        worst += worst_text(outcome, layout);
    }
    return "\n" +
           table(layout, 0,
                 {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                  Align::Right, Align::Right, Align::Left},
                 rows) +
           wrapped(
               layout, 0,
               "ratio: geometric mean of simulated / measured time, above 1 is slower than "
               "hardware (of speed-ups: of these themselves; of best rates: where it is below "
               "1); error: geometric mean of its distance from 1, either way, max(r, 1/r); p90: "
               "nine of ten rows are no farther from 1; seeds: how far the fastest and the "
               "slowest of a row's patterns are apart; no sync: without the cycles of barriers; "
               "ours: by our own "
               "plans; sign: where the measured |log2| is above 0.2, how often the faster one "
               "is the same") +
           (worst.empty() ? ""
                          : "\n" +
                                painted(layout, Paint::Head,
                                        "farthest off: ratio, simulated cycles by step") +
                                "\n" + worst);
}

std::string unexplained_text(const Calibration& calibration, const Layout& layout) {
    Rows rows{{"group", "rows", "cycles", "share", "a word", "a step", "explained"}};
    for (const GroupOutcome& outcome : kernel_outcomes(calibration)) {
        const Unexplained& of = outcome.unexplained;
        if (of.rows == 0) {
            continue;
        }
        const auto fitted = [&](double GapFit::*figure, const char* shape) {
            return of.fit ? fmt::format(fmt::runtime(shape), *of.fit.*figure) : std::string("-");
        };
        rows.push_back({outcome.group.name, std::to_string(of.rows),
                        fmt::format("{:.0f}", of.cycles), percent_text(of.share),
                        fitted(&GapFit::cycles_per_word, "{:.3f}"),
                        fitted(&GapFit::cycles_per_step, "{:.1f}"),
                        of.fit ? percent_text(of.fit->explained) : "-"});
    }
    if (rows.size() == 1) {
        return {};
    }
    return "\n" + painted(layout, Paint::Head, "unexplained: measured - simulated cycles") + "\n" +
           table(layout, 0,
                 {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                  Align::Right},
                 rows) +
           wrapped(layout, 0,
                   "cycles: sum over the rows; share: of their measured cycles; a word, a step: "
                   "least squares over the rows, cycles for each word that a tile receives and for "
                   "each step; explained: of the sum of squares; added to nothing");
}

} // namespace tessera::calibrate
