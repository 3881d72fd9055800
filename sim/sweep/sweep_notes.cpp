// SPDX-License-Identifier: MIT
#include "sim/sweep/sweep_notes.h"

#include "base/config/paths.h"
#include "base/config/read.h"
#include "base/text.h"
#include "sim/sweep/sweep_file.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::sweep {

using Json = nlohmann::json;

void SweepNotes::fail(const std::string& pointer, std::string message, std::string hint) {
    mistakes.push_back(document_.at_value(pointer, std::move(message), std::move(hint)));
}

bool SweepNotes::is_value(const std::string& pointer, const Json& value) {
    if (value.is_number() || value.is_string() || value.is_boolean() || value.is_array()) {
        return true;
    }
    fail(pointer,
         "got " + config::got_text(value) + ", expected a number, text, true, false or a list");
    return false;
}

void SweepNotes::place(const std::string& pointer, const std::string& path, const Json& value) {
    const bool is_config = path == kMachinePath || path == kWorkloadPath;
    if (!value.is_string() ||
        (is_config ? !config::is_path(value.get<std::string>()) : !names_file(path, value))) {
        return;
    }
    const auto written = value.get<std::string>();
    Diagnostic where = document_.at_value(pointer, "");
    std::string file =
        (std::filesystem::path(where.file).parent_path() / written).lexically_normal().string();
    file = !is_config || config::is_path(file) ? file : "./" + file;
    if (!places.add(path, written, {file, "", !is_config, where})) {
        fail(pointer,
             fmt::format("got {}, which is another file than that of {}", in_quotes(written),
                         places.find(path, written)->where.text()),
             "what a file names is relative to that file, what an option names to the working "
             "folder");
    }
}

void SweepNotes::change(const std::string& pointer, const std::string& path) {
    if (path == "machine" || path == "workload") {
        fail(pointer, fmt::format("{} is no axis: it may be a list itself", in_quotes(path)));
    } else if (!changed_.insert(full_path(path)).second) {
        fail(pointer, in_quotes(path) + " is changed twice");
    }
}

} // namespace tessera::sweep
