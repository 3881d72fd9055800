// SPDX-License-Identifier: MIT
// Steps, contents and tensors of a graph at the places of its buffers.
#pragma once

#include "kernels/graph/graph.h"
#include "kernels/lower/codelet_library.h"
#include "kernels/lower/placing.h"
#include "kernels/lower/state.h"
#include "kernels/lower/steps.h"
#include "models/program/program.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace tessera::lower {

/// Where everything is that a graph may point to.
struct Places {
    const graph::Graph& graph;
    const Placing& placing;
    const State& state;
    const CodeletLibrary& codelets;
    Address lowest = 0; ///< of state without words, which stands nowhere

    [[nodiscard]] Address of(TileId tile, graph::Place place) const {
        return placing.at(tile, place.buffer).begin + static_cast<Address>(place.offset);
    }
    [[nodiscard]] Address of_state(TileId tile, graph::Place place) const {
        return std::max(of(tile, place), lowest);
    }
};

/// The program's compute sets on `tiles` tiles, stubs still at 0, the names of their vertices, and
/// where these may scatter.
struct BoundSets {
    std::vector<program::ComputeSet> sets;
    std::vector<std::string> vertex_names;
    std::vector<std::vector<program::ByteRange>> scattered;
};
[[nodiscard]] BoundSets bound_sets(const Places& places, const Steps& steps, std::size_t tiles);

[[nodiscard]] std::vector<program::Transfer> bound_transfers(const Places& places,
                                                             const graph::Exchange& exchange);

/// Words of vertex state, by buffer of State::buffers and tile.
using StateWords = std::vector<std::vector<std::vector<std::uint32_t>>>;
[[nodiscard]] StateWords state_words(const Places& places);

/// Contents that hold addresses: those that tiles of one plan share stand once.
class Relocated {
public:
    explicit Relocated(const Places& places) : places_(places) {}
    /// The contents as they are where there is nothing to relocate.
    [[nodiscard]] const program::SharedBytes& of(const graph::Held& held);

private:
    const Places& places_;
    std::map<std::tuple<std::uint32_t, const void*, const void*>, program::SharedBytes> known_;
};

/// Takes the pieces, of which there are most of all.
[[nodiscard]] program::Tensor bound_tensor(const Places& places, graph::Tensor tensor);
[[nodiscard]] program::StreamCopy bound_copy(const Places& places, const graph::StreamCopy& copy);
[[nodiscard]] program::LinkExchange bound_link_exchange(const Places& places,
                                                        const graph::LinkExchange& exchange);

} // namespace tessera::lower
