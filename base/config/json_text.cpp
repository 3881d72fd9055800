// SPDX-License-Identifier: MIT
#include "base/config/json_text.h"

#include "base/utf8.h"

#include <utility>

namespace tessera::config {
namespace {

using nlohmann::json;

json in_utf8(const json& value) {
    if (value.is_string()) {
        return utf8_of(value.get_ref<const std::string&>());
    }
    if (!value.is_structured()) {
        return value;
    }
    json made = value.is_object() ? json::object() : json::array();
    for (const auto& [key, inner] : value.items()) {
        if (value.is_object()) {
            made[utf8_of(key)] = in_utf8(inner);
        } else {
            made.push_back(in_utf8(inner));
        }
    }
    return made;
}

bool is_all_utf8(const json& value) {
    if (value.is_string()) {
        return is_utf8(value.get_ref<const std::string&>());
    }
    if (value.is_structured()) {
        for (const auto& [key, inner] : value.items()) {
            if (!is_utf8(key) || !is_all_utf8(inner)) {
                return false;
            }
        }
    }
    return true;
}

} // namespace

std::string text_of_json(const json& value, int indent) {
    return is_all_utf8(value) ? value.dump(indent) : in_utf8(value).dump(indent);
}

} // namespace tessera::config
