// SPDX-License-Identifier: MIT
#include "sim/report/beside.h"

#include "base/error.h"
#include "sim/process/exit_code.h"
#include "sim/recording/format.h"
#include "sim/recording/read.h"
#include "sim/result/result_file.h"

#include <algorithm>
#include <string>
#include <utility>

namespace tessera::report {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The memory report beside a result, or null: where there is none, or it is of another run.
json memory_beside(const fs::path& file, const json& result) {
    const fs::path place = file.parent_path() / result::kMemoryFile;
    json memory = result::is_file(place) ? result::read_json(place, "a memory report") : json();
    if (!memory.is_object()) {
        return {};
    }
    double most = 0;
    for (const json& tiles : result::list_at(memory, "tiles")) {
        most = std::max(most, result::number_at(tiles, "/peak_bytes"));
    }
    const bool is_its =
        memory.value("workload", json()) == result::text_at(result, "/workload/name") &&
        memory.value("machine", json()) == result::text_at(result, "/machine/name") &&
        most == result::number_at(result, "/memory/max_bytes");
    if (!is_its) {
        process::tell_warning(
            place.string() +
            " is of another run than the result beside it; the page is without it");
        return {};
    }
    return memory;
}

/// Adds the recording in the folder of a result, if it is of that run.
void add_recording(const fs::path& file, Entry& entry) {
    const fs::path place = file.parent_path() / recording::kFile;
    if (!result::is_file(place)) {
        return;
    }
    try {
        recording::Recording recording(place);
        if (recording.is_of(entry.data["result"])) {
            entry.recording = std::move(recording).take_bytes(); // the page compresses them anew
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
