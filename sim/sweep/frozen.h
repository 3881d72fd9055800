// SPDX-License-Identifier: MIT
// A sweep as it was run, beside its points: STORE/sweeps/NAME-HASH.json and a folder of that name
// with its machines, workloads and what these read. Whoever comes later runs the same points,
// whatever has become of the files.
#pragma once

#include "base/config/paths.h"
#include "sim/sweep/source.h"

#include <filesystem>
#include <optional>
#include <string>

namespace tessera::sweep {

/// Writes it, unless it comes from there, and returns its file. @throws ConfigError, IoError
std::filesystem::path freeze(const Source& source, const config::ConfigPaths& paths,
                             const std::filesystem::path& store);

/// The sweep of a store that was frozen or run last; nothing where there is none.
[[nodiscard]] std::optional<std::filesystem::path> last_frozen(const std::filesystem::path& store);

} // namespace tessera::sweep
