// SPDX-License-Identifier: MIT
#include "sim/report/command/report_command.h"

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "sim/process/output.h"
#include "sim/recording/format.h"
#include "sim/report/command/store_entry.h"
#include "sim/report/page.h"
#include "sim/result/result.h"

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

constexpr std::size_t kMostResultBytes = 512 * kMiB;
constexpr const char* kResultFile = "result.json";
constexpr const char* kMemoryFile = "memory.json"; ///< beside it, where --memory wrote it there

/// A recording beside a result is read up to this size; a page leaves out long ones (page.h).
constexpr std::size_t kMostReadBytes = 512 * kMiB;

json read_json(const fs::path& file, const std::string& what) {
    const std::string text = read_file(file, kMostResultBytes, what);
    try {
        return json::parse(text);
    } catch (const json::exception& error) {
        throw ConfigError(
            {file.string(), 0, 0, "", "got no JSON, expected " + what + ": " + error.what(), ""});
    }
}

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

bool is_result(const json& document) {
    return document.is_object() && document.contains("machine") && document.contains("workload") &&
           (document.contains("cycles") || document.value("status", "") == "failed");
}

/// The recording in the folder of a result, or nothing.
std::string recording_beside(const fs::path& result) {
    const fs::path file = result.parent_path() / recording::kFile;
    return is_file(file) ? read_file(file, kMostReadBytes, "a recording") : std::string();
}

void add_result(const fs::path& file, std::vector<Entry>& entries) {
    json document = read_json(file, "a result");
    json runs = json::array();
    if (document.is_object() && document.contains("runs") && document["runs"].is_array()) {
        runs = std::move(document["runs"]);
    } else {
        runs.push_back(std::move(document));
    }
    for (json& run : runs) {
        if (!is_result(run)) {
            throw ConfigError({file.string(), 0, 0, "",
                               "got other JSON, expected a result of `tessera run --json`", ""});
        }
        json memory = nullptr;
        std::string recording;
        if (file.filename() == kResultFile) {
            const fs::path memory_file = file.parent_path() / kMemoryFile;
            if (is_file(memory_file)) {
                memory = read_json(memory_file, "a memory report");
            }
            recording = recording_beside(file);
        }
        entries.push_back(entry_of_run(std::move(run), std::move(memory), file.string()));
        entries.back().recording = std::move(recording);
    }
}

/// The results below a folder of `--out`: of several runs, each has a folder in it.
std::vector<fs::path> results_in(const fs::path& folder) {
    if (is_file(folder / kResultFile)) {
        return {folder / kResultFile};
    }
    std::vector<fs::path> found;
    for (const auto& one :
         fs::recursive_directory_iterator(folder, fs::directory_options::skip_permission_denied)) {
        if (one.path().filename() == kResultFile && is_file(one.path())) {
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
        entries.push_back(entry_of_store(store));
    }
}

} // namespace

std::string report_text(const cli::ReportCommand& command) {
    process::check_outputs("report", {{"--output", command.output}});
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
