// SPDX-License-Identifier: MIT
#include "sim/result/result_file.h"

#include "base/error.h"
#include "base/input_file.h"
#include "base/units.h"

#include <cmath>

namespace tessera::result {

using nlohmann::json;

bool is_result(const json& document) {
    const auto has_name = [&](const char* key) {
        const auto found = document.find(key);
        return found != document.end() && found->is_object() && found->contains("name") &&
               found->at("name").is_string();
    };
    constexpr double kMostCycles = 9e18; // of 63 bits
    return document.is_object() && has_name("machine") && has_name("workload") &&
           document.contains("cycles") && document.at("cycles").is_number() &&
           document.at("cycles").get<double>() >= 0 &&
           document.at("cycles").get<double>() < kMostCycles;
}

json read_json(const std::filesystem::path& file, const std::string& what) {
    constexpr std::size_t kMostBytes = 512 * kMiB;
    const std::string text = read_file(file, kMostBytes, what);
    try {
        return json::parse(text);
    } catch (const json::exception& error) {
        throw ConfigError(
            {file.string(), 0, 0, "", "got no JSON, expected " + what + ": " + error.what(), ""});
    }
}

json read_result(const std::filesystem::path& file) {
    json document = read_json(file, "a result");
    if (!is_result(document)) {
        throw ConfigError({file.string(), 0, 0, "",
                           "got other JSON, expected a result of `tessera run --json` for one run",
                           ""});
    }
    return document;
}

double number_at(const json& document, const std::string& pointer) {
    const json::json_pointer at(pointer);
    return document.contains(at) && document.at(at).is_number() &&
                   std::isfinite(document.at(at).get<double>())
               ? document.at(at).get<double>()
               : 0;
}

std::string text_at(const json& document, const std::string& pointer) {
    const json::json_pointer at(pointer);
    return document.contains(at) && document.at(at).is_string()
               ? printable(document.at(at).get<std::string>())
               : "";
}

const json& list_at(const json& document, const std::string& key) {
    static const json empty = json::array();
    const auto found = document.find(key);
    return found != document.end() && found->is_array() ? *found : empty;
}

std::string printable(std::string text) {
    for (char& c : text) {
        c = static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
    }
    return text;
}

} // namespace tessera::result
