// SPDX-License-Identifier: MIT
// A sweep as it was run, beside its points: STORE/sweeps/NAME-HASH.json says what the sweep's file
// and the options said, and the folder of that name has its machines, workloads and files, with
// places.json, which says where each name of the sweep leads. Whoever comes later runs and judges the
// same lines, whatever has become of the files.
#pragma once

#include "base/config/paths.h"
#include "sim/sweep/planner.h"
#include "sim/sweep/source.h"

#include <array>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace tessera::sweep {

/// Writes it, unless it is there, as the one that was run last; returns its file. `planner`: of the
/// source's sweep. @throws ConfigError, IoError
std::filesystem::path freeze(const Source& source, Planner& planner,
                             const config::ConfigPaths& paths, const std::filesystem::path& store);

/// Gives a source what was frozen with it; nothing where it was not. @throws ConfigError, IoError
void take_what_was_frozen(Source& source);

/// Adds the frozen sweeps of one store to another, with their times. @throws IoError
void copy_frozen(const std::filesystem::path& from, const std::filesystem::path& to);

/// What the frozen sweeps of a store have of what lines name.
class FrozenNames {
public:
    explicit FrozenNames(const std::filesystem::path& store);
    /// The file that has what `written` led to where its digest was `content`; nothing where no sweep
    /// of the store has it.
    [[nodiscard]] std::optional<std::string>
    find(const std::string& path, const std::string& written, const std::string& content) const;

private:
    std::map<std::array<std::string, 3>, std::string> files_;
};

/// The sweep of a store that was frozen or run last; nothing where there is none.
[[nodiscard]] std::optional<std::filesystem::path> last_frozen(const std::filesystem::path& store);

} // namespace tessera::sweep
