// SPDX-License-Identifier: MIT
// JSON of any strings: those that are no UTF-8, names of files mostly, are written by base/utf8.h.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace tessera::config {

/// In one line, or with `indent` blanks a level.
[[nodiscard]] std::string text_of_json(const nlohmann::json& value, int indent = -1);

} // namespace tessera::config
