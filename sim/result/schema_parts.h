// SPDX-License-Identifier: MIT
// Building blocks of the JSON Schemas of our documents.
#pragma once

#include <nlohmann/json.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tessera::result::schema {

using nlohmann::json;

inline json whole(const char* sentence) {
    return {{"type", "integer"}, {"minimum", 0}, {"description", sentence}};
}

inline json number(const char* sentence) {
    return {{"type", "number"}, {"description", sentence}};
}

inline json text(const char* sentence) {
    return {{"type", "string"}, {"description", sentence}};
}

/// An object without further keys. All keys are required except those in `optional`.
inline json object(const char* sentence, json properties,
                   const std::vector<std::string>& optional = {}) {
    json required = json::array();
    for (const auto& [key, value] : properties.items()) {
        if (std::find(optional.begin(), optional.end(), key) == optional.end()) {
            required.push_back(key);
        }
    }
    return {{"type", "object"},
            {"description", sentence},
            {"additionalProperties", false},
            {"properties", std::move(properties)},
            {"required", std::move(required)}};
}

inline json list(const char* sentence, json items) {
    return {{"type", "array"}, {"description", sentence}, {"items", std::move(items)}};
}

/// The schema of unused_parameters() in sim/run/unused_parameters.h.
[[nodiscard]] inline nlohmann::json unused_parameters_schema() {
    return {{"type", "object"},
            {"description", "machine parameters that --set gave and the run has no use for, each "
                            "with what it lacks"},
            {"additionalProperties", {{"type", "string"}}}};
}

} // namespace tessera::result::schema
