// SPDX-License-Identifier: MIT
// Whole files in and out of memory.
#pragma once

#include <string>
#include <string_view>

namespace tessera::workload {

/// The bytes of a regular file. Throws IoError if it is absent, unreadable or no regular file.
[[nodiscard]] std::string read_file(const std::string& path);

/// Writes `path.tmp` and renames it to `path`, so that a reader never sees half a file. Throws
/// IoError if it cannot; the temporary file is then removed.
void write_file(const std::string& path, std::string_view bytes);

} // namespace tessera::workload
