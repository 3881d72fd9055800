// SPDX-License-Identifier: MIT
// From what the lock-step model saw to what the pipeline exporters show (traces/exporters/konata.h,
// traces/pipeline.h).
#pragma once

#include "models/program/program.h"
#include "models/spec/machine_spec.h"
#include "models/tile/core/observation.h"
#include "traces/pipeline.h"

#include <vector>

namespace tessera::tile {

/// The instructions of a run in order of issue. One that waited for its launch, operands, a slot, a
/// sync or a branch waits from the first such stall behind its context's instruction before.
[[nodiscard]] std::vector<traces::PipelineInstruction>
pipeline_instructions(const LockstepLog& log, const spec::MachineSpec& machine);

/// The instruction or bundle that stands at `address` of the codelets, disassembled, with its
/// source line.
[[nodiscard]] traces::InstructionText
describe_instruction(const std::vector<program::Codelet>& codelets, Address address);

} // namespace tessera::tile
