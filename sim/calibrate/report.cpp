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

/// Columns of the table of rows, with what stands behind them.
class RowLines {
public:
    RowLines(const Calibration& calibration, const Layout& layout) : layout_(layout) {
        for (const RowOutcome& row : calibration.rows) {
            if (row.measurement() != nullptr) {
                id_width_ = std::max(id_width_, row.row.id().size());
                unit_width_ = std::max(unit_width_, row.row.text("unit").size());
            }
        }
    }

    [[nodiscard]] std::string heading() const {
        return painted(layout_, Paint::Quiet,
                       line("row", "unit", "measured", "simulated", "ratio")) +
               "\n";
    }

    [[nodiscard]] std::string row(const RowOutcome& row) const {
        const std::string head =
            line(row.row.id(), row.row.text("unit"), row.row.text("value"),
                 row.simulated ? fmt::format("{:.5g}", *row.simulated) : "failed",
                 row.ratio() ? fmt::format("{:.3f}", *row.ratio()) : "-");
        return paragraph(layout_, head, head.size() + 2, row.note());
    }

private:
    [[nodiscard]] std::string line(const std::string& id, const std::string& unit,
                                   const std::string& measured, const std::string& simulated,
                                   const std::string& ratio) const {
        return fmt::format("{:<{}}  {:<{}}  {:>9}  {:>9}  {:>6}", id, id_width_, unit, unit_width_,
                           measured, simulated, ratio);
    }

    const Layout& layout_;
    std::size_t id_width_ = 0;
    std::size_t unit_width_ = 0;
};

std::string rows_text(const Calibration& calibration, const Layout& layout) {
    const RowLines lines(calibration, layout);
    std::string text = lines.heading();
    for (const GroupOutcome& outcome : group_outcomes(calibration)) {
        text += "\n" + painted(layout, Paint::Head, outcome.group.name) + "\n";
        for (const RowOutcome& row : calibration.rows) {
            if (row.measurement() != nullptr && row.measurement()->group == outcome.group.name) {
                text += lines.row(row);
            }
        }
    }
    return text;
}

std::string verdict(const GroupOutcome& outcome, const Layout& layout) {
    std::string target = target_text(outcome.group.target);
    const bool judged = outcome.nearness.rows > 0 || outcome.failed > 0;
    target += target.empty()      ? "none"
              : !judged           ? ": no row judged"
              : outcome.reached() ? ": " + painted(layout, Paint::Good, "reached")
                                  : ": " + painted(layout, Paint::Bad, "MISSED");
    return outcome.failed == 0 ? target : target + fmt::format(", {} failed", outcome.failed);
}

std::string groups_text(const Calibration& calibration, const Layout& layout) {
    std::vector<std::vector<std::string>> rows{
        {"group", "rows", "ratio", "error", "p90", "most", "target"}};
    for (const GroupOutcome& outcome : group_outcomes(calibration)) {
        const Nearness& near = outcome.nearness;
        const auto shown = [&](std::string figure) { return near.rows == 0 ? "-" : figure; };
        rows.push_back({outcome.group.name, std::to_string(near.rows),
                        shown(fmt::format("{:.3f}", near.ratio_mean)),
                        shown(percent(near.error_mean)), shown(percent(near.error_p90)),
                        shown(percent(near.error_most)), verdict(outcome, layout)});
    }
    return "\n" +
           table(layout, 0,
                 {Align::Left, Align::Right, Align::Right, Align::Right, Align::Right, Align::Right,
                  Align::Left},
                 rows) +
           wrapped(layout, 0,
                   "ratio: geometric mean of simulated / measured; error: geometric mean of its "
                   "distance from 1, either way");
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

std::string calibration_text(const Calibration& calibration, const Layout& layout) {
    return rows_text(calibration, layout) + groups_text(calibration, layout) +
           not_covered_text(calibration, layout);
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
