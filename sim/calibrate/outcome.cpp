// SPDX-License-Identifier: MIT
#include "sim/calibrate/outcome.h"

#include "sim/calibrate/reading.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tessera::sim::calibrate {

KernelRun kernel_run(const nlohmann::json& result, double cycles, double measured) {
    KernelRun run;
    run.cycles = cycles;
    run.measured = measured;
    run.words = words_of(result);
    run.supersteps = supersteps_of(result);
    for (const auto& [name, step] : step_cycles(result)) {
        run.steps.push_back({name, step});
    }
    return run;
}

std::optional<double> RowOutcome::ratio() const {
    return simulated ? std::optional(*simulated / row.value()) : std::nullopt;
}

std::string RowOutcome::use() const {
    if (measurement() == nullptr) {
        return "not covered";
    }
    if (!simulated) {
        return is_not_modelled ? "not modelled" : "failed";
    }
    return row.text("calibrates").empty() ? "judged" : "calibrated";
}

std::string RowOutcome::note() const {
    if (const auto* none = std::get_if<NotCovered>(&mapped)) {
        return none->reason;
    }
    if (!simulated) {
        return failure;
    }
    const std::string parameter = row.text("calibrates");
    const std::string& assumed = measurement()->assumed;
    return parameter.empty() ? (assumed.empty() ? "" : "assumed: " + assumed)
                             : fmt::format("{} was taken from this row", parameter);
}

bool GroupOutcome::reached() const {
    const bool signs_hold =
        !group.target.signs || (signs && signs->rows > 0 && signs->share() >= *group.target.signs);
    return failed == 0 && nearness.rows > 0 && meets(nearness, group.target) && signs_hold;
}

std::vector<GroupOutcome> group_outcomes(const Calibration& calibration) {
    std::vector<GroupOutcome> outcomes;
    for (const Group& group : groups()) {
        GroupOutcome outcome{.group = group,
                             .nearness = {},
                             .failed = 0,
                             .not_modelled = 0,
                             .ours = {},
                             .without_sync = {},
                             .signs = {}};
        std::vector<double> ratios;
        std::vector<double> ours;
        std::vector<double> without_sync;
        std::vector<Sides> sides;
        std::size_t rows = 0;
        for (const RowOutcome& row : calibration.rows) {
            if (row.measurement() == nullptr || row.measurement()->group != group.name) {
                continue;
            }
            ++rows;
            outcome.failed += row.use() == "failed" ? 1 : 0;
            outcome.not_modelled += row.use() == "not modelled" ? 1 : 0;
            if (row.use() != "judged") {
                continue;
            }
            const double measured = row.row.value();
            ratios.push_back(*row.ratio());
            sides.push_back({measured, *row.simulated});
            if (row.ours) {
                ours.push_back(*row.ours / measured);
            }
            if (row.without_sync) {
                without_sync.push_back(*row.without_sync / measured);
            }
        }
        if (rows > 0) {
            outcome.nearness = nearness(ratios);
            if (!ours.empty()) {
                outcome.ours = nearness(ours).ratio_mean;
            }
            if (!without_sync.empty()) {
                outcome.without_sync = nearness(without_sync).ratio_mean;
            }
            if (group.target.signs) {
                outcome.signs = signs_of(sides);
            }
            outcomes.push_back(std::move(outcome));
        }
    }
    return outcomes;
}

std::vector<const RowOutcome*> worst_kernels(const Calibration& calibration, const Group& group) {
    std::vector<const RowOutcome*> rows;
    for (const RowOutcome& row : calibration.rows) {
        if (row.kernel && row.use() == "judged" && row.measurement()->group == group.name) {
            rows.push_back(&row);
        }
    }
    const auto error = [](const RowOutcome* row) { return std::abs(std::log(*row->ratio())); };
    std::stable_sort(rows.begin(), rows.end(), [&](const RowOutcome* one, const RowOutcome* other) {
        return error(one) > error(other);
    });
    return rows;
}

} // namespace tessera::sim::calibrate
