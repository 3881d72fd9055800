// SPDX-License-Identifier: MIT
// Lists the partitions of a dense product that fit by estimate, cheapest first.
#pragma once

#include "kernels/matmul/matmul_grid.h"
#include "models/spec/machine_spec.h"

#include <vector>

namespace tessera::matmul {

/// Every (parts_m, parts_k, parts_n, chunks, paired) whose estimated bytes fit, by estimated
/// cycles, then by fewer parts; at most `most` of them. If none fits: the one that needs the fewest
/// bytes, without cycles.
[[nodiscard]] std::vector<family::Estimate> search(const spec::MachineSpec& machine,
                                                   const Problem& problem, std::size_t most);

} // namespace tessera::matmul
