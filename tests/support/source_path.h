// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace tessera::test {

/// A file or folder of this project, by its path from the project's root.
[[nodiscard]] std::string source_path(const std::string& relative);

} // namespace tessera::test
