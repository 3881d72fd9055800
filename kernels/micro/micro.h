// SPDX-License-Identifier: MIT Micro-workloads: each kind writes a graph, and says what the host
// gives it and what it must leave.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/workload/workload.h"
#include "models/program/array_id.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::micro {

/// The row-major array of a tensor of the program, or all rows of a remote buffer.
struct ArrayBytes {
    program::ArrayId array;
    std::vector<std::byte> bytes;
};

/// Copies into tiles that land in one place, one after the other: copy k leaves there the bytes
/// from `k * bytes` on of the first operand, which begins again where it ends.
struct Arrivals {
    program::ArrayId tensor; ///< that place
    std::int64_t copies = 0; ///< in all
    Bytes bytes = 0;         ///< of one copy
};

struct Values {
    std::vector<ArrayBytes> given;    ///< what the host writes before the run
    std::vector<ArrayBytes> expected; ///< what the run must leave, in every bit
};

struct Emitted {
    graph::Graph graph;                    ///< its name says what runs: "sync, 10 times"
    std::function<Values()> values;        ///< to be made when the graph is known to fit
    std::optional<Arrivals> arrivals = {}; ///< what must stand in tiles while it runs
    Bytes useful_bytes = 0;                ///< moved for the user, whatever way they take
    std::map<std::string, std::int64_t> choices = {}; ///< what was chosen, for the result's `plan`
    /// Expected cycles of a repetition without its exchanges; nothing if they are not known.
    std::optional<Cycles> expected_cycles = {};
};

/// All of them: @throws DoesNotFit; ConfigError for what the machine has not (tiles); NotModelled
[[nodiscard]] Emitted emit(const spec::MachineSpec& machine,
                           const workload::SyncWorkload& workload);
[[nodiscard]] Emitted emit(const spec::MachineSpec& machine,
                           const workload::RemoteBufferWorkload& workload);
[[nodiscard]] Emitted emit(const spec::MachineSpec& machine,
                           const workload::HostTransferWorkload& workload);
[[nodiscard]] Emitted emit(const spec::MachineSpec& machine,
                           const workload::StreamedTriadWorkload& workload);
[[nodiscard]] Emitted emit(const spec::MachineSpec& machine,
                           const workload::ExchangePatternWorkload& workload);
[[nodiscard]] Emitted emit(const spec::MachineSpec& machine,
                           const workload::SelfCopyWorkload& workload);
[[nodiscard]] Emitted emit(const spec::MachineSpec& machine,
                           const workload::RearrangeWorkload& workload);
[[nodiscard]] Emitted emit(const spec::MachineSpec& machine,
                           const workload::MemoryStreamWorkload& workload);
[[nodiscard]] Emitted emit(const spec::MachineSpec& machine,
                           const workload::StencilWorkload& workload);
[[nodiscard]] Emitted emit(const spec::MachineSpec& machine,
                           const workload::ReductionWorkload& workload);

} // namespace tessera::micro
