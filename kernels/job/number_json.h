// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

#include <cmath>

namespace tessera::job {

/// NaN and infinity have no JSON number.
[[nodiscard]] inline nlohmann::json number_or_text(double value) {
    return std::isfinite(value) ? nlohmann::json(value)
                                : nlohmann::json(std::isnan(value) ? "nan" : "inf");
}

} // namespace tessera::job
