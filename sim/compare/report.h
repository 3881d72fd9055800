// SPDX-License-Identifier: MIT
// A comparison as text and as JSON.
#pragma once

#include "base/layout.h"
#include "sim/compare/comparison.h"

#include <nlohmann/json.hpp>

#include <string>

namespace tessera::compare {

[[nodiscard]] std::string comparison_text(const Comparison& comparison, const Layout& layout = {});
[[nodiscard]] nlohmann::json comparison_json(const Comparison& comparison);
/// What configs/schemas/diff.schema.json holds.
[[nodiscard]] nlohmann::json comparison_schema();

} // namespace tessera::compare
