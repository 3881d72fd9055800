// SPDX-License-Identifier: MIT
#include "sim/report/beside.h"

#include "base/error.h"
#include "base/input_file.h"
#include "base/text.h"
#include "sim/process/exit_code.h"
#include "sim/recording/format.h"
#include "sim/recording/read.h"
#include "sim/result/result_file.h"

#include <cstddef>
#include <string>
#include <system_error>
#include <utility>

namespace tessera::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kMemoryFile = "memory.json"; ///< beside it, where --memory wrote it there

/// A recording beside a result is read up to this size; a page leaves out long ones (page.h).
constexpr std::size_t kMostReadBytes = 512 * kMiB;

bool is_file(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored);
}

/// The memory report beside a result, or null: where there is none, or it is of another run.
json memory_beside(const fs::path& file, const json& result) {
    const fs::path place = file.parent_path() / kMemoryFile;
    json memory = is_file(place) ? result::read_json(place, "a memory report") : json();
    const bool is_its =
        memory.is_object() &&
        memory.value("workload", json()) == result::text_at(result, "/workload/name") &&
        memory.value("machine", json()) == result::text_at(result, "/machine/name");
    return is_its ? memory : json();
}

/// Adds the recording in the folder of a result, if it is of that run.
void add_recording(const fs::path& file, Entry& entry) {
    const fs::path place = file.parent_path() / recording::kFile;
    if (!is_file(place)) {
        return;
    }
    try {
        if (recording::Recording(place).is_of(entry.data["result"])) {
            entry.recording = read_file(place, kMostReadBytes, "a recording");
        } else {
            entry.data["no_recording"] = "The one beside the result is of another run.";
        }
    } catch (const IoError& error) {
        process::tell_warning(std::string(error.what()) + "; the page is without it");
        entry.data["no_recording"] = error.what();
    }
}

} // namespace

Entry entry_of_file(json result, const fs::path& file) {
    const bool has_folder = file.filename() == result::kResultFile;
    json memory = has_folder ? memory_beside(file, result) : json();
    Entry entry = entry_of_run(std::move(result), std::move(memory), file.string());
    if (has_folder && entry.data.contains("result")) {
        add_recording(file, entry);
    }
    return entry;
}

} // namespace tessera::report
