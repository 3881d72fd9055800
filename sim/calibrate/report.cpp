// SPDX-License-Identifier: MIT
#include "sim/calibrate/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace tessera::sim::calibrate {
namespace {

using nlohmann::json;

std::string percent(double fraction) {
    return fmt::format("{:.1f} %", 100 * fraction);
}

std::string target_text(const Target& target) {
    std::vector<std::string> parts;
    const auto add = [&](const char* what, const std::optional<double>& most) {
        if (most) {
            parts.push_back(fmt::format("{} {:.0f} %", what, 100 * *most));
        }
    };
    add("mean", target.error_mean);
    add("p90", target.error_p90);
    add("each", target.error_most);
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string row_text(const RowOutcome& row) {
    const std::string simulated = row.simulated ? fmt::format("{:.5g}", *row.simulated) : "failed";
    const std::string ratio = row.ratio() ? fmt::format("{:.3f}", *row.ratio()) : "-";
    std::string line =
        fmt::format("{:<34} {:<8} {:>10} {:>10} {:>7}  {}", row.row.id(), row.row.text("unit"),
                    row.row.text("value"), simulated, ratio, row.note());
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

std::string rows_text(const Calibration& calibration) {
    std::string text = fmt::format("{:<34} {:<8} {:>10} {:>10} {:>7}\n", "row", "unit", "measured",
                                   "simulated", "ratio");
    for (const GroupOutcome& outcome : group_outcomes(calibration)) {
        text += fmt::format("\n{}\n", outcome.group.name);
        for (const RowOutcome& row : calibration.rows) {
            if (row.measurement() != nullptr && row.measurement()->group == outcome.group.name) {
                text += row_text(row);
            }
        }
    }
    return text;
}

std::string groups_text(const Calibration& calibration) {
    std::string text = fmt::format("\n{:<22} {:>5} {:>7} {:>8} {:>8} {:>8}  {}\n", "group", "rows",
                                   "ratio", "error", "p90", "most", "target");
    for (const GroupOutcome& outcome : group_outcomes(calibration)) {
        const Nearness& near = outcome.nearness;
        std::string target = target_text(outcome.group.target);
        const bool judged = near.rows > 0 || outcome.failed > 0;
        target += target.empty()      ? "none"
                  : !judged           ? ": no row judged"
                  : outcome.reached() ? ": reached"
                                      : ": MISSED";
        if (outcome.failed > 0) {
            target += fmt::format(", {} failed", outcome.failed);
        }
        const auto shown = [&](std::string figure) { return near.rows == 0 ? "-" : figure; };
        text += fmt::format("{:<22} {:>5} {:>7} {:>8} {:>8} {:>8}  {}\n", outcome.group.name,
                            near.rows, shown(fmt::format("{:.3f}", near.ratio_mean)),
                            shown(percent(near.error_mean)), shown(percent(near.error_p90)),
                            shown(percent(near.error_most)), target);
    }
    return text + "ratio: geometric mean of simulated / measured; error: geometric mean of its "
                  "distance from 1, either way\n";
}

std::string not_covered_text(const Calibration& calibration) {
    std::map<std::string, std::vector<std::string>> rows_of_reason;
    for (const RowOutcome& row : calibration.rows) {
        if (row.measurement() == nullptr) {
            rows_of_reason[row.note()].push_back(row.row.id());
        }
    }
    std::string text;
    for (const auto& [reason, ids] : rows_of_reason) {
        constexpr std::size_t kShown = 3;
        const std::vector<std::string> first(
            ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(std::min(kShown, ids.size())));
        text += fmt::format("{:>5}  {}: {}{}\n", ids.size(), reason, fmt::join(first, ", "),
                            ids.size() > kShown ? ", ..." : "");
    }
    for (const OtherFile& other : calibration.other_files) {
        text += fmt::format("{:>5}  {}: {}\n", other.rows, other.reason, other.file);
    }
    return text.empty() ? text : "\nnot covered\n" + text;
}

json target_json(const Target& target) {
    json out = json::object();
    const auto add = [&](const char* key, const std::optional<double>& most) {
        if (most) {
            out[key] = *most;
        }
    };
    add("error_mean", target.error_mean);
    add("error_p90", target.error_p90);
    add("error_most", target.error_most);
    return out;
}

json row_json(const RowOutcome& row) {
    json out = {{"id", row.row.id()},
                {"source", row.row.text("source")},
                {"machine", row.row.text("machine")},
                {"workload", row.row.text("workload")},
                {"metric", row.row.text("metric")},
                {"unit", row.row.text("unit")},
                {"use", row.use()},
                {"note", row.note()}};
    if (const Measurement* measurement = row.measurement()) {
        out["measured"] = row.row.value();
        out["group"] = measurement->group;
        out["timed"] = measurement->timed;
        json runs = json::array();
        for (const Run& run : measurement->runs) {
            runs.push_back({{"machine", run.machine},
                            {"machine_sets", run.machine_sets},
                            {"workload", run.workload}});
        }
        out["runs"] = std::move(runs);
    }
    if (row.simulated) {
        out["simulated"] = *row.simulated;
        out["ratio"] = *row.ratio();
    }
    return out;
}

} // namespace

std::string calibration_text(const Calibration& calibration) {
    return rows_text(calibration) + groups_text(calibration) + not_covered_text(calibration);
}

json calibration_json(const Calibration& calibration) {
    json rows = json::array();
    for (const RowOutcome& row : calibration.rows) {
        rows.push_back(row_json(row));
    }
    json groups = json::array();
    for (const GroupOutcome& outcome : group_outcomes(calibration)) {
        groups.push_back({{"name", outcome.group.name},
                          {"rows", outcome.nearness.rows},
                          {"failed", outcome.failed},
                          {"ratio_mean", outcome.nearness.ratio_mean},
                          {"error_mean", outcome.nearness.error_mean},
                          {"error_p90", outcome.nearness.error_p90},
                          {"error_most", outcome.nearness.error_most},
                          {"target", target_json(outcome.group.target)},
                          {"reached", outcome.reached()}});
    }
    json others = json::array();
    for (const OtherFile& other : calibration.other_files) {
        others.push_back({{"file", other.file}, {"reason", other.reason}, {"rows", other.rows}});
    }
    return {{"schema_version", 1},
            {"groups", std::move(groups)},
            {"rows", std::move(rows)},
            {"other_files", std::move(others)}};
}

std::string calibration_csv(const Calibration& calibration) {
    std::string text =
        "id,group,machine,workload,metric,unit,measured,simulated,ratio,use,timed,note\n";
    for (const RowOutcome& row : calibration.rows) {
        const Measurement* measurement = row.measurement();
        const std::vector<std::string> cells{row.row.id(),
                                             measurement == nullptr ? "" : measurement->group,
                                             row.row.text("machine"),
                                             row.row.text("workload"),
                                             row.row.text("metric"),
                                             row.row.text("unit"),
                                             row.row.text("value"),
                                             row.simulated ? fmt::format("{}", *row.simulated) : "",
                                             row.ratio() ? fmt::format("{}", *row.ratio()) : "",
                                             row.use(),
                                             measurement == nullptr ? "" : measurement->timed,
                                             row.note()};
        for (std::size_t i = 0; i < cells.size(); ++i) {
            text += (i == 0 ? "" : ",") + csv_cell(cells[i]);
        }
        text += "\n";
    }
    return text;
}

} // namespace tessera::sim::calibrate
