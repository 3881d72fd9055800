// SPDX-License-Identifier: MIT
#include "sim/report/command/report_command.h"

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "sim/process/output.h"
#include "sim/report/beside.h"
#include "sim/report/command/store_entry.h"
#include "sim/report/page.h"
#include "sim/result/result.h"
#include "sim/result/result_file.h"
#include "sim/sweep/store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

namespace tessera::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// A run that failed has no cycles (sim/run/several.h).
bool is_result_or_failure(const json& document) {
    return result::is_result(document) ||
           (document.is_object() && result::text_at(document, "/status") == "failed");
}

void add_result(const fs::path& file, std::vector<Entry>& entries) {
    json document = result::read_json(file, "a result");
    json runs = json::array();
    if (document.is_object() && document.contains("runs") && document["runs"].is_array()) {
        runs = std::move(document["runs"]);
    } else {
        runs.push_back(std::move(document));
    }
    for (json& run : runs) {
        if (!is_result_or_failure(run)) {
            throw ConfigError({file.string(), 0, 0, "",
                               "got other JSON, expected a result of `tessera run --json`", ""});
        }
        entries.push_back(entry_of_file(std::move(run), file));
    }
}

/// The results below a folder of `--out`: of several runs, each has a folder in it.
std::vector<fs::path> results_in(const fs::path& folder) {
    if (result::is_file(folder / result::kResultFile)) {
        return {folder / result::kResultFile};
    }
    std::vector<fs::path> found;
    for (const auto& one :
         fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
        if (one.path().filename() == result::kResultFile && result::is_file(one.path())) {
            found.push_back(one.path());
        }
    }
    std::sort(found.begin(), found.end());
    return found;
}

void add(const std::string& name, std::vector<Entry>& entries) {
    const fs::path path(name);
    std::error_code ignored;
    if (!fs::is_directory(path, ignored)) {
        add_result(path, entries);
        return;
    }
    const std::vector<fs::path> results = results_in(path);
    for (const fs::path& file : results) {
        add_result(file, entries);
    }
    if (results.empty()) {
        // a path such as sweeps/a.sweep/ has no last part
        const fs::path store = path.has_filename() ? path : path.parent_path();
        if (!sweep::is_store(store)) {
            throw IoError(fmt::format("{}: neither a result nor a store there", in_quotes(name)));
        }
        entries.push_back(entry_of_store(store));
    }
}

} // namespace

std::string report_text(const cli::ReportCommand& command) {
    const std::vector<process::NamedOutput> outputs{{"--output", command.output}};
    process::check_outputs("report", outputs);
    result::keep_inputs("report", outputs, command.inputs);
    process::Output file(command.output);
    std::vector<Entry> entries;
    for (const std::string& name : command.inputs) {
        add(name, entries);
    }
    const std::size_t count = entries.size();
    const std::string html = page_html(std::move(entries), result::kModelVersion);
    file.write(html);
    return command.quiet || command.output == "-"
               ? ""
               : fmt::format("{}: {}, {:.1f} MiB\n", command.output,
                             count == 1 ? "1 entry" : fmt::format("{} entries", count),
                             static_cast<double>(html.size()) / static_cast<double>(kMiB));
}

} // namespace tessera::report
