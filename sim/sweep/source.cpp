// SPDX-License-Identifier: MIT
#include "sim/sweep/source.h"

#include "base/config/suggest.h"
#include "base/error.h"
#include "base/text.h"
#include "base/utf8.h"
#include "kernels/catalog/load.h"
#include "sim/sweep/frozen.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

namespace tessera::sweep {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using config::Document;

/// A sweep of a workload as it is.
Document of_workload(const std::string& workload) {
    return config::parse_document(
        Json{{"schema_version", 1}, {"workload", utf8_of(workload)}}.dump(), "the command line");
}

/// The file of a name that is a sweep's, or else a workload's; the name itself for a workload.
std::pair<Document, std::string> read_what(const std::string& what,
                                           const config::ConfigPaths& paths) {
    if (config::is_path(what)) {
        Document document = catalog::read_workload(what);
        const bool is_workload = document.root.is_object() && document.root.contains("kind");
        return {is_workload ? of_workload(what) : std::move(document), fs::path(what).stem()};
    }
    if (const auto file = config::find_name(paths, "sweeps", what)) {
        return {config::read_document(*file), what};
    }
    if (config::find_name(paths, "workloads", what)) {
        return {of_workload(what), what};
    }
    std::vector<std::string> names;
    for (const char* kind : {"sweeps", "workloads"}) {
        for (const auto& entry : config::list_configs(paths, kind)) {
            names.push_back(entry.name);
        }
    }
    throw ConfigError(Diagnostic{"", 0, 0, "", "unknown sweep or workload " + in_quotes(what),
                                 config::did_you_mean(what, names)});
}

/// Takes an axis out; those behind it move up with their places in the file.
void erase_axis(Document& document, std::size_t which) {
    document.root["axes"].erase(which);
    const std::string prefix = "/axes/";
    config::Origins origins;
    for (auto& [pointer, origin] : document.origins) {
        const bool is_axis = pointer.starts_with(prefix);
        const std::size_t end = is_axis ? pointer.find('/', prefix.size()) : 0;
        const std::size_t number =
            is_axis ? std::stoul(pointer.substr(prefix.size(), end - prefix.size())) : 0;
        if (!is_axis || number < which) {
            origins.emplace(pointer, std::move(origin));
        } else if (number > which) {
            const std::string below = end == std::string::npos ? "" : pointer.substr(end);
            origins.emplace(fmt::format("{}{}{}", prefix, number - 1, below), std::move(origin));
        }
    }
    document.origins = std::move(origins);
}

/// What the file says of a path, taken out of it.
void forget(Document& document, const std::string& path) {
    const auto is_it = [&](const Json& other) {
        return other.is_string() && full_path(other.get<std::string>()) == full_path(path);
    };
    if (document.root.contains("set") && document.root["set"].is_object()) {
        std::vector<std::string> same;
        for (const auto& [key, value] : document.root["set"].items()) {
            if (is_it(key)) {
                same.push_back(key);
            }
        }
        for (const std::string& key : same) {
            document.root["set"].erase(key);
        }
    }
    if (document.root.contains("axes") && document.root["axes"].is_array()) {
        for (std::size_t i = document.root["axes"].size(); i-- > 0;) {
            const Json& axis = document.root["axes"][i];
            if (axis.is_object() && is_it(axis.value("path", Json()))) {
                erase_axis(document, i);
            }
        }
    }
}

Json typed(const std::string& text) {
    const auto parsed = config::parse_value(text, "--set");
    return parsed && !parsed->is_object() && !parsed->is_null() ? *parsed : Json(text);
}

void apply(Document& document, const std::string& option) {
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos || equals == 0) {
        throw ConfigError(Diagnostic{"--set", 0, 0, "",
                                     "got " + in_quotes(option) + ", expected path=value", ""});
    }
    if (!is_utf8(option)) {
        throw ConfigError(
            Diagnostic{"--set", 0, 0, "",
                       "got " + in_quotes(utf8_of(option)) + ", expected text in UTF-8", ""});
    }
    const std::string path = option.substr(0, equals);
    const std::vector<std::string> texts = split_values(option.substr(equals + 1));
    forget(document, path);
    config::Origin origin;
    origin.file = "--set";
    origin.path = path;
    if (texts.size() == 1) {
        document.replace(config::child_pointer("/set", path), typed(texts.front()), origin);
        return;
    }
    Json values = Json::array();
    for (const std::string& text : texts) {
        values.push_back(typed(text));
    }
    Json axes = document.root.value("axes", Json::array());
    if (!axes.is_array()) {
        return; // told when the document is read
    }
    const std::string pointer = fmt::format("/axes/{}", axes.size());
    axes.push_back({{"path", path}, {"values", std::move(values)}});
    document.root["axes"] = std::move(axes); // those of the file are where they were
    document.origins[pointer] = origin;
}

} // namespace

std::vector<std::string> split_values(const std::string& text) {
    std::vector<std::string> parts{""};
    int depth = 0;
    bool quoted = false;
    for (const char c : text) {
        quoted = quoted != (c == '"');
        depth += quoted ? 0 : (c == '[' || c == '{') ? 1 : (c == ']' || c == '}') ? -1 : 0;
        if (c == ',' && depth <= 0 && !quoted) {
            parts.emplace_back();
        } else {
            parts.back() += c;
        }
    }
    return parts;
}

Source read_source(const SourceOptions& options, const config::ConfigPaths& paths) {
    auto [document, name] = read_what(options.what, paths);
    if (document.root.is_object()) {
        for (const std::string& option : options.sets) {
            apply(document, option);
        }
        config::Origin origin;
        if (!options.machines.empty()) {
            origin.file = "--machine";
            Json machines = Json::array();
            for (const std::string& machine : options.machines) {
                machines.push_back(utf8_of(machine));
            }
            document.replace("/machine", std::move(machines), origin);
        }
        if (!options.mode.empty()) {
            origin.file = "--mode";
            document.replace("/mode", options.mode, origin);
        }
    }
    SweepSpec sweep = read_sweep(document);
    const auto place = [&](const char* kind, const std::string& given) {
        if (utf8_of(given) != given) { // what a sweep says is text, and a file's name need not be
            sweep.places.replace(kind, utf8_of(given), {given, "", false, Diagnostic{}});
        }
    };
    place(kWorkloadPath, options.what);
    std::for_each(options.machines.begin(), options.machines.end(),
                  [&](const std::string& machine) { place(kMachinePath, machine); });
    Source source{std::move(name),
                  config::is_path(options.what) ? std::optional<fs::path>(options.what)
                                                : std::nullopt,
                  std::move(document), std::move(sweep)};
    take_what_was_frozen(source);
    return source;
}

} // namespace tessera::sweep
