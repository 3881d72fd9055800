// SPDX-License-Identifier: MIT
// What a graph may say that no machine, no codelet and no memory has. Errors name program,
// kernel and step, or buffer, and tile.
#pragma once

#include "kernels/graph/graph.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

namespace tessera::lower {

/// @throws ProgramError for a vertex or memory on a tile that the machine does not have
void check_tiles(const spec::MachineSpec& machine, const graph::Graph& graph);

/// @throws ProgramError for a vertex or contents with a symbol that none of the graph's codelets
/// has; tells the nearest
void check_symbols(const graph::Graph& graph, const program::Codelet& codelets);

/// A tile that holds a buffer several times holds it once, with the most bytes.
/// @throws ProgramError for different contents
void hold_once(graph::Graph& graph);

} // namespace tessera::lower
