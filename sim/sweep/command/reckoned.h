// SPDX-License-Identifier: MIT
// Columns that no line of a store has, as they follow from what it has: energy and area, with the
// coefficients of each point's machine, and a sweep's metrics.
#pragma once

#include "base/config/paths.h"
#include "sim/sweep/condition.h"
#include "sim/sweep/point_table.h"
#include "sim/sweep/sweep_file.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::sweep {

/// A metric's formula, and the column that it fills.
struct MetricColumn {
    std::string name;
    PointFormula formula;
};

/// A sweep's metrics, each with its place in the sweep's document, in an order in which they can be
/// computed.
[[nodiscard]] std::vector<MetricColumn> metrics_of(const SweepSpec& sweep,
                                                   const config::Document& document);

/// `paths`, and all that those of them need which are reckoned.
[[nodiscard]] std::vector<std::string> with_needs(std::vector<std::string> paths,
                                                  const std::vector<MetricColumn>& metrics);

/// Fills the columns of a table that its lines do not have: parameters that its points do not change,
/// from the files that the store has frozen, then energy, area and metrics. `paths` are those of
/// with_needs(), which the table has.
void reckon(PointTable& table, const std::vector<std::string>& paths,
            std::vector<MetricColumn>& metrics, const std::filesystem::path& store,
            const config::ConfigPaths& configs);

} // namespace tessera::sweep
