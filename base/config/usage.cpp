// SPDX-License-Identifier: MIT
// Where the value of a field is used, and where it says nothing.
#include "base/config/shape.h"

#include <algorithm>

namespace tessera::config {
namespace {

using nlohmann::json;

std::string plain(const json& value) {
    return value.is_string() ? value.get<std::string>() : value_text(value);
}

/// "exchange.fabric mesh or ring", "streaming.capacity_bytes other than 0".
std::string text_of(const Condition& condition) {
    std::vector<std::string> values;
    std::transform(condition.values.begin(), condition.values.end(), std::back_inserter(values),
                   plain);
    return condition.path + (condition.among ? " " : " other than ") + either_text(values);
}

/// Null where the document has nothing there.
json value_at(const json& document, const std::string& path) {
    std::string pointer = "/" + path;
    std::replace(pointer.begin(), pointer.end(), '.', '/');
    const json::json_pointer at(pointer);
    return document.contains(at) ? document.at(at) : json{};
}

} // namespace

const Field* field_at(const Shape& shape, const std::string& path) {
    const auto dot = path.find('.');
    const Field* field = shape.find(path.substr(0, dot));
    if (field == nullptr || dot == std::string::npos) {
        return field;
    }
    return field->shape == nullptr ? nullptr : field_at(*field->shape, path.substr(dot + 1));
}

std::string unused_reason(const Shape& shape, const json& resolved, const std::string& path) {
    const Field* field = field_at(shape, path);
    if (field == nullptr) {
        return {};
    }
    for (const Condition& condition : field->used_with) {
        const json value = value_at(resolved, condition.path);
        const auto& values = condition.values;
        const bool found = std::find(values.begin(), values.end(), value) != values.end();
        if (found != condition.among) {
            return "it is used with " + text_of(condition) + ", and that is " + plain(value) +
                   " here";
        }
    }
    return {};
}

std::string used_text(const Field& field) {
    std::string out;
    for (const Condition& condition : field.used_with) {
        out += (out.empty() ? "with " : " and ") + text_of(condition);
    }
    if (!field.used_by.empty()) {
        out += (out.empty() ? "by " : "; by ") + either_text(field.used_by);
    }
    return out;
}

std::string either_text(const std::vector<std::string>& words) {
    std::string out;
    for (std::size_t i = 0; i < words.size(); ++i) {
        out += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
    }
    return out;
}

} // namespace tessera::config
