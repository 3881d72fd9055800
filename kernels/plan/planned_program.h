// SPDX-License-Identifier: MIT
// What a kernel's planner returns: the program, and what the planner knows about it.
//
// Tensors: "a" and "b" are the operands ("a" of a sparse product: the stored values in block
// order), "c" the result. Every element of an operand stands on exactly one tile when the run
// starts; "c" is complete when the control program ends.
#pragma once

#include "base/units.h"
#include "kernels/plan/predicted_cycles.h"
#include "kernels/workload/workload.h"
#include "models/program/program.h"

#include <cstdint>
#include <map>
#include <string>

namespace tessera::plan {

struct PlanInfo {
    std::int64_t parts_m = 1;    ///< cuts of the rows of the result
    std::int64_t parts_k = 1;    ///< cuts of the contraction
    std::int64_t parts_n = 1;    ///< cuts of the columns of the result
    std::int64_t chunks = 1;     ///< exchange and compute rounds
    std::string paired = "none"; ///< operand that is sent at double width: "a", "b" or "none"
    std::int64_t tiles_busy = 0; ///< tiles that multiply
    /// For the check of the result: roundings on the longest way from a product to its element, to
    /// this type.
    std::int64_t roundings = 0;
    ElementType rounded_to = ElementType::F16;
    double flops = 0; ///< useful ones: of the elements that are there
    PredictedCycles predicted;
    std::map<std::string, Bytes>
        bytes_by_buffer;  ///< one tile's memory plan (largest over the tiles)
    Bytes bytes_used = 0; ///< of the memory plan, code zone included
};

struct PlannedProgram {
    program::Program program;
    PlanInfo info;
};

} // namespace tessera::plan
