// SPDX-License-Identifier: MIT
// Words for writing JSON Schemas.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tessera::sim::schema {

[[nodiscard]] nlohmann::json whole(const char* sentence);
[[nodiscard]] nlohmann::json number(const char* sentence);
[[nodiscard]] nlohmann::json text(const char* sentence);
/// An object whose keys are all required and the only ones, but for those in `optional`.
[[nodiscard]] nlohmann::json object(const char* sentence, nlohmann::json properties,
                                    const std::vector<std::string>& optional = {});
/// A list of such objects, each called `item`.
[[nodiscard]] nlohmann::json list_of(const char* sentence, const char* item,
                                     nlohmann::json properties,
                                     const std::vector<std::string>& optional = {});

} // namespace tessera::sim::schema
