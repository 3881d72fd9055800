// SPDX-License-Identifier: MIT
#include "sim/sweep/places.h"

#include "base/config/shape.h"
#include "base/error.h"
#include "base/text.h"
#include "kernels/catalog/load.h"

#include <algorithm>
#include <system_error>
#include <vector>

namespace tessera::sweep {
namespace {

namespace fs = std::filesystem;

std::string last_key(const std::string& path) {
    return path.substr(path.rfind('.') + 1);
}

/// Endings of the files that a key of a workload may name.
const std::map<std::string, std::vector<std::string>>& suffixes_by_key() {
    static const auto suffixes = [] {
        std::map<std::string, std::vector<std::string>> all;
        for (const auto& parameter : config::parameters(catalog::workload_shape())) {
            if (!parameter.suffixes.empty()) {
                all[last_key(parameter.path)] = parameter.suffixes;
            }
        }
        return all;
    }();
    return suffixes;
}

} // namespace

bool names_file(const std::string& path, const nlohmann::json& value) {
    const auto found = suffixes_by_key().find(last_key(path));
    if (!path.starts_with(catalog::kSetPrefix) || !value.is_string() ||
        found == suffixes_by_key().end()) {
        return false;
    }
    const auto text = value.get<std::string>();
    return std::any_of(found->second.begin(), found->second.end(),
                       [&](const std::string& suffix) { return text.ends_with(suffix); });
}

bool Places::add(const std::string& path, const std::string& written, Place place) {
    const auto [known, is_new] = places_.try_emplace({path, written}, place);
    return is_new || known->second.file == place.file;
}

const Places::Place* Places::find(const std::string& path, const std::string& written) const {
    const auto found = places_.find({path, written});
    return found == places_.end() ? nullptr : &found->second;
}

std::string Places::file_of(const std::string& path, const std::string& written,
                            const config::ConfigPaths& paths) const {
    const Place* const place = find(path, written);
    if (place == nullptr || !place->is_sought) {
        return place == nullptr ? written : place->file;
    }
    std::vector<fs::path> files{place->file};
    for (const fs::path& root : paths.roots) {
        files.push_back(root / "data" / written);
    }
    std::string tried;
    for (const fs::path& file : files) {
        std::error_code ignored;
        if (fs::is_regular_file(file, ignored)) {
            return file.lexically_normal().string();
        }
        tried += (tried.empty() ? "" : ", ") + file.lexically_normal().string();
    }
    Diagnostic missing = place->where;
    missing.message = "cannot find " + in_quotes(written);
    missing.hint = "looked for " + tried;
    throw IoError(missing.text());
}

} // namespace tessera::sweep
