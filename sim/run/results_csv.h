// SPDX-License-Identifier: MIT
// Results of runs as a table for spreadsheets and scripts: CSV (RFC 4180), a line for each run, each
// of its kernels and each of its steps.
//
//     status,machine,workload,mode,model,message,exit_code,part,kind,name,cycles,phases.compute,...
//     ok,tiny,four_tiles,functional,8,,,run,,,697,459,...
//     ok,tiny,four_tiles,functional,8,,,kernel,,matmul,697,459,...
//     ok,tiny,four_tiles,functional,8,,,step,compute,multiply chunk 0,459,,...
//
// Columns are the result's own paths, named as `tessera sweep collect` names them: numbers, truths
// as 0 and 1, and texts. A line has an empty cell where its part has no such value.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tessera::run {

/// `results`: of runs and estimates, or why a run has none (several.h).
[[nodiscard]] std::string results_csv(const std::vector<nlohmann::json>& results);

} // namespace tessera::run
