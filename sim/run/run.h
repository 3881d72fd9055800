// SPDX-License-Identifier: MIT
// One workload on one machine: read, plan, simulate, check, and say what came out.
#pragma once

#include "base/config/paths.h"
#include "sim/cli/cli.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace tessera::run {

/// A result of the workload as a file.
struct ResultFile {
    std::string name;  ///< "output.npy", the answer; where there are several: "output.y.npy" of "y"
    std::string bytes; ///< of a `.npy` file
};

struct RunReport {
    nlohmann::json result;
    nlohmann::json memory;             ///< what --memory or --report asks for, or null
    std::string recording;             ///< for --report, or empty
    std::string edges;                 ///< what --edges asks for, or empty
    std::vector<std::string> warnings; ///< sentences for stderr
    bool passed = true;                ///< false only if a check was made and failed
    std::vector<ResultFile> outputs;   ///< of a functional run
};

/// Reads the machine and all workloads of `command`. @throws as run_workload for mistakes in
/// them
void check_configuration(const cli::RunCommand& command, const config::ConfigPaths& paths);

/// Runs `workload` as `command` says, or estimates it. Writes the trace, and no other file. Call it
/// inside sc_main, once a process.
/// @throws ConfigError, IoError, DoesNotFit, ProgramError, NotModelled; then no file is left
/// incomplete
[[nodiscard]] RunReport run_workload(const cli::RunCommand& command, const std::string& workload,
                                     const config::ConfigPaths& paths);

/// A run as far as it has been prepared: configuration, and what may be shared with runs that agree
/// on it.
class PreparedRun {
public:
    /// Reads machine and workload. @throws ConfigError, IoError
    PreparedRun(cli::RunCommand command, const std::string& workload,
                const config::ConfigPaths& paths);
    ~PreparedRun();
    PreparedRun(PreparedRun&&) noexcept;
    PreparedRun& operator=(PreparedRun&&) noexcept;

    /// Runs with equal keys have equal patterns and operands; with equal plan keys, equal plans.
    [[nodiscard]] std::string operands_key() const;
    [[nodiscard]] std::string plan_key() const;
    /// With equal schedule keys, plans have much in common.
    [[nodiscard]] std::string schedule_key() const;

    /// Makes patterns and operands; all of the plan too. @throws as run_workload
    void make_operands();
    void make_plan();
    /// Has what `other` has made, whose key is the same. Only one of them may run in a process.
    void share_operands(const PreparedRun& other);
    void share_plan(const PreparedRun& other);

    /// Inside sc_main, once a process. @throws as run_workload
    [[nodiscard]] RunReport run();

private:
    struct Implementation;
    std::unique_ptr<Implementation> implementation_;
};

/// The same with a workload that no file holds; `name` is what errors call it.
[[nodiscard]] RunReport run_document(const cli::RunCommand& command, const nlohmann::json& workload,
                                     const std::string& name, const config::ConfigPaths& paths);

} // namespace tessera::run
