// SPDX-License-Identifier: MIT
#include "sim/sweep/command/record.h"

#include "sim/process/exit_code.h"
#include "sim/result/result.h"
#include "sim/sweep/store.h"

#include <utility>

namespace tessera::sweep {
namespace {

using Json = nlohmann::json;

/// Takes lists, which are of single steps, out of a result; they stand in `lists` by their paths.
void take_lists(const std::string& path, Json& value, Json& lists) {
    for (auto one = value.begin(); one != value.end();) {
        const std::string inner = path.empty() ? one.key() : path + "." + one.key();
        if (one->is_object()) {
            take_lists(inner, *one, lists);
        }
        if (one->is_array()) {
            lists[inner] = std::move(*one);
        }
        one = one->is_null() || (one->is_object() && one->empty()) ? value.erase(one) : ++one;
    }
}

} // namespace

cli::RunCommand run_of(const PlannedPoint& point, const std::string& mode, int threads) {
    cli::RunCommand run;
    run.workloads = {point.workload_file};
    run.machine = point.machine_file;
    run.sets = point.sets;
    run.mode = mode;
    run.threads = threads;
    run.quiet = true;
    return run;
}

std::string status_of(const process::ChildOutcome& outcome) {
    if (outcome.was_late) {
        return "time_limit";
    }
    if (outcome.signal != 0) {
        return outcome.exit_code == process::kHostMemory ? "killed" : "crash";
    }
    switch (outcome.exit_code) {
    case process::kOk:
        return kOkStatus;
    case process::kCheckFailed:
        return "check_failed";
    case process::kConfig:
        return "invalid";
    case process::kDoesNotFit:
        return "does_not_fit";
    case process::kProgramFault:
        return "fault";
    case process::kHostMemory:
        return "memory_limit";
    default:
        return "error";
    }
}

void name_line(const PlannedPoint& point, Json& record) {
    Json changes = Json::object();
    for (const Change& change : point.changes) {
        changes[change.path] = change.value;
    }
    record["machine"] = point.machine;
    record["workload"] = point.workload;
    record["changes"] = std::move(changes);
    record["contents"] = point.contents;
}

Json record_of(const PlannedPoint& point, const std::string& mode,
               const process::ChildOutcome& outcome, bool keep_lists) {
    Json record{{"key", point.key.text()},
                {"status", status_of(outcome)},
                {"mode", mode},
                {"model", result::kModelVersion}};
    name_line(point, record);
    Json result = Json::parse(outcome.text, nullptr, false);
    if (!result.is_object()) {
        return record;
    }
    if (result.contains("message")) {
        if (result["not_modelled"].get<bool>()) {
            record["status"] = "not_modelled";
        }
        record["message"] = result["message"];
        return record;
    }
    record["host"] = {{"wall_s", result["host"]["wall_s"]},
                      {"peak_rss_bytes", result["host"]["peak_rss_bytes"]}};
    // what the host felt, what the point says anyway, and what is reckoned when it is asked for
    for (const char* part :
         {"host", "machine", "workload", "schema_version", "status", "energy", "area"}) {
        result.erase(part);
    }
    std::string note;
    for (const Json& one : result.value("notes", Json::array())) {
        note += (note.empty() ? "" : "; ") + one.get<std::string>();
    }
    if (!note.empty()) {
        record["note"] = std::move(note);
    }
    Json lists = Json::object();
    take_lists("", result, lists);
    record["result"] = std::move(result);
    if (keep_lists) {
        record["lists"] = std::move(lists);
    }
    return record;
}

} // namespace tessera::sweep
