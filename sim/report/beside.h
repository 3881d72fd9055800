// SPDX-License-Identifier: MIT
// A result of a file as an entry of a page, with what a folder of `--out` has beside it.
#pragma once

#include "sim/report/page.h"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace tessera::report {

/// Makes the entry of a result, or of a run that failed, which `file` has. If that is a folder's
/// result.json, its memory report and its recording come with it. A damaged recording is left out with
/// a warning, and the page says why. @throws ConfigError where the memory report is no JSON
[[nodiscard]] Entry entry_of_file(nlohmann::json result, const std::filesystem::path& file);

} // namespace tessera::report
