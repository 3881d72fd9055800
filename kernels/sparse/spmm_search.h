// SPDX-License-Identifier: MIT
// All splits worth trying, cheapest first.
#pragma once

#include "kernels/sparse/spmm_partition.h"
#include "models/spec/machine_spec.h"

#include <vector>

namespace tessera::spmm {

struct Candidate {
    Split split;
    Cycles cycles = 0;
    Bytes bytes = 0;
};

/// Splits by estimated cycles, those whose estimated bytes fit first.
[[nodiscard]] std::vector<Candidate> search(const spec::MachineSpec& machine,
                                            const Problem& problem);

} // namespace tessera::spmm
