// SPDX-License-Identifier: MIT
// What `tessera sweep show` looks at: points of a store, by the sweep that says what is good.
#pragma once

#include "base/config/read.h"
#include "sim/cli/cli.h"
#include "sim/sweep/command/reckoned.h"
#include "sim/sweep/judge.h"
#include "sim/sweep/point_table.h"
#include "sim/sweep/source.h"

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::sweep {

/// What the command and the sweep ask for.
struct Asked {
    struct Order {
        std::string path;
        bool down = false;
    };
    std::filesystem::path folder; ///< of the store
    config::ConfigPaths places;
    std::optional<Source> source; ///< of the sweep, where there is one
    SweepSpec sweep;
    std::vector<Objective> objectives;
    std::vector<Condition> filters;
    std::vector<Condition> constraints;
    std::vector<MetricColumn> metrics;
    std::vector<std::string> wanted; ///< columns: those asked for, or the objectives'
    std::vector<std::string> group;
    std::vector<Order> sort;
    std::string base; ///< what best is compared with; empty: what changes nothing
};

struct Shown : Asked {
    /// Reads the store. `paths` of results are those of the table.
    Shown(Asked asked, const std::vector<std::string>& paths)
        : Asked(std::move(asked)), table(folder, paths) {}

    PointTable table;
    std::vector<std::size_t> rows; ///< of the table for which the filters hold, sorted
};

/// With `all_metrics`, those that the sweep names are columns too. @throws UsageError for options that
/// mean nothing here; ConfigError, IoError
[[nodiscard]] Shown read_shown(const cli::SweepShowCommand& command, bool all_metrics = false);

/// Whether an estimate and a run may stand beside each other.
[[nodiscard]] bool has_several_modes(const Shown& shown);
/// Columns that say which point it is, and what is shown of it.
[[nodiscard]] std::vector<std::size_t> columns_of_points(const Shown& shown);

} // namespace tessera::sweep
