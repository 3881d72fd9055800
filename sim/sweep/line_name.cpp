// SPDX-License-Identifier: MIT
#include "sim/sweep/line_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace tessera::sweep {

Value value_of(const nlohmann::json& json) {
    if (json.is_number()) {
        return json.get<double>();
    }
    if (json.is_boolean()) {
        return json.get<bool>() ? 1.0 : 0.0;
    }
    if (json.is_string()) {
        return json.get<std::string>();
    }
    if (json.is_array()) {
        std::vector<Value> values;
        for (const nlohmann::json& one : json) {
            values.push_back(value_of(one));
        }
        return list_text(values);
    }
    return std::nullopt;
}

std::string value_text(const Value& value) {
    return !value                                   ? ""
           : std::holds_alternative<double>(*value) ? fmt::format("{}", std::get<double>(*value))
                                                    : std::get<std::string>(*value);
}

std::string list_text(const std::vector<Value>& values) {
    std::string text;
    for (const Value& value : values) {
        text += (text.empty() ? "" : ", ") + value_text(value);
    }
    return "[" + text + "]";
}

LineName line_name(const std::string& machine, const std::string& workload, const std::string& mode,
                   Settings settings) {
    constexpr char kApart = '\0'; // in no name
    std::sort(settings.begin(), settings.end());
    std::string text = machine + kApart + workload + kApart + mode + kApart;
    for (const auto& [path, value] : settings) {
        const bool is_word = value && std::holds_alternative<std::string>(*value);
        text += path + kApart + (is_word ? "w" : "n") + value_text(value) + kApart;
    }
    const PointKey digest = sha256(text);
    LineName name = 0;
    std::memcpy(&name, digest.bytes.data(), sizeof name);
    return name;
}

} // namespace tessera::sweep
