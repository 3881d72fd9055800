// SPDX-License-Identifier: MIT
// Configuration as text, for people: a line of columns a parameter, and its meaning below.
//
//     path          value      range  default
//     tile.workers  4 workers  1..8   6
//         hardware worker contexts; docs/evidence.md#tile; set at configs/machines/four.json:5
#pragma once

#include "base/config/document.h"
#include "base/config/shape.h"
#include "base/layout.h"

#include <string>
#include <vector>

namespace tessera::config {

/// Type, range with its unit and default of each parameter, those of one form below its heading.
[[nodiscard]] std::string parameters_text(const std::vector<Parameter>& parameters,
                                          const Layout& layout = {});

struct ResolvedValue {
    std::string path;
    nlohmann::json value;
    std::string origin; ///< "file:line", "--set" or "default"
};

/// The leaves of a resolved document in the order of their paths, each with where it was set.
[[nodiscard]] std::vector<ResolvedValue> resolved_values(const nlohmann::json& resolved,
                                                         const Origins& origins);

/// Value with its unit, range and default of each parameter that `resolved` has, in the order of
/// `shape`. Paths start with `prefix`.
[[nodiscard]] std::string resolved_text(const Shape& shape, const std::string& prefix,
                                        const nlohmann::json& resolved, const Origins& origins,
                                        const Layout& layout = {});

} // namespace tessera::config
