// SPDX-License-Identifier: MIT
// result.json, of a run or an estimate, and the summary for people, both from the same document.
//
// The start of a summary:
//
//     workload   tiny_matmul: matmul 64 x 48 x 32, f16 partials
//     machine    tiny: 4 tiles at 1.85 GHz
//     cycles     4,321 (2.34 us)
//     speed      0.084 TFLOP/s, 8.9 % of the peak of 0.947 TFLOP/s
//     phases     compute     2,345   54.3 %  ###########
#pragma once

#include "base/layout.h"
#include "kernels/job/job.h"
#include "models/ipu/run_options.h"
#include "models/listeners/account.h"
#include "models/listeners/rounds.h"
#include "models/program/program.h"
#include "models/program/system_program.h"
#include "models/simulation/simulation.h"
#include "models/spec/machine_spec.h"
#include "traces/exporters/exporter.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::result {

inline constexpr int kResultSchemaVersion = 1;

/// The version of the model. Raise it with every change of tests/system/record.json or of estimates:
/// results of an older version are then not taken for those of this program.
inline constexpr int kModelVersion = 20;

/// What the host spent; the only part of a result that two equal runs may differ in.
struct HostFacts {
    double plan_s = 0;     ///< operands and plan
    double simulate_s = 0; ///< from elaboration to the result in the host's hands
    double check_s = 0;
    double encode_s = 0; ///< of simulate_s: patterns were made and encoded
    double wall_s = 0;
    int threads = 1;
};

/// A tensor that the workload is run for, and the file that `--out` keeps it in.
struct ResultRecord {
    std::string name;
    std::string file;
};

/// All that a result is made from.
struct RunFacts {
    const spec::MachineSpec& machine;
    const nlohmann::json& machine_resolved;
    nlohmann::json unused_parameters; ///< of unused_parameters.h
    std::string workload_name;
    const nlohmann::json& workload_resolved;
    const job::Job& job;
    const program::Program& program;
    const listeners::Account& account;      ///< of several chips, of the one that ends last
    std::optional<job::CheckOutcome> check; ///< nothing where it was switched off
    std::optional<traces::TraceSummary> trace;
    std::optional<ipu::TimingFacts> timing = std::nullopt; ///< nothing in functional mode
    /// Of a run with a sequence of patterns.
    std::optional<std::vector<listeners::Round>> rounds = std::nullopt;
    std::string output_digest;                      ///< of the tensors that the run makes and keeps
    std::vector<ResultRecord> results = {};         ///< of a functional run
    const program::SystemProgram* system = nullptr; ///< null: one chip
    std::vector<const listeners::Account*> chips = {}; ///< of a system
    std::vector<simulation::EdgeRecord> edges = {};    ///< of its links
    HostFacts host;
};

/// All that the result of an estimate is made from.
struct EstimateFacts {
    const spec::MachineSpec& machine;
    const nlohmann::json& machine_resolved;
    nlohmann::json unused_parameters; ///< of unused_parameters.h
    std::string workload_name;
    const nlohmann::json& workload_resolved;
    const job::Job& job;
    const job::Estimate& estimate;
    HostFacts host;
};

[[nodiscard]] nlohmann::json make_result(const RunFacts& facts);
[[nodiscard]] nlohmann::json make_result(const EstimateFacts& facts);

/// JSON Schema (draft 7) of the result of an estimate, and of any result.
[[nodiscard]] nlohmann::json estimate_schema();
[[nodiscard]] nlohmann::json result_schema();

/// The text form of a JSON document as files hold it: indented, sorted keys, a last newline.
[[nodiscard]] std::string json_text(const nlohmann::json& document);

/// The summary of a result.
[[nodiscard]] std::string summary_text(const nlohmann::json& result, const Layout& layout = {});

/// A table of several results: cycles, time, fraction of peak, and the ratio of cycles to those of
/// the first. `with_machines`: also each result's machine, and the ratio of times.
[[nodiscard]] std::string ratio_text(const std::vector<nlohmann::json>& results,
                                     const Layout& layout = {}, bool with_machines = false);

} // namespace tessera::result
