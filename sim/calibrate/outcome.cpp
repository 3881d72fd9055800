// SPDX-License-Identifier: MIT
#include "sim/calibrate/outcome.h"

#include <fmt/format.h>

namespace tessera::sim::calibrate {

std::optional<double> RowOutcome::ratio() const {
    return simulated ? std::optional(*simulated / row.value()) : std::nullopt;
}

std::string RowOutcome::use() const {
    if (measurement() == nullptr) {
        return "not covered";
    }
    if (!simulated) {
        return "failed";
    }
    return calibrated_parameter(row.id()).empty() ? "judged" : "calibrated";
}

std::string RowOutcome::note() const {
    if (const auto* none = std::get_if<NotCovered>(&mapped)) {
        return none->reason;
    }
    if (!simulated) {
        return failure;
    }
    const std::string parameter = calibrated_parameter(row.id());
    const std::string& assumed = measurement()->assumed;
    return parameter.empty() ? (assumed.empty() ? "" : "assumed: " + assumed)
                             : fmt::format("{} was taken from this row", parameter);
}

std::vector<GroupOutcome> group_outcomes(const Calibration& calibration) {
    std::vector<GroupOutcome> outcomes;
    for (const Group& group : groups()) {
        GroupOutcome outcome{.group = group, .nearness = {}, .failed = 0};
        std::vector<double> ratios;
        std::size_t rows = 0;
        for (const RowOutcome& row : calibration.rows) {
            if (row.measurement() == nullptr || row.measurement()->group != group.name) {
                continue;
            }
            ++rows;
            outcome.failed += row.use() == "failed" ? 1 : 0;
            if (row.use() == "judged") {
                ratios.push_back(*row.ratio());
            }
        }
        if (rows > 0) {
            outcome.nearness = nearness(ratios);
            outcomes.push_back(std::move(outcome));
        }
    }
    return outcomes;
}

} // namespace tessera::sim::calibrate
