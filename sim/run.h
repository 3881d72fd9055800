// SPDX-License-Identifier: MIT
// One workload on one machine: read, plan, simulate, check, and say what came out.
#pragma once

#include "base/config/paths.h"
#include "sim/cli.h"

#include <nlohmann/json.hpp>

#include <functional>
#include <string>
#include <vector>

namespace tessera::sim {

struct RunReport {
    nlohmann::json result;
    nlohmann::json memory;             ///< what --memory asks for, or null
    std::vector<std::string> warnings; ///< sentences for stderr
    bool passed = true;                ///< false only if a check was made and failed
    std::string output_npy;            ///< the answer as the bytes of a `.npy` file; empty: none
};

/// Reads the machine and all workloads of `command`. @throws as run_workload does for what is wrong
/// with them
void check_configuration(const RunCommand& command, const config::ConfigPaths& paths);

/// Runs `workload` as `command` says; writes the trace, and no other file. Inside sc_main, once a
/// process.
/// @throws ConfigError, IoError, DoesNotFit, ProgramError, NotModelled; no file is left half
/// written
[[nodiscard]] RunReport run_workload(const RunCommand& command, const std::string& workload,
                                     const config::ConfigPaths& paths);

/// The same with a workload that no file holds; `name` is what errors call it.
[[nodiscard]] RunReport run_document(const RunCommand& command, const nlohmann::json& workload,
                                     const std::string& name, const config::ConfigPaths& paths);

} // namespace tessera::sim
