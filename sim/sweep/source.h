// SPDX-License-Identifier: MIT
// The sweep that a command line means: a file, a workload alone, and what options change of it.
#pragma once

#include "base/config/document.h"
#include "base/config/paths.h"
#include "sim/sweep/sweep_file.h"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera::sweep {

/// What options say of a sweep.
struct SourceOptions {
    std::string what;                  ///< a sweep's or workload's name or file
    std::vector<std::string> machines; ///< instead of the sweep's; empty: not said
    std::vector<std::string> sets;     ///< `path=value`, or several values, which make an axis
    std::string mode;                  ///< instead of the sweep's; empty: not said
};

struct Source {
    std::string name;                          ///< of its file, or of the workload
    std::optional<std::filesystem::path> file; ///< where it was named by its file
    config::Document document;
    SweepSpec sweep;
    bool is_asked = false; ///< its points are asked for one by one, and are all that a store has
};

/// @throws ConfigError with all mistakes; IoError if a file cannot be read
[[nodiscard]] Source read_source(const SourceOptions& options, const config::ConfigPaths& paths);

/// "4,6,8" -> 4, 6, 8; commas in brackets, braces and quotes are of a value.
[[nodiscard]] std::vector<std::string> split_values(const std::string& text);

} // namespace tessera::sweep
