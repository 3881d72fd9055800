// SPDX-License-Identifier: MIT
#include "sim/batch.h"

#include "base/config/paths.h"
#include "base/error.h"
#include "sim/child.h"
#include "sim/exit_code.h"
#include "sim/output.h"
#include "sim/progress_line.h"
#include "sim/result.h"
#include "sim/run.h"
#include "sim/screen.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

namespace tessera::sim {
namespace {

namespace fs = std::filesystem;

/// What `--out` asks for, opened before the run: result.json, output.npy, and the trace's name.
class OutDirectory {
public:
    explicit OutDirectory(const std::string& directory)
        : path_(made(directory)), json_((path_ / "result.json").string()),
          npy_((path_ / "output.npy").string()) {}

    [[nodiscard]] std::string trace() const { return (path_ / "trace.pftrace.gz").string(); }

    void write(const RunReport& report) {
        if (!report.output_npy.empty()) {
            npy_.write(report.output_npy);
        }
        json_.write(json_text(report.result));
    }

private:
    static fs::path made(const std::string& directory) {
        std::error_code failed;
        fs::create_directories(directory, failed);
        if (failed) {
            throw IoError(
                fmt::format("{}: the directory cannot be made: {}", directory, failed.message()));
        }
        return directory;
    }

    fs::path path_;
    Output json_;
    Output npy_;
};

/// Runs one workload here and prints its summary.
RunReport run_here(RunCommand command, const std::string& workload,
                   const std::string& out_directory, bool to_stderr, const Elaborate& elaborate) {
    std::unique_ptr<OutDirectory> out;
    if (!out_directory.empty()) {
        out = std::make_unique<OutDirectory>(out_directory);
        if (command.trace.empty()) {
            command.trace = out->trace();
        }
    }
    RunReport report;
    {
        const ActivityWatch watch(fs::path(workload).stem().string(), !command.quiet);
        elaborate(
            [&] { report = run_workload(command, workload, config::default_config_paths()); });
    }
    if (out != nullptr) {
        out->write(report);
    }
    if (!command.quiet) {
        std::FILE* const people = to_stderr ? stderr : stdout;
        std::fputs(summary_text(report.result, layout_of(people)).c_str(), people);
    }
    for (const auto& warning : report.warnings) {
        tell_warning(warning);
    }
    return report;
}

int run_single(const RunCommand& command, const Elaborate& elaborate) {
    const auto json_file = open_output(command.json);
    const auto memory_file = open_output(command.memory);
    const bool json_to_stdout = command.json == "-";
    const RunReport report = run_here(command, command.workloads.front(), command.out_directory,
                                      json_to_stdout, elaborate);
    if (json_file != nullptr) {
        json_file->write(json_text(report.result));
    }
    if (memory_file != nullptr) {
        memory_file->write(json_text(report.memory));
    }
    if (json_to_stdout) {
        std::fputs(json_text(report.result).c_str(), stdout);
    }
    return report.passed ? kOk : kCheckFailed;
}

/// Where each workload's result.json goes: DIR/<name>.
std::vector<std::string> directories_of(const RunCommand& command) {
    std::vector<std::string> directories(command.workloads.size());
    if (command.out_directory.empty()) {
        return directories;
    }
    std::set<std::string> names;
    for (std::size_t i = 0; i < directories.size(); ++i) {
        const std::string name = fs::path(command.workloads[i]).stem().string();
        if (!names.insert(name).second) {
            throw UsageError(
                fmt::format("run: --out: got workload '{}' twice, expected different names", name));
        }
        directories[i] = (fs::path(command.out_directory) / name).string();
    }
    return directories;
}

int run_several(const RunCommand& command, const Elaborate& elaborate) {
    const auto directories = directories_of(command);
    // A mistake in the last workload is told before the first one runs.
    check_configuration(command, config::default_config_paths());
    const auto json_file = open_output(command.json);
    std::FILE* const people = command.json == "-" ? stderr : stdout;
    std::vector<nlohmann::json> results;
    int code = kOk;
    for (std::size_t i = 0; i < command.workloads.size(); ++i) {
        const ChildBody body = [&]() -> ChildOutcome {
            const RunReport report = run_here(command, command.workloads[i], directories[i],
                                              command.json == "-", elaborate);
            return {report.passed ? kOk : kCheckFailed, report.result.dump()};
        };
        const ChildOutcome outcome = run_children({body}, 1).front();
        if (outcome.exit_code != kOk && outcome.exit_code != kCheckFailed) {
            return outcome.exit_code;
        }
        code = outcome.exit_code == kOk ? code : kCheckFailed;
        results.push_back(nlohmann::json::parse(outcome.text));
        if (!command.quiet) {
            std::fputs("\n", people);
        }
    }
    if (!command.quiet) {
        std::fputs(ratio_text(results, layout_of(people)).c_str(), people);
    }
    const nlohmann::json document = {{"schema_version", kResultSchemaVersion}, {"runs", results}};
    if (json_file != nullptr) {
        json_file->write(json_text(document));
    }
    if (command.json == "-") {
        std::fputs(json_text(document).c_str(), stdout);
    }
    return code;
}

} // namespace

int run_command(const RunCommand& command, const Elaborate& elaborate) {
    return command.workloads.size() == 1 ? run_single(command, elaborate)
                                         : run_several(command, elaborate);
}

} // namespace tessera::sim
