// SPDX-License-Identifier: MIT
// The files of report/dist, which the program carries: the page's script, its style sheet, and the
// licences of the libraries in the script.
#pragma once

#include <string_view>

namespace tessera::report {

[[nodiscard]] std::string_view bundled_script();
[[nodiscard]] std::string_view bundled_style();
[[nodiscard]] std::string_view bundled_licences();

} // namespace tessera::report
