// SPDX-License-Identifier: MIT
// Writes JSON. Strings that are not UTF-8 (mostly file names) are first made so by base/utf8.h.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace tessera::config {

/// `value` in one line, or with `indent` blanks for each level.
[[nodiscard]] std::string text_of_json(const nlohmann::json& value, int indent = -1);

} // namespace tessera::config
