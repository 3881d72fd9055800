// SPDX-License-Identifier: MIT
// result.json and the summary for people, both from the same document.
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
#include "models/ipu/core/account.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"
#include "traces/exporters/perfetto.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::sim {

inline constexpr int kResultSchemaVersion = 1;

/// One reason for which the machine spent cycles. The parts of a result's `explanation` sum to the
/// run; docs/models/ipu.md#where-a-runs-cycles-go says how.
struct ExplanationPart {
    const char* key;
    const char* word; ///< in the summary
    const char* sentence;
};
inline constexpr std::array<ExplanationPart, 10> kExplanationParts{{
    {"compute", "compute", "mean over all tiles of the compute sets that are nothing of the below"},
    {"exchange", "exchange", "bounds of the exchanges that are nothing of the below"},
    {"exchange_overhead", "exchange overhead",
     "what exchanges take beyond their bounds: prologue, latency, return, gaps in the schedule"},
    {"sync", "sync", "barriers"},
    {"stream", "stream", "the machine waited for stream copies"},
    {"control", "control",
     "the control program's own instructions and values, compute sets without a vertex, and steps "
     "of "
     "role control: means of compute sets, bounds of exchanges"},
    {"reduction", "reduction", "steps of role reduce: means of compute sets, bounds of exchanges"},
    {"rearrangement", "rearrangement",
     "steps of role rearrange: means of compute sets, bounds of exchanges"},
    {"unused_tiles", "unused tiles",
     "compute sets: what the mean over the tiles that take part is longer than the mean over all"},
    {"uneven_splits", "uneven splits",
     "compute sets: what the slowest tile takes longer than the mean of those that take part"},
}};

/// What the host spent; the only part of a result that two equal runs may differ in.
struct HostFacts {
    double plan_s = 0;     ///< operands and plan
    double simulate_s = 0; ///< from elaboration to the result in the host's hands
    double check_s = 0;
    double wall_s = 0;
    int threads = 1;
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
    const ipu::Account& account;
    std::optional<job::CheckOutcome> check; ///< nothing where it was switched off
    std::optional<traces::TraceSummary> trace;
    std::string output_digest; ///< of the tensors that the run makes
    HostFacts host;
};

[[nodiscard]] nlohmann::json make_result(const RunFacts& facts);

/// JSON Schema (draft 7) of a result.
[[nodiscard]] nlohmann::json result_schema();

/// The text form of a JSON document as files hold it: indented, sorted keys, a last newline.
[[nodiscard]] std::string json_text(const nlohmann::json& document);

/// The summary of a result.
[[nodiscard]] std::string summary_text(const nlohmann::json& result, const Layout& layout = {});

/// A table of several results: cycles, time, fraction of peak, and the ratio of cycles to those of
/// the first.
[[nodiscard]] std::string ratio_text(const std::vector<nlohmann::json>& results,
                                     const Layout& layout = {});

} // namespace tessera::sim
