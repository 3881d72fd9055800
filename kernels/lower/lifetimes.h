// SPDX-License-Identifier: MIT
// When a buffer must be kept: from its first use to its last, over all tiles.
//
// A buffer is kept throughout a loop if it is also used outside, or if an iteration reads bytes that
// it has not written before: then contents cross iterations. The body of a repeat certainly runs,
// that of a while may not. Either branch of an if may run, so bytes that only one branch writes do
// not count as written.
#pragma once

#include "kernels/graph/graph.h"
#include "kernels/lower/uses.h"
#include "models/program/program.h"

#include <string>
#include <vector>

namespace tessera::lower {

/// The lifetime of each buffer. Steps are numbered as program::Lifetime does: leaves of graph.control
/// in tree order, without empty ones. Buffers with contents, or that the host writes, live from
/// step 0. Zeroed buffers live for the whole run. So do buffers that no step uses and the host
/// neither writes nor reads.
/// @throws ProgramError for bytes that are read before anything wrote them; names program, kernel,
/// step, tile and buffer
[[nodiscard]] std::vector<program::Lifetime> lifetimes_of(const graph::Graph& graph,
                                                          const Uses& uses);

/// For each step (uses.h): the last step number, as lifetimes count, at which it may still run, up to
/// the end of the loops around it. After that its state and rows may go. 0 for one that never runs.
[[nodiscard]] std::vector<std::uint32_t> last_runs(const graph::Graph& graph);

/// Names of the steps that lifetimes count.
[[nodiscard]] std::vector<std::string> step_names(const graph::Graph& graph);

/// Whether a leaf is not run: a compute set without vertices, or an exchange without messages.
[[nodiscard]] bool is_empty(const graph::Graph& graph, const graph::Step& leaf);

} // namespace tessera::lower
