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
#include "sim/recording/format.h"
#include "sim/report/page.h"
#include "sim/result/result.h"
#include "sim/result/result_file.h"
#include "sim/run/results_csv.h"
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
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace tessera::run {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResultFile = "result.json";
constexpr const char* kTraceFile = "trace.pftrace.gz";

/// What `--out` asks for: result.json and output.npy, opened before the run, the trace's name, and
/// the other results, whose names are known when it has been planned.
class OutDirectory {
public:
    explicit OutDirectory(const std::string& directory)
        : folder_(directory), json_(folder_.file(kResultFile)),
          npy_(folder_.file(process::kAnswerFile)) {}

    [[nodiscard]] std::string trace() const { return folder_.file(kTraceFile); }
    [[nodiscard]] std::string recording() const { return folder_.file(recording::kFile); }

    /// `elsewhere`: names of files that the run has made in another place. What an older run left and
    /// this one has not goes.
    void write(const RunReport& report, const std::vector<const char*>& elsewhere) {
        folder_.remove_results();
        for (const ResultFile& output : report.outputs) {
            if (output.name == process::kAnswerFile) {
                npy_.write(output.bytes);
            } else {
                process::Output(folder_.file(output.name)).write(output.bytes);
            }
        }
        if (report.outputs.empty()) {
            folder_.remove(process::kAnswerFile);
        }
        for (const char* name : elsewhere) {
            folder_.remove(name);
        }
        folder_.remove(result::kMemoryFile); // of an older run; this one's comes later
        json_.write(result::json_text(report.result));
    }

    /// After a run that failed.
    void clear() const {
        folder_.remove_results();
        for (const char* name : {kResultFile, process::kAnswerFile, kTraceFile, recording::kFile,
                                 result::kMemoryFile}) {
            folder_.remove(name);
        }
    }

private:
    process::OutFolder folder_;
    process::Output json_;
    process::Output npy_;
};

// What children hand back may have a recording, which is no text: it goes as CBOR.

nlohmann::json::binary_t bytes_of(const std::string& text) {
    return nlohmann::json::binary_t(std::vector<std::uint8_t>(text.begin(), text.end()));
}

std::string text_of(const nlohmann::json& bytes) {
    const auto& binary = bytes.get_binary();
    return {binary.begin(), binary.end()};
}

std::string packed(const nlohmann::json& document) {
    std::string text;
    nlohmann::json::to_cbor(document, text);
    return text;
}

RunReport run_elaborated(const cli::RunCommand& command, const std::string& workload,
                         const Elaborate& elaborate) {
    RunReport report;
    const process::ActivityWatch watch(fs::path(workload).stem().string(), !command.quiet);
    elaborate([&] { report = run_workload(command, workload, config::default_config_paths()); });
    return report;
}

/// In a child: the run in timing mode, or why it needs data, or how it failed.
nlohmann::json timing_attempt(const cli::RunCommand& command, const std::string& workload,
                              const Elaborate& elaborate) {
    try {
        const RunReport report = run_elaborated(command, workload, elaborate);
        return {{"result", report.result},
                {"memory", report.memory},
                {"edges", report.edges},
                {"recording", nlohmann::json::binary(bytes_of(report.recording))},
                {"warnings", report.warnings}};
    } catch (const NeedsData& reason) {
        return {{"needs_data", reason.what()}};
    } catch (...) {
        const process::Failure failure = process::failure_of(std::current_exception());
        return {{"exit_code", failure.exit_code}, {"message", failure.message}};
    }
}

/// Without data where that goes: tried in a child, as SystemC elaborates once a process.
RunReport run_auto(cli::RunCommand command, const std::string& workload,
                   const Elaborate& elaborate) {
    command.mode = "timing";
    const process::ChildBody body = [&] {
        return process::ChildOutcome{process::kOk,
                                     packed(timing_attempt(command, workload, elaborate))};
    };
    const process::ChildOutcome outcome = process::run_children({body}, 1).front();
    if (outcome.text.empty()) {
        throw process::ChildFailed(
            {outcome.exit_code,
             fmt::format("tessera: {}: the run in timing mode ended {}", workload,
                         outcome.signal != 0 ? strsignal(outcome.signal) : "without a result")});
    }
    nlohmann::json attempt = nlohmann::json::from_cbor(outcome.text);
    if (attempt.contains("exit_code")) {
        throw process::ChildFailed(
            {attempt["exit_code"].get<int>(), attempt["message"].get<std::string>()});
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
    report.edges = attempt["edges"].get<std::string>();
    report.recording = text_of(attempt["recording"]);
    report.warnings = attempt["warnings"].get<std::vector<std::string>>();
    return report;
}

RunReport run_in_mode(const cli::RunCommand& command, const std::string& workload,
                      const Elaborate& elaborate) {
    return command.mode == "auto" ? run_auto(command, workload, elaborate)
                                  : run_elaborated(command, workload, elaborate);
}

/// The same with the files of `out`, which a run that fails leaves without those of an older one.
RunReport run_into(OutDirectory& out, cli::RunCommand command, const std::string& workload,
                   const Elaborate& elaborate) {
    std::vector<const char*> elsewhere;
    const auto place = [&](std::string& asked, const std::string& here, const char* name) {
        if (asked.empty()) {
            asked = here;
        } else if (!is_same_output(output_place(asked), output_place(here))) {
            elsewhere.push_back(name);
        }
    };
    place(command.trace, out.trace(), kTraceFile);
    place(command.record, out.recording(), recording::kFile);
    try {
        RunReport report = run_in_mode(command, workload, elaborate);
        out.write(report, elsewhere);
        return report;
    } catch (const ConfigError&) { // a slip of the fingers costs nothing
        throw;
    } catch (...) {
        out.clear();
        throw;
    }
}

/// One of a command's runs.
struct Case {
    std::string workload; ///< name or path
    std::string machine;  ///< name or path
    /// What output calls them, so that different ones have different names; empty: by their own.
    std::string workload_label = {};
    std::string machine_label = {};
    std::string directory; ///< of `--out`; empty: none

    /// In front of messages where the machine does not follow from the command line.
    [[nodiscard]] std::string head() const {
        return machine_label.empty() ? "" : workload_label + " on " + machine_label + ": ";
    }
};

/// Runs one case here and prints its summary.
RunReport run_here(cli::RunCommand command, const Case& one, std::FILE* people,
                   const Elaborate& elaborate) {
    command.machine = one.machine;
    RunReport report;
    if (one.directory.empty()) {
        report = run_in_mode(command, one.workload, elaborate);
    } else {
        OutDirectory out(one.directory);
        report = run_into(out, command, one.workload, elaborate);
    }
    if (!one.workload_label.empty()) {
        report.result["workload"]["name"] = one.workload_label;
    }
    if (!one.machine_label.empty()) {
        report.result["machine"]["name"] = one.machine_label;
    }
    if (!command.quiet) {
        std::fputs(result::summary_text(report.result, process::layout_of(people)).c_str(), people);
    } else if (!report.passed) {
        process::tell_failure((one.head().empty() ? one.workload + ": " : one.head()) +
                              report.result["check"]["sentence"].get<std::string>());
    }
    for (const auto& warning : report.warnings) {
        process::tell_warning(one.head() + warning);
    }
    return report;
}

/// The files of a run into `directory`, for the check of the command line.
void add_folder(const cli::RunCommand& command, const std::string& directory,
                std::vector<process::NamedOutput>& outputs) {
    for (const auto& [name, elsewhere] : {std::pair{kResultFile, false},
                                          {process::kAnswerFile, false},
                                          {kTraceFile, !command.trace.empty()},
                                          {recording::kFile, !command.record.empty()}}) {
        if (!directory.empty() && !elsewhere) {
            outputs.push_back({"--out", (fs::path(directory) / name).string()});
        }
    }
    for (const std::string* path : {&command.json, &command.csv, &command.memory, &command.edges,
                                    &command.record, &command.report, &command.trace}) {
        const fs::path file(*path);
        const bool is_there =
            !directory.empty() && file.has_filename() &&
            fs::weakly_canonical(fs::path(directory)) == fs::weakly_canonical(file).parent_path();
        if (is_there && process::is_result_file(file.filename().string())) {
            outputs.push_back({"--out", *path});
        }
    }
}

/// Where the summary goes. @throws UsageError
std::FILE* checked_outputs(const cli::RunCommand& command, const std::vector<Case>& cases) {
    std::vector<process::NamedOutput> outputs{
        {"--json", command.json},     {"--csv", command.csv},       {"--memory", command.memory},
        {"--record", command.record}, {"--report", command.report}, {"--edges", command.edges},
        {"--trace", command.trace}};
    for (const Case& one : cases) {
        add_folder(command, one.directory, outputs);
    }
    return process::check_outputs("run", outputs) ? stderr : stdout;
}

int run_single(const cli::RunCommand& command, const Elaborate& elaborate) {
    const Case one{.workload = command.workloads.front(),
                   .machine = command.machine,
                   .directory = command.out_directory};
    std::FILE* const people = checked_outputs(command, {one});
    if (!command.out_directory.empty()) {
        std::error_code ignored; // whoever writes into the folder tells
        fs::create_directories(command.out_directory, ignored); // other files may stand in it, too
    }
    const auto json_file = process::open_output(command.json);
    const auto csv_file = process::open_output(command.csv);
    const auto memory_file = process::open_output(command.memory);
    const auto edges_file = process::open_output(command.edges);
    const auto report_file = process::open_output(command.report);
    const RunReport report = run_here(command, one, people, elaborate);
    if (json_file != nullptr) {
        json_file->write(result::json_text(report.result));
    }
    if (csv_file != nullptr) {
        csv_file->write(results_csv({report.result}));
    }
    if (memory_file != nullptr) {
        memory_file->write(result::json_text(report.memory));
    }
    if (edges_file != nullptr) {
        edges_file->write(report.edges);
    }
    if (report_file != nullptr) {
        report::Entry entry = report::entry_of_run(report.result, report.memory);
        entry.recording = report.recording;
        report_file->write(report::page_html({std::move(entry)}, result::kModelVersion));
    }
    return report.passed ? process::kOk : process::kCheckFailed;
}

std::string name_of(const std::string& name_or_path) {
    return fs::path(name_or_path).stem().string();
}

/// The folders that `--out` makes for these; none for a single one.
std::vector<std::string> folders_of(const char* what, const std::vector<std::string>& all) {
    std::vector<std::string> folders(all.size());
    std::set<std::string> different;
    for (std::size_t i = 0; i < all.size() && all.size() > 1; ++i) {
        folders[i] = name_of(all[i]);
        if (!different.insert(folders[i]).second) {
            throw cli::UsageError(fmt::format(
                "run: --out: got {} '{}' twice, expected different names", what, folders[i]));
        }
    }
    return folders;
}

/// What tables call each of them, so that different ones have different names.
std::vector<std::string> labels_of(const std::vector<std::string>& all) {
    std::vector<sweep::Called> called;
    for (const std::string& one : all) {
        called.push_back({one, ""});
    }
    return sweep::config_labels(called);
}

/// Each workload on each machine.
std::vector<Case> cases_of(const cli::RunCommand& command) {
    const std::vector<std::string>& machines = command.machines;
    const std::vector<std::string> labels = labels_of(command.workloads);
    const std::vector<std::string> machine_labels = labels_of(machines);
    std::vector<std::string> folders(labels.size());
    std::vector<std::string> machine_folders(machines.size());
    const bool has_folders = !command.out_directory.empty();
    if (has_folders) { // names that are alike do no harm elsewhere
        folders = folders_of("workload", command.workloads);
        machine_folders = folders_of("machine", machines);
    }
    std::vector<Case> cases;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const fs::path folder =
            has_folders ? fs::path(command.out_directory) / folders[i] : fs::path();
        if (machines.empty()) {
            cases.push_back(
                {command.workloads[i], command.machine, labels[i], "", folder.string()});
        }
        for (std::size_t j = 0; j < machines.size(); ++j) {
            cases.push_back({command.workloads[i], machines[j], labels[i], machine_labels[j],
                             has_folders ? (folder / machine_folders[j]).string() : ""});
        }
    }
    return cases;
}

/// What stderr says of a run that failed.
std::string text_of(const Case& one, const process::Failure& failure) {
    constexpr std::string_view kProgram = "tessera: ";
    const std::size_t at = failure.message.starts_with(kProgram) ? kProgram.size() : 0;
    return failure.message.substr(0, at) + one.head() + failure.message.substr(at) + "\n";
}

nlohmann::json failure_of_case(const Case& one, const process::Failure& failure) {
    return failed_result(
        one.workload_label,
        one.machine_label.empty() ? sweep::short_name(one.machine) : one.machine_label, failure);
}

/// In the child: a run that fails hands back why.
process::ChildOutcome run_one_of_several(const cli::RunCommand& command, const Case& one,
                                         std::FILE* people, const Elaborate& elaborate) {
    try {
        const RunReport report = run_here(command, one, people, elaborate);
        return {report.passed ? process::kOk : process::kCheckFailed,
                packed({{"result", report.result},
                        {"memory", report.memory},
                        {"recording", nlohmann::json::binary(bytes_of(report.recording))}})};
    } catch (...) {
        const process::Failure failure = process::failure_of(std::current_exception());
        process::tell(text_of(one, failure));
        return {failure.exit_code, packed({{"result", failure_of_case(one, failure)}})};
    }
}

/// What the child handed back; of one that crashed, that it did.
nlohmann::json answer_of(const process::ChildOutcome& outcome, const Case& one) {
    if (!outcome.text.empty()) {
        return nlohmann::json::from_cbor(outcome.text);
    }
    const std::string how =
        outcome.signal != 0
            ? fmt::format("by signal {}, {}", outcome.signal,
                          outcome.signal == SIGKILL ? "as the system does where memory runs out"
                                                    : strsignal(outcome.signal))
            : "without a result";
    const process::Failure failure{
        outcome.exit_code, fmt::format("{}the run ended {}",
                                       one.head().empty() ? one.workload_label + ": " : "", how)};
    process::tell("tessera: " + text_of(one, failure));
    return {{"result", failure_of_case(one, failure)}};
}

/// A mistake in the last workload or machine is told before the first run.
void check_configurations(cli::RunCommand command) {
    const std::vector<std::string> machines =
        command.machines.empty() ? std::vector{command.machine} : command.machines;
    for (const std::string& machine : machines) {
        command.machine = machine;
        try {
            check_configuration(command, config::default_config_paths());
        } catch (const ConfigError& error) {
            std::vector<Diagnostic> mistakes = error.diagnostics();
            for (Diagnostic& mistake : mistakes) {
                if (mistake.file == "--set" &&
                    machines.size() > 1) { // it does not say which machine
                    mistake.message = "on " + machine + ": " + mistake.message;
                }
            }
            throw ConfigError(std::move(mistakes));
        }
    }
}

int run_several(const cli::RunCommand& command, const Elaborate& elaborate) {
    const std::vector<Case> cases = cases_of(command);
    std::FILE* const people = checked_outputs(command, cases);
    check_configurations(command);
    std::optional<process::OutFolder> folder;
    if (!command.out_directory.empty()) {
        folder.emplace(command.out_directory);
    }
    const auto json_file = process::open_output(command.json);
    const auto csv_file = process::open_output(command.csv);
    const auto report_file = process::open_output(command.report);
    std::vector<nlohmann::json> results;
    std::vector<report::Entry> entries;
    int code = process::kOk;
    for (const Case& one : cases) {
        const process::ChildBody body = [&] {
            return run_one_of_several(command, one, people, elaborate);
        };
        const process::ChildOutcome outcome = process::run_children({body}, 1).front();
        if (outcome.exit_code > 128) { // interrupted by itself
            return outcome.exit_code;
        }
        code = process::worse(code, outcome.exit_code);
        nlohmann::json answer = answer_of(outcome, one);
        results.push_back(std::move(answer["result"]));
        if (report_file != nullptr) {
            entries.push_back(
                report::entry_of_run(results.back(), answer.value("memory", nlohmann::json())));
            if (answer.contains("recording")) {
                entries.back().recording = text_of(answer["recording"]);
            }
        }
        if (!command.quiet) {
            std::fputs("\n", people);
        }
    }
    if (!command.quiet) {
        std::fputs(several_text(results, process::layout_of(people)).c_str(), people);
    }
    if (json_file != nullptr) {
        json_file->write(result::json_text(several_results(results)));
    }
    if (csv_file != nullptr) {
        csv_file->write(results_csv(results));
    }
    if (report_file != nullptr) {
        report_file->write(report::page_html(std::move(entries), result::kModelVersion));
    }
    return code;
}

} // namespace

int run_command(const cli::RunCommand& command, const Elaborate& elaborate) {
    const bool is_single = command.workloads.size() == 1 && command.machines.empty();
    return is_single ? run_single(command, elaborate) : run_several(command, elaborate);
}

} // namespace tessera::run
