// SPDX-License-Identifier: MIT
// A sweep as an array of Slurm: shard i takes points i, i + N, ... All shards run the same worker,
// and what it has done stands in the store, so that a task may be started again at any time.
#include "base/error.h"
#include "base/text.h"
#include "sim/process/exit_code.h"
#include "sim/result/result.h"
#include "sim/sweep/command/check.h"
#include "sim/sweep/command/commands.h"
#include "sim/sweep/frozen.h"
#include "sim/sweep/planner.h"
#include "sim/sweep/source.h"

#include <fmt/format.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace tessera::sweep {
namespace {

namespace fs = std::filesystem;

/// A word of a shell.
std::string quoted(const std::string& text) {
    const bool plain =
        !text.empty() &&
        text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-+=./:,%@") == std::string::npos;
    if (plain) {
        return text;
    }
    std::string out = "'";
    for (const char c : text) {
        out += c == '\'' ? "'\\''" : std::string(1, c);
    }
    return out + "'";
}

fs::path own_program() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    return error ? fs::path("tessera") : program;
}

std::string script_of(const cli::SweepSubmitCommand& command, const std::string& name,
                      const fs::path& frozen, const fs::path& store) {
    const cli::SweepRunCommand& run = command.run;
    std::string worker =
        fmt::format("{} sweep worker {} --store {} --quiet", quoted(own_program().string()),
                    quoted(frozen.string()), quoted(store.string()));
    // as many points at a time as the task has cores
    worker += " --jobs \"${SLURM_CPUS_PER_TASK:-1}\"";
    worker += fmt::format(" --shard \"$SLURM_ARRAY_TASK_ID/{}\"", run.shards);
    if (run.time_limit_s > 0) {
        worker += fmt::format(" --time-limit {}", run.time_limit_s);
    }
    if (run.memory_limit_mib > 0) {
        worker += fmt::format(" --memory-limit {}", run.memory_limit_mib);
    }
    for (const std::string& status : run.retry) {
        worker += " --retry " + status;
    }
    if (run.keep_lists) {
        worker += " --keep full";
    }
    return fmt::format("#!/bin/sh\n"
                       "#SBATCH --job-name={}\n"
                       "#SBATCH --array=0-{}\n"
                       "#SBATCH --output={}\n"
                       "#SBATCH --open-mode=append\n"
                       "#SBATCH --requeue\n"
                       "exec {}\n",
                       quoted(name), run.shards - 1, quoted((store / "slurm-%A_%a.out").string()),
                       worker);
}

/// Runs sbatch with a script on its stdin.
int submitted(const std::vector<std::string>& options, const std::string& script) {
    int ends[2];
    if (pipe(ends) != 0) {
        throw IoError(fmt::format("a pipe to sbatch: {}", std::strerror(errno)));
    }
    std::fflush(stdout);
    const pid_t process = fork();
    if (process < 0) {
        throw IoError(fmt::format("a process for sbatch: {}", std::strerror(errno)));
    }
    if (process == 0) {
        dup2(ends[0], STDIN_FILENO);
        close(ends[0]);
        close(ends[1]);
        std::vector<std::string> words{"sbatch"};
        words.insert(words.end(), options.begin(), options.end());
        std::vector<char*> arguments;
        for (std::string& word : words) {
            arguments.push_back(word.data());
        }
        arguments.push_back(nullptr);
        execvp("sbatch", arguments.data());
        constexpr int kNoCommand = 127;
        _exit(kNoCommand);
    }
    close(ends[0]);
    const auto before = std::signal(SIGPIPE, SIG_IGN); // sbatch may end before it reads
    for (std::size_t written = 0; written < script.size();) {
        const ssize_t now = write(ends[1], script.data() + written, script.size() - written);
        if (now < 0 && errno != EINTR) {
            break; // its exit code tells
        }
        written += now > 0 ? static_cast<std::size_t>(now) : 0;
    }
    close(ends[1]);
    std::signal(SIGPIPE, before);
    int status = 0;
    while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
    }
    constexpr int kNoCommand = 127;
    if (WIFEXITED(status) && WEXITSTATUS(status) == kNoCommand) {
        throw cli::UsageError(
            "sweep submit: there is no sbatch here: Slurm's client is not installed; "
            "--print shows what would be submitted");
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        throw IoError("sbatch refused the sweep: see what it says above");
    }
    return process::kOk;
}

} // namespace

int sweep_submit(const cli::SweepSubmitCommand& command) {
    const cli::SweepRunCommand& run = command.run;
    const config::ConfigPaths paths = config::default_config_paths();
    const Source source = read_source({run.what, run.machines, run.sets, run.mode}, paths);
    const fs::path store = fs::absolute(run.store.empty() ? source.name + ".sweep" : run.store);
    check_names(source, paths);
    for (const std::string& none : check_estimates(source.sweep, false, paths)) {
        process::tell_warning("there is no estimate of " + none);
    }
    // all mistakes are told here, and not by a shard
    const Plan plan =
        plan_points(source.sweep, source.document, paths, PointKeys(result::kModelVersion));
    for (const Diagnostic& example : plan.invalid_examples) {
        process::tell_warning(example.text());
    }
    PointKeys keys(result::kModelVersion);
    Planner planner(source.sweep, source.document, paths, keys);
    const fs::path frozen = fs::absolute(freeze(source, planner, paths, store));
    const std::string script = script_of(command, source.name, frozen, store);
    std::string options;
    for (const std::string& option : command.engine_options) {
        options += " " + quoted(option);
    }
    if (command.print) {
        std::fputs(fmt::format("# sbatch{} << EOF\n{}", options, script).c_str(), stdout);
        return process::kOk;
    }
    std::fputs(fmt::format("{} points in {} shards, into {}\n",
                           grouped(static_cast<std::int64_t>(plan.points.size())), run.shards,
                           store.string())
                   .c_str(),
               stdout);
    return submitted(command.engine_options, script);
}

} // namespace tessera::sweep
