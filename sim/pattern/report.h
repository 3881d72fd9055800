// SPDX-License-Identifier: MIT
// What `tessera pattern show` prints, as text and as JSON; and how shares are printed.
#pragma once

#include "base/layout.h"
#include "kernels/pattern/summary.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace tessera::pattern {

/// "12.5 %"
[[nodiscard]] std::string percent(double share);

/// `type` is the name of the values' type.
[[nodiscard]] std::string summary_text(const Summary& summary, const std::string& file,
                                       std::string_view type, const Layout& layout);
[[nodiscard]] nlohmann::json summary_json(const Summary& summary, const std::string& file,
                                          std::string_view type);

/// What configs/schemas/pattern.schema.json holds: the schema of summary_json().
[[nodiscard]] nlohmann::json summary_schema();

} // namespace tessera::pattern
