// SPDX-License-Identifier: MIT
// What the planner of a micro-workload returns, and the planners, one a kind.
#pragma once

#include "base/units.h"
#include "kernels/workload/workload.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tessera::micro {

/// The row-major array of a tensor of the program.
struct TensorBytes {
    std::string tensor;
    std::vector<std::byte> bytes;
};

/// Copies into tiles that land in one place, one after the other: copy k leaves there the bytes
/// from `k * bytes` on of the first operand, which begins again where it ends.
struct Arrivals {
    std::string tensor;      ///< that place
    std::int64_t copies = 0; ///< in all
    Bytes bytes = 0;         ///< of one copy
};

struct MicroPlan {
    program::Program program;
    std::vector<TensorBytes> operands;           ///< what the host writes before the run
    std::vector<TensorBytes> expected;           ///< what the run must leave, in every bit
    std::optional<Arrivals> arrivals;            ///< what must stand in tiles while it runs
    Bytes useful_bytes = 0;                      ///< moved for the user, whatever way they take
    std::string sentence;                        ///< "sync, 10 times"
    std::map<std::string, std::int64_t> choices; ///< what was chosen, for the result's `plan`
};

/// All planners: @throws DoesNotFit; ConfigError for what the machine has not (tiles); NotModelled
[[nodiscard]] MicroPlan plan(const spec::MachineSpec& machine,
                             const workload::SyncWorkload& workload);
[[nodiscard]] MicroPlan plan(const spec::MachineSpec& machine,
                             const workload::RemoteBufferWorkload& workload);
[[nodiscard]] MicroPlan plan(const spec::MachineSpec& machine,
                             const workload::HostTransferWorkload& workload);
[[nodiscard]] MicroPlan plan(const spec::MachineSpec& machine,
                             const workload::StreamedTriadWorkload& workload);
[[nodiscard]] MicroPlan plan(const spec::MachineSpec& machine,
                             const workload::ExchangePatternWorkload& workload);
[[nodiscard]] MicroPlan plan(const spec::MachineSpec& machine,
                             const workload::SelfCopyWorkload& workload);
[[nodiscard]] MicroPlan plan(const spec::MachineSpec& machine,
                             const workload::RearrangeWorkload& workload);
[[nodiscard]] MicroPlan plan(const spec::MachineSpec& machine,
                             const workload::MemoryStreamWorkload& workload);
[[nodiscard]] MicroPlan plan(const spec::MachineSpec& machine,
                             const workload::StencilWorkload& workload);
[[nodiscard]] MicroPlan plan(const spec::MachineSpec& machine,
                             const workload::ReductionWorkload& workload);

} // namespace tessera::micro
