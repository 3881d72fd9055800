// SPDX-License-Identifier: MIT
// The calibration as data.
#include "sim/calibrate/report.h"

#include <fmt/format.h>

namespace tessera::calibrate {
namespace {

using nlohmann::json;

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
    add("sign_share", target.sign_share);
    if (target.ratio_mean) {
        out["ratio_mean"] = {target.ratio_mean->least, target.ratio_mean->most};
    }
    return out;
}

json runs_json(const std::vector<Run>& runs) {
    json out = json::array();
    for (const Run& run : runs) {
        json one{{"machine", run.machine}, {"machine_sets", run.machine_sets}};
        if (run.vertex.empty()) {
            one["workload"] = run.workload;
        } else {
            one["vertex"] = run.vertex;
            one["parameters"] = run.parameters;
        }
        if (!run.mode.empty()) {
            one["mode"] = run.mode;
        }
        out.push_back(std::move(one));
    }
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
        out["runs"] = runs_json(measurement->runs);
        if (!measurement->ours.empty()) {
            out["ours_runs"] = runs_json(measurement->ours);
        }
    }
    if (row.simulated) {
        out["simulated"] = *row.simulated;
        out["ratio"] = *row.ratio();
    }
    const auto add = [&](const char* key, const std::optional<double>& figure) {
        if (figure) {
            out[key] = *figure;
        }
    };
    if (!row.best.empty()) {
        out["best"] = row.best;
    }
    if (!row.of_seeds.empty()) {
        out["of_seeds"] = row.of_seeds;
    }
    add("ratio_no_sync", row.no_sync_ratio());
    add("ours", row.ours);
    add("ratio_ours", row.ours_ratio());
    if (!row.ours_failure.empty()) {
        out["ours_failure"] = row.ours_failure;
    }
    if (const auto gap = row.gap()) {
        out["measured_cycles"] = gap->measured_cycles;
        out["simulated_cycles"] = gap->simulated_cycles;
        out["words_per_tile"] = gap->words;
        out["steps"] = gap->steps;
    }
    return out;
}

json worst_json(const std::vector<const RowOutcome*>& rows) {
    json out = json::array();
    for (const RowOutcome* row : rows) {
        json runs = json::array();
        for (const RunFacts& facts : row->facts) {
            json steps = json::array();
            for (const StepCycles& step : facts.by_step) {
                steps.push_back({{"name", step.name}, {"cycles", step.cycles}});
            }
            runs.push_back({{"cycles", facts.cycles}, {"steps", std::move(steps)}});
        }
        out.push_back({{"id", row->row.id()}, {"ratio", *row->ratio()}, {"runs", std::move(runs)}});
    }
    return out;
}

json unexplained_json(const Unexplained& of) {
    json out{{"rows", of.rows}, {"cycles", of.cycles}, {"share", of.share}};
    if (of.fit) {
        out["cycles_per_word"] = of.fit->cycles_per_word;
        out["cycles_per_step"] = of.fit->cycles_per_step;
        out["explained"] = of.fit->explained;
    }
    return out;
}

json group_json(const GroupOutcome& outcome) {
    json out{{"name", outcome.group.name},
             {"read_from_rows", outcome.group.marks.read},
             {"timing_chosen", outcome.group.marks.chosen},
             {"mostly_constant", outcome.group.marks.constant},
             {"rows", outcome.nearness.rows},
             {"failed", outcome.failed},
             {"not_modelled", outcome.not_modelled},
             {"ratio_mean", outcome.nearness.ratio_mean},
             {"error_mean", outcome.nearness.error_mean},
             {"error_p90", outcome.nearness.error_p90},
             {"error_most", outcome.nearness.error_most},
             {"target", target_json(outcome.group.target)},
             {"reached", outcome.reached()}};
    if (outcome.group.kind == Group::Kind::Micro) {
        return out;
    }
    out["worst"] = worst_json(outcome.worst);
    if (outcome.spread) {
        out["spread"] = *outcome.spread;
    }
    if (outcome.no_sync.rows > 0) {
        out["ratio_no_sync"] = outcome.no_sync.ratio_mean;
    }
    if (outcome.ours.rows > 0) {
        out["ratio_ours"] = outcome.ours.ratio_mean;
    }
    if (outcome.group.target.sign_share) {
        out["sign_rows"] = outcome.signs.rows;
        out["sign_share"] = outcome.signs.share();
        out["sign_share_ours"] = outcome.ours_signs.share();
    }
    if (outcome.group.kind != Group::Kind::Signs) {
        out["unexplained"] = unexplained_json(outcome.unexplained);
    }
    return out;
}

} // namespace

json calibration_json(const Calibration& calibration) {
    json rows = json::array();
    for (const RowOutcome& row : calibration.rows) {
        rows.push_back(row_json(row));
    }
    json groups = json::array();
    for (const GroupOutcome& outcome : group_outcomes(calibration)) {
        groups.push_back(group_json(outcome));
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
    std::string text = "id,group,machine,workload,metric,unit,measured,simulated,ratio,ratio_no_"
                       "sync,ratio_ours,use,timed,note\n";
    const auto figure = [](const std::optional<double>& value) {
        return value ? fmt::format("{}", *value) : std::string{};
    };
    for (const RowOutcome& row : calibration.rows) {
        const Measurement* measurement = row.measurement();
        const std::vector<std::string> cells{row.row.id(),
                                             measurement == nullptr ? "" : measurement->group,
                                             row.row.text("machine"),
                                             row.row.text("workload"),
                                             row.row.text("metric"),
                                             row.row.text("unit"),
                                             row.row.text("value"),
                                             figure(row.simulated),
                                             figure(row.ratio()),
                                             figure(row.no_sync_ratio()),
                                             figure(row.ours_ratio()),
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

} // namespace tessera::calibrate
