// SPDX-License-Identifier: MIT
// `tessera report`: a page of results, folders of `--out` and stores.
#pragma once

#include "sim/cli/cli.h"

#include <string>

namespace tessera::report {

/// Writes the page and returns the line for stdout. @throws ConfigError where a file is no result;
/// IoError
[[nodiscard]] std::string report_text(const cli::ReportCommand& command);

} // namespace tessera::report
