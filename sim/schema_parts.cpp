// SPDX-License-Identifier: MIT
#include "sim/schema_parts.h"

#include <algorithm>

namespace tessera::sim::schema {

using nlohmann::json;

json whole(const char* sentence) {
    return {{"type", "integer"}, {"minimum", 0}, {"description", sentence}};
}

json number(const char* sentence) {
    return {{"type", "number"}, {"description", sentence}};
}

json text(const char* sentence) {
    return {{"type", "string"}, {"description", sentence}};
}

json object(const char* sentence, json properties, const std::vector<std::string>& optional) {
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

json list_of(const char* sentence, const char* item, json properties,
             const std::vector<std::string>& optional) {
    return {{"type", "array"},
            {"description", sentence},
            {"items", object(item, std::move(properties), optional)}};
}

} // namespace tessera::sim::schema
