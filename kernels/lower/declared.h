// SPDX-License-Identifier: MIT
// The memory that vertices may touch according to their fields, at its place in the tile. Tests
// compare it with the memory that codelets do touch.
#pragma once

#include "kernels/graph/graph.h"
#include "kernels/lower/binding.h"
#include "kernels/lower/steps.h"
#include "models/program/program.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace tessera::lower {

struct DeclaredUse {
    program::ByteRange range;
    graph::Access access = graph::Access::Read;
    std::uint32_t symbol = 0; ///< of the vertex: index into Graph::symbols
};

/// By compute set of the program and by tile: what fields, state and tables of its vertices declare,
/// in the order in which the vertices run, each with its reads first.
using DeclaredUses = std::vector<std::vector<std::vector<DeclaredUse>>>;

[[nodiscard]] DeclaredUses declared_uses(const Places& places, const Steps& steps,
                                         std::size_t tiles);

/// Receives the uses of each graph that this thread lowers, as long as it exists. There is one at a
/// time.
class DeclaredListener {
public:
    using Listen = std::function<void(const program::Program&, DeclaredUses)>;

    explicit DeclaredListener(Listen listen);
    ~DeclaredListener();
    DeclaredListener(const DeclaredListener&) = delete;
    DeclaredListener& operator=(const DeclaredListener&) = delete;

    /// Calls the listener, if there is one.
    static void tell(const program::Program& program, const Places& places, const Steps& steps,
                     std::size_t tiles);

private:
    Listen listen_;
};

} // namespace tessera::lower
