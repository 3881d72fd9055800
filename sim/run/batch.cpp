// SPDX-License-Identifier: MIT
#include "sim/run/batch.h"

#include "base/config/json_text.h"
#include "base/config/paths.h"
#include "base/error.h"
#include "sim/process/child.h"
#include "sim/process/exit_code.h"
#include "sim/process/output.h"
#include "sim/process/progress_line.h"
#include "sim/process/screen.h"
#include "sim/result/result.h"
#include "sim/run/run.h"
#include "sim/run/several.h"
#include "sim/sweep/labels.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tessera::sim {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResultFile = "result.json";
constexpr const char* kTraceFile = "trace.pftrace.gz";

/// What `--out` asks for: result.json and output.npy, opened before the run, the trace's name, and
/// the other results, whose names are known when it has been planned.
class OutDirectory {
public:
    explicit OutDirectory(const std::string& directory)
        : folder_(directory), json_(folder_.file(kResultFile)), npy_(folder_.file(kAnswerFile)) {}

    [[nodiscard]] std::string trace() const { return folder_.file(kTraceFile); }

    /// `trace_elsewhere`: the run has made no trace here. What an older run left and this one has
    /// not goes.
    void write(const RunReport& report, bool trace_elsewhere) {
        folder_.remove_results();
        for (const ResultFile& output : report.outputs) {
            if (output.name == kAnswerFile) {
                npy_.write(output.bytes);
            } else {
                Output(folder_.file(output.name)).write(output.bytes);
            }
        }
        if (report.outputs.empty()) {
            folder_.remove(kAnswerFile);
        }
        if (trace_elsewhere) {
            folder_.remove(kTraceFile);
        }
        json_.write(json_text(report.result));
    }

    /// After a run that failed.
    void clear() const {
        folder_.remove_results();
        for (const char* name : {kResultFile, kAnswerFile, kTraceFile}) {
            folder_.remove(name);
        }
    }

private:
    OutFolder folder_;
    Output json_;
    Output npy_;
};

RunReport run_elaborated(const RunCommand& command, const std::string& workload,
                         const Elaborate& elaborate) {
    RunReport report;
    const ActivityWatch watch(fs::path(workload).stem().string(), !command.quiet);
    elaborate([&] { report = run_workload(command, workload, config::default_config_paths()); });
    return report;
}

/// In a child: the run in timing mode, or why it needs data, or how it failed.
nlohmann::json timing_attempt(const RunCommand& command, const std::string& workload,
                              const Elaborate& elaborate) {
    try {
        const RunReport report = run_elaborated(command, workload, elaborate);
        return {
            {"result", report.result}, {"memory", report.memory}, {"warnings", report.warnings}};
    } catch (const NeedsData& reason) {
        return {{"needs_data", reason.what()}};
    } catch (...) {
        const Failure failure = failure_of(std::current_exception());
        return {{"exit_code", failure.exit_code}, {"message", failure.message}};
    }
}

/// Without data where that goes: tried in a child, as SystemC elaborates once a process.
RunReport run_auto(RunCommand command, const std::string& workload, const Elaborate& elaborate) {
    command.mode = "timing";
    const ChildBody body = [&] {
        return ChildOutcome{kOk,
                            config::text_of_json(timing_attempt(command, workload, elaborate))};
    };
    const ChildOutcome outcome = run_children({body}, 1).front();
    if (outcome.text.empty()) {
        throw ChildFailed(
            {outcome.exit_code,
             fmt::format("tessera: {}: the run in timing mode ended {}", workload,
                         outcome.signal != 0 ? strsignal(outcome.signal) : "without a result")});
    }
    nlohmann::json attempt = nlohmann::json::parse(outcome.text);
    if (attempt.contains("exit_code")) {
        throw ChildFailed({attempt["exit_code"].get<int>(), attempt["message"].get<std::string>()});
    }
    if (attempt.contains("needs_data")) {
        command.mode = "functional";
        RunReport report = run_elaborated(command, workload, elaborate);
        report.warnings.push_back("run with all data, as timing mode cannot: " +
                                  attempt["needs_data"].get<std::string>());
        return report;
    }
    RunReport report;
    report.result = std::move(attempt["result"]);
    report.memory = std::move(attempt["memory"]);
    report.warnings = attempt["warnings"].get<std::vector<std::string>>();
    return report;
}

RunReport run_in_mode(const RunCommand& command, const std::string& workload,
                      const Elaborate& elaborate) {
    return command.mode == "auto" ? run_auto(command, workload, elaborate)
                                  : run_elaborated(command, workload, elaborate);
}

/// The same with the files of `out`, which a run that fails leaves without those of an older one.
RunReport run_into(OutDirectory& out, RunCommand command, const std::string& workload,
                   const Elaborate& elaborate) {
    const bool trace_elsewhere =
        !command.trace.empty() &&
        !is_same_output(output_place(command.trace), output_place(out.trace()));
    if (command.trace.empty()) {
        command.trace = out.trace();
    }
    try {
        RunReport report = run_in_mode(command, workload, elaborate);
        out.write(report, trace_elsewhere);
        return report;
    } catch (const ConfigError&) { // a slip of the fingers costs nothing
        throw;
    } catch (...) {
        out.clear();
        throw;
    }
}

/// Runs one workload here and prints its summary. `label`: what it is called there and in its result;
/// empty: its own name.
RunReport run_here(const RunCommand& command, const std::string& workload, const std::string& label,
                   const std::string& out_directory, std::FILE* people,
                   const Elaborate& elaborate) {
    RunReport report;
    if (out_directory.empty()) {
        report = run_in_mode(command, workload, elaborate);
    } else {
        OutDirectory out(out_directory);
        report = run_into(out, command, workload, elaborate);
    }
    if (!label.empty()) {
        report.result["workload"]["name"] = label;
    }
    if (!command.quiet) {
        std::fputs(summary_text(report.result, layout_of(people)).c_str(), people);
    } else if (!report.passed) {
        tell_failure(workload + ": " + report.result["check"]["sentence"].get<std::string>());
    }
    for (const auto& warning : report.warnings) {
        tell_warning(warning);
    }
    return report;
}

/// The files of a run into `directory`, for the check of the command line.
void add_folder(const RunCommand& command, const std::string& directory,
                std::vector<NamedOutput>& outputs) {
    for (const char* name : {kResultFile, kAnswerFile, kTraceFile}) {
        if (!directory.empty() && (name != kTraceFile || command.trace.empty())) {
            outputs.push_back({"--out", (fs::path(directory) / name).string()});
        }
    }
    for (const std::string* path : {&command.json, &command.memory, &command.trace}) {
        const fs::path file(*path);
        const bool is_there =
            !directory.empty() && file.has_filename() &&
            fs::weakly_canonical(fs::path(directory)) == fs::weakly_canonical(file).parent_path();
        if (is_there && is_result_file(file.filename().string())) {
            outputs.push_back({"--out", *path});
        }
    }
}

/// Where the summary goes. @throws UsageError
std::FILE* checked_outputs(const RunCommand& command, const std::vector<std::string>& directories) {
    std::vector<NamedOutput> outputs{
        {"--json", command.json}, {"--memory", command.memory}, {"--trace", command.trace}};
    for (const auto& directory : directories) {
        add_folder(command, directory, outputs);
    }
    return check_outputs("run", outputs) ? stderr : stdout;
}

int run_single(const RunCommand& command, const Elaborate& elaborate) {
    std::FILE* const people = checked_outputs(command, {command.out_directory});
    const auto json_file = open_output(command.json);
    const auto memory_file = open_output(command.memory);
    const RunReport report =
        run_here(command, command.workloads.front(), "", command.out_directory, people, elaborate);
    if (json_file != nullptr) {
        json_file->write(json_text(report.result));
    }
    if (memory_file != nullptr) {
        memory_file->write(json_text(report.memory));
    }
    return report.passed ? kOk : kCheckFailed;
}

std::string name_of(const std::string& workload) {
    return fs::path(workload).stem().string();
}

/// Where each workload's result.json goes: DIR/<name>.
std::vector<std::string> directories_of(const RunCommand& command) {
    std::vector<std::string> directories(command.workloads.size());
    if (command.out_directory.empty()) {
        return directories;
    }
    std::set<std::string> names;
    for (std::size_t i = 0; i < directories.size(); ++i) {
        const std::string name = name_of(command.workloads[i]);
        if (!names.insert(name).second) {
            throw UsageError(
                fmt::format("run: --out: got workload '{}' twice, expected different names", name));
        }
        directories[i] = (fs::path(command.out_directory) / name).string();
    }
    return directories;
}

/// What tables call each workload, so that different ones have different names.
std::vector<std::string> labels_of(const std::vector<std::string>& workloads) {
    std::vector<sweep::Called> all;
    for (const std::string& workload : workloads) {
        all.push_back({workload, ""});
    }
    return sweep::config_labels(all);
}

/// In the child: a run that fails hands back why.
ChildOutcome run_one_of_several(const RunCommand& command, std::size_t index,
                                const std::string& label, const std::string& directory,
                                std::FILE* people, const Elaborate& elaborate) {
    const std::string& workload = command.workloads[index];
    try {
        const RunReport report = run_here(command, workload, label, directory, people, elaborate);
        return {report.passed ? kOk : kCheckFailed, config::text_of_json(report.result)};
    } catch (...) {
        const Failure failure = failure_of(std::current_exception());
        tell(failure.message + "\n");
        return {failure.exit_code, config::text_of_json(failed_result(label, failure))};
    }
}

/// What the child handed back; of one that crashed, that it did.
nlohmann::json result_of(const ChildOutcome& outcome, const std::string& workload) {
    if (!outcome.text.empty()) {
        return nlohmann::json::parse(outcome.text);
    }
    const std::string how =
        outcome.signal != 0
            ? fmt::format("by signal {}, {}", outcome.signal,
                          outcome.signal == SIGKILL ? "as the system does where memory runs out"
                                                    : strsignal(outcome.signal))
            : "without a result";
    const Failure failure{outcome.exit_code, fmt::format("{}: the run ended {}", workload, how)};
    tell("tessera: " + failure.message + "\n");
    return failed_result(workload, failure);
}

int run_several(const RunCommand& command, const Elaborate& elaborate) {
    const auto directories = directories_of(command);
    std::FILE* const people = checked_outputs(command, directories);
    // A mistake in the last workload is told before the first one runs.
    check_configuration(command, config::default_config_paths());
    std::optional<OutFolder> folder;
    if (!command.out_directory.empty()) {
        folder.emplace(command.out_directory);
    }
    const auto json_file = open_output(command.json);
    const std::vector<std::string> labels = labels_of(command.workloads);
    std::vector<nlohmann::json> results;
    int code = kOk;
    for (std::size_t i = 0; i < command.workloads.size(); ++i) {
        const ChildBody body = [&] {
            return run_one_of_several(command, i, labels[i], directories[i], people, elaborate);
        };
        const ChildOutcome outcome = run_children({body}, 1).front();
        if (outcome.exit_code > 128) { // interrupted by itself
            return outcome.exit_code;
        }
        code = worse(code, outcome.exit_code);
        results.push_back(result_of(outcome, labels[i]));
        if (!command.quiet) {
            std::fputs("\n", people);
        }
    }
    if (!command.quiet) {
        std::fputs(several_text(results, layout_of(people)).c_str(), people);
    }
    if (json_file != nullptr) {
        json_file->write(json_text(several_results(results)));
    }
    return code;
}

} // namespace

int run_command(const RunCommand& command, const Elaborate& elaborate) {
    return command.workloads.size() == 1 ? run_single(command, elaborate)
                                         : run_several(command, elaborate);
}

} // namespace tessera::sim
