// SPDX-License-Identifier: MIT
// The values of a product by the transpose of a matrix that other products read too: they stand and
// come in the order of the matrix. Each tile transposes its blocks into the order of the transpose.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/sparse/spmm_partition.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::sparse {

/// The codelet's source.
[[nodiscard]] std::string turn_codelet(const Problem& problem);

/// For each block of `part`, which has the blocks of `cut` in the order of the transpose, its place
/// in `cut`. Block i of the transpose is block from[i] of the matrix. @throws DoesNotFit
[[nodiscard]] std::vector<std::uint16_t> order_of(const Part& part, const Part& cut,
                                                  std::span<const std::int64_t> from);

/// Adds the vertex that does it for so many blocks, from and to values in `order`. @throws DoesNotFit
void add_turn(graph::Graph& graph, const spec::MachineSpec& machine, graph::ComputeSetId set,
              TileId tile, const Problem& problem, std::int64_t blocks, graph::BufferId from,
              graph::BufferId to, graph::BufferId order);

/// The stub with that vertex, behind local copies of so many 8-byte words.
[[nodiscard]] Cycles turn_cycles(const spec::MachineSpec& machine, const Problem& problem,
                                 std::int64_t blocks,
                                 const std::vector<std::int64_t>& copied_words);

} // namespace tessera::sparse
