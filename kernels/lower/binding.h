// SPDX-License-Identifier: MIT
// Steps, contents and tensors of a graph at the places of its buffers.
#pragma once

#include "kernels/graph/graph.h"
#include "kernels/lower/codelet_library.h"
#include "kernels/lower/placing.h"
#include "kernels/lower/state.h"
#include "kernels/lower/steps.h"
#include "models/program/program.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::lower {

/// Where everything is that a graph may point to. The last buffer of the graph is its vertex state.
struct Places {
    const graph::Graph& graph;
    const Placing& placing;
    const State& state;
    Address state_begin = 0;
    const CodeletLibrary& codelets;

    [[nodiscard]] Address of(graph::Place place) const {
        return placing.buffers[place.buffer.index].begin + static_cast<Address>(place.offset);
    }
};

/// The program's compute sets on `tiles` tiles, stubs still at 0, and the names of their vertices.
struct BoundSets {
    std::vector<program::ComputeSet> sets;
    std::vector<std::string> vertex_names;
};
[[nodiscard]] BoundSets bound_sets(const Places& places, const Steps& steps, std::size_t tiles);

[[nodiscard]] std::vector<program::Transfer> bound_transfers(const Places& places,
                                                             const graph::Exchange& exchange);

/// Words of vertex state, by tile.
[[nodiscard]] std::map<TileId, std::vector<std::uint32_t>> state_words(const Places& places);

/// Contents that hold addresses, by contents and relocations: those that tiles share stand once.
using Relocated = std::map<std::pair<const void*, const void*>, program::SharedBytes>;
[[nodiscard]] Relocated relocated_contents(const Places& places);

/// Takes the pieces, of which there are most of all.
[[nodiscard]] program::Tensor bound_tensor(const Places& places, graph::Tensor tensor);
[[nodiscard]] program::StreamCopy bound_copy(const Places& places, const graph::StreamCopy& copy);

} // namespace tessera::lower
