// SPDX-License-Identifier: MIT
#include "sim/result/result_file.h"

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "base/units.h"
#include "sim/cli/cli.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>

namespace tessera::result {

using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Whether a folder is a store (sim/sweep/store.h): its lines stand in files of that ending.
bool is_store(const fs::path& folder) {
    std::error_code ignored;
    for (const auto& one : fs::directory_iterator(folder, ignored)) {
        if (one.path().extension() == ".jsonl") {
            return true;
        }
    }
    return false;
}

bool takes_the_place_of(const fs::path& output, const std::string& input) {
    std::error_code ignored;
    if (fs::equivalent(output, input, ignored)) {
        return true;
    }
    fs::path folder(input);
    const std::size_t colon = input.rfind(':');
    if (!fs::exists(folder, ignored) && colon != std::string::npos) {
        folder = input.substr(0, colon);
    }
    if (!fs::is_directory(folder, ignored)) {
        return false;
    }
    const fs::path within =
        fs::weakly_canonical(output, ignored).lexically_relative(fs::canonical(folder, ignored));
    if (within.empty() || *within.begin() == "..") {
        return false;
    }
    const std::string name = output.filename().string();
    return is_store(folder) || name == kResultFile || name == kRecordingFile || name == kMemoryFile;
}

} // namespace

bool is_result(const json& document) {
    const auto has_name = [&](const char* key) {
        const auto found = document.find(key);
        return found != document.end() && found->is_object() && found->contains("name") &&
               found->at("name").is_string();
    };
    const auto has_steps = [&](const char* key) {
        const auto found = document.find(key);
        return found == document.end() ||
               (found->is_array() && std::all_of(found->begin(), found->end(),
                                                 [](const json& one) { return one.is_object(); }));
    };
    constexpr double kMostCycles = 9e18; // of 63 bits
    return document.is_object() && has_name("machine") && has_name("workload") &&
           document.contains("cycles") && document.at("cycles").is_number() &&
           document.at("cycles").get<double>() >= 0 &&
           document.at("cycles").get<double>() < kMostCycles &&
           std::all_of(kStepLists.begin(), kStepLists.end(),
                       [&](const auto& list) { return has_steps(list.first); });
}

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
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
    if (document.is_object() && document.contains("runs")) {
        throw ConfigError({file.string(), 0, 0, "",
                           "got a file of several runs, expected the result of one: --out DIR "
                           "writes one for each run, in a folder of its own",
                           ""});
    }
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

void keep_inputs(const std::string& command, const std::vector<process::NamedOutput>& outputs,
                 const std::vector<std::string>& inputs) {
    for (const auto& [option, path] : outputs) {
        for (const std::string& input : inputs) {
            if (!path.empty() && path != "-" && takes_the_place_of(path, input)) {
                throw cli::UsageError(
                    fmt::format("{}: {}: {} is what the command reads, expected another file",
                                command, option, in_quotes(path)));
            }
        }
    }
}

std::string printable(std::string text) {
    for (char& c : text) {
        c = static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
    }
    return text;
}

} // namespace tessera::result
