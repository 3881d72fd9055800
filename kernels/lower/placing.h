// SPDX-License-Identifier: MIT
// Where the buffers of a graph stand. Buffers that stand together on some tile share one plan, in
// which each has its largest size and a name of its own: a second "x" is "x (2)". Plans of buffers
// that no tile has together know nothing of each other.
#pragma once

#include "kernels/graph/graph.h"
#include "kernels/lower/memory_plan.h"
#include "kernels/lower/uses.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <map>
#include <span>
#include <string>
#include <vector>

namespace tessera::lower {

/// When a buffer is kept, and who touches it.
struct Need {
    program::Lifetime lifetime;
    bool by_codelets = true;
    bool by_rows = true;
};

/// Of every buffer. What no step uses is taken as touched by all.
[[nodiscard]] std::vector<Need> needs_of(const graph::Graph& graph, const Uses& uses);

struct Placing {
    std::vector<MemoryPlan::Buffer> buffers; ///< by buffer of the graph; no bytes: held nowhere
    CodeRoom code;
    std::map<std::string, Bytes> bytes_by_buffer; ///< of the fullest plan, and "code"
    Bytes bytes_used = 0;                         ///< of the fullest plan
};

/// Places the buffers, behind `code`. `steps`: names of the steps that lifetimes count.
/// @throws DoesNotFit naming a tile with most to hold, the bytes over, and what they are
[[nodiscard]] Placing place(const spec::MachineSpec& machine, const graph::Graph& graph,
                            std::span<const Need> needs, CodeRoom code,
                            const std::vector<std::string>& steps);

/// The same before rows are planned: behind `code` with rows as messages make them likely, and what else is in their last
/// memory element, or where
/// that does not fit, without rows: they may turn out shorter. Says in `code` which.
[[nodiscard]] Placing first_place(const spec::MachineSpec& machine, const graph::Graph& graph,
                                  std::span<const Need> needs, CodeRoom& code,
                                  const std::vector<std::string>& steps);

/// Before there are vertices: the buffers are needed together in some step. A graph of a division
/// that cannot fit may be far too large to make.
/// @throws DoesNotFit where they find no place beside one memory element of code
void check_together(const spec::MachineSpec& machine, const graph::Graph& graph,
                    const std::vector<graph::BufferId>& buffers, const std::string& step);

} // namespace tessera::lower
