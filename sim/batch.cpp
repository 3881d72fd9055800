// SPDX-License-Identifier: MIT
#include "sim/batch.h"

#include "base/config/paths.h"
#include "base/error.h"
#include "sim/exit_code.h"
#include "sim/interrupt.h"
#include "sim/result.h"
#include "sim/run.h"
#include "traces/output_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

namespace tessera::sim {
namespace {

namespace fs = std::filesystem;

/// An output that is opened before the run, so that what cannot be written is found first.
class JsonOutput {
public:
    explicit JsonOutput(const std::string& path) : temporary_(path), file_(path) {}
    void write(const nlohmann::json& document) {
        file_.write(json_text(document));
        file_.commit();
    }

private:
    TemporaryOutput temporary_;
    traces::OutputFile file_;
};

std::unique_ptr<JsonOutput> open_json(const std::string& path) {
    return path.empty() || path == "-" ? nullptr : std::make_unique<JsonOutput>(path);
}

/// What `--out` asks for, opened before the run: result.json, output.npy, and the trace's name.
class OutDirectory {
public:
    explicit OutDirectory(const std::string& directory)
        : path_(made(directory)), npy_temporary_((path_ / "output.npy").string()),
          json_((path_ / "result.json").string()), npy_((path_ / "output.npy").string()) {}

    [[nodiscard]] std::string trace() const { return (path_ / "trace.pftrace.gz").string(); }

    void write(const RunReport& report) {
        if (!report.output_npy.empty()) {
            npy_.write(report.output_npy);
            npy_.commit();
        }
        json_.write(report.result);
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
    TemporaryOutput npy_temporary_;
    JsonOutput json_;
    traces::OutputFile npy_;
};

/// A line on a terminal that overwrites itself, ten times a second at most.
class ProgressLine {
public:
    ~ProgressLine() { clear(); }

    ipu::Progress callback() {
        if (isatty(STDERR_FILENO) == 0) {
            return {};
        }
        return [this](std::int64_t done, std::int64_t total, Cycles cycles) {
            const auto now = std::chrono::steady_clock::now();
            if (now - last_ < std::chrono::milliseconds(100)) {
                return;
            }
            last_ = now;
            shown_ = true;
            std::fputs(fmt::format("\r\033[Kstep {} of {}, {} cycles", done, total, cycles).c_str(),
                       stderr);
        };
    }

    void clear() {
        if (shown_) {
            std::fputs("\r\033[K", stderr);
            shown_ = false;
        }
    }

private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
    bool shown_ = false;
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
    ProgressLine progress;
    elaborate([&] {
        report =
            run_workload(command, workload, config::default_config_paths(), progress.callback());
    });
    progress.clear();
    if (out != nullptr) {
        out->write(report);
    }
    std::fputs(summary_text(report.result).c_str(), to_stderr ? stderr : stdout);
    for (const auto& warning : report.warnings) {
        std::fputs(("tessera: warning: " + warning + "\n").c_str(), stderr);
    }
    return report;
}

int run_single(const RunCommand& command, const Elaborate& elaborate) {
    const auto json_file = open_json(command.json);
    const auto memory_file = open_json(command.memory);
    const bool json_to_stdout = command.json == "-";
    const RunReport report = run_here(command, command.workloads.front(), command.out_directory,
                                      json_to_stdout, elaborate);
    if (json_file != nullptr) {
        json_file->write(report.result);
    }
    if (memory_file != nullptr) {
        memory_file->write(report.memory);
    }
    if (json_to_stdout) {
        std::fputs(json_text(report.result).c_str(), stdout);
    }
    return report.passed ? kOk : kCheckFailed;
}

void write_all(int descriptor, const std::string& text) {
    std::size_t written = 0;
    while (written < text.size()) {
        const ssize_t now = write(descriptor, text.data() + written, text.size() - written);
        if (now < 0 && errno != EINTR) {
            throw IoError(fmt::format("result pipe: {}", std::strerror(errno)));
        }
        written += now > 0 ? static_cast<std::size_t>(now) : 0;
    }
}

std::string read_all(int descriptor) {
    std::string text;
    std::array<char, 65536> buffer{};
    for (;;) {
        const ssize_t now = read(descriptor, buffer.data(), buffer.size());
        if (now > 0) {
            text.append(buffer.data(), static_cast<std::size_t>(now));
        } else if (now == 0 || errno != EINTR) {
            return text;
        }
    }
}

struct ChildOutcome {
    int exit_code = kBug;
    std::string result_text; ///< JSON, or empty if there is none
};

/// The child's part: everything but returning.
[[noreturn]] void child_main(const RunCommand& command, const std::string& workload,
                             const std::string& out_directory, int pipe_end,
                             const Elaborate& elaborate) {
    int code = kOk;
    try {
        const RunReport report =
            run_here(command, workload, out_directory, command.json == "-", elaborate);
        code = report.passed ? kOk : kCheckFailed;
        write_all(pipe_end, report.result.dump());
    } catch (...) {
        code = report_error(std::current_exception());
    }
    // a full buffer was written, and may have failed, before
    if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
        code = kIo;
    }
    // No destructors of the parent's objects: they would remove its unfinished outputs.
    _exit(code);
}

ChildOutcome run_in_child(const RunCommand& command, const std::string& workload,
                          const std::string& out_directory, const Elaborate& elaborate) {
    std::array<int, 2> ends{};
    std::fflush(stdout);
    std::fflush(stderr);
    if (pipe(ends.data()) != 0) {
        throw IoError(fmt::format("a pipe to a child process: {}", std::strerror(errno)));
    }
    const pid_t child = fork();
    if (child < 0) {
        throw IoError(fmt::format("a child process: {}", std::strerror(errno)));
    }
    if (child == 0) {
        forget_outputs();
        close(ends[0]);
        child_main(command, workload, out_directory, ends[1], elaborate);
    }
    set_running_child(child);
    close(ends[1]);
    ChildOutcome outcome;
    outcome.result_text = read_all(ends[0]);
    close(ends[0]);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    set_running_child(0);
    outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : kBug;
    return outcome;
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
    const auto json_file = open_json(command.json);
    std::FILE* const people = command.json == "-" ? stderr : stdout;
    std::vector<nlohmann::json> results;
    int code = kOk;
    for (std::size_t i = 0; i < command.workloads.size(); ++i) {
        const ChildOutcome outcome =
            run_in_child(command, command.workloads[i], directories[i], elaborate);
        if (outcome.exit_code != kOk && outcome.exit_code != kCheckFailed) {
            return outcome.exit_code;
        }
        code = outcome.exit_code == kOk ? code : kCheckFailed;
        results.push_back(nlohmann::json::parse(outcome.result_text));
        std::fputs("\n", people);
    }
    std::fputs(ratio_text(results).c_str(), people);
    const nlohmann::json document = {{"schema_version", kResultSchemaVersion}, {"runs", results}};
    if (json_file != nullptr) {
        json_file->write(document);
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
