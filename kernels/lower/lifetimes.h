// SPDX-License-Identifier: MIT
// When a buffer must be kept: from its first use to its last, over all tiles.
//
// In a loop it is kept all over the loop if it is used outside too, or if an iteration reads bytes
// that it has not written before: then contents cross iterations. A repeat runs as often as it
// says, a while perhaps not at all, and of an if either way: what only one way writes is not
// written.
#pragma once

#include "kernels/graph/graph.h"
#include "kernels/lower/uses.h"
#include "models/program/program.h"

#include <string>
#include <vector>

namespace tessera::lower {

/// By buffer: steps as program::Lifetime counts them, leaves of graph.control in tree order,
/// without those that are left out. What the host writes, and contents, are there from step 0.
/// Zeroed buffers are always kept, and those that no step uses and the host neither writes nor
/// reads.
/// @throws ProgramError for bytes that are read before anything wrote them; names program, kernel,
/// step, tile and buffer
[[nodiscard]] std::vector<program::Lifetime> lifetimes_of(const graph::Graph& graph,
                                                          const Uses& uses);

/// When what a step needs from the start may go: by step (uses.h), the last step, as lifetimes
/// count them, in which it may run, to the end of the loops around it. 0 for one that never runs.
[[nodiscard]] std::vector<std::uint32_t> last_runs(const graph::Graph& graph);

/// Names of the steps that lifetimes count.
[[nodiscard]] std::vector<std::string> step_names(const graph::Graph& graph);

/// Steps that are run: not the compute sets without vertices and exchanges without messages.
[[nodiscard]] bool is_empty(const graph::Graph& graph, const graph::Step& leaf);

} // namespace tessera::lower
