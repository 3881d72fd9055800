// SPDX-License-Identifier: MIT
#include "sim/calibrate/report.h"

#include "sim/calibrate/report_kernels.h"
#include "sim/calibrate/report_parts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace tessera::calibrate {
namespace {

std::string groups_text(const Calibration& calibration, const Layout& layout) {
    std::vector<std::vector<std::string>> rows{
        {"group", "rows", "ratio", "error", "p90", "most", "target"}};
    std::vector<GroupOutcome> outcomes = group_outcomes(calibration);
    std::erase_if(outcomes, [](const GroupOutcome& outcome) {
        return outcome.group.kind != Group::Kind::Micro;
    });
    for (const GroupOutcome& outcome : outcomes) {
        const Nearness& near = outcome.nearness;
        const auto shown = [&](const std::string& figure) { return near.rows == 0 ? "-" : figure; };
        rows.push_back({marked_name(outcome.group), std::to_string(near.rows),
                        shown(fmt::format("{:.3f}", near.ratio_mean)),
                        shown(percent_text(near.error_mean)), shown(percent_text(near.error_p90)),
                        shown(percent_text(near.error_most)), verdict(outcome, layout)});
    }
    if (rows.size() == 1) {
        return {};
    }
    return "\n" +
           table(layout, 0,
                 {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                  Align::Left},
                 rows) +
           wrapped(
               layout, 0,
               "ratio: geometric mean of simulated / measured; error: geometric mean of its "
               "distance from 1, either way, max(r, 1/r); p90, most: what nine of ten rows, and "
               "all, are within") +
           marks_text(outcomes, layout);
}

std::string not_covered_text(const Calibration& calibration, const Layout& layout) {
    std::map<std::string, std::vector<std::string>> rows_of_reason;
    for (const RowOutcome& row : calibration.rows) {
        if (row.measurement() == nullptr) {
            rows_of_reason[row.note()].push_back(row.row.id());
        }
    }
    std::vector<std::vector<std::string>> rows;
    for (const auto& [reason, ids] : rows_of_reason) {
        constexpr std::size_t kShown = 3;
        const std::vector<std::string> first(
            ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, ids.size())));
        rows.push_back(
            {std::to_string(ids.size()), fmt::format("{}: {}{}", reason, fmt::join(first, ", "),
                                                     ids.size() > kShown ? ", ..." : "")});
    }
    for (const OtherFile& other : calibration.other_files) {
        rows.push_back({std::to_string(other.rows), other.reason + ": " + other.file});
    }
    return rows.empty() ? ""
                        : "\n" + painted(layout, Paint::Head, "not covered") + "\n" +
                              table(layout, 2, {Align::Right, Align::Left}, rows);
}

} // namespace

std::string calibration_text(const Calibration& calibration, const Layout& layout) {
    const std::string micro = rows_text(calibration, layout, false);
    const std::string kernels = rows_text(calibration, layout, true);
    return micro + (micro.empty() || kernels.empty() ? "" : "\n") + kernels +
           groups_text(calibration, layout) + kernel_groups_text(calibration, layout) +
           not_covered_text(calibration, layout);
}

} // namespace tessera::calibrate
