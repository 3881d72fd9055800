// SPDX-License-Identifier: MIT
// A copy from one tensor to another of the same type and shape, whatever places the two have.
#pragma once

#include "kernels/graph/graph.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tessera::graph {

/// Adds what brings the elements of `from` to the places of `to`: one exchange for what travels
/// (words that several tiles want are sent once), vertices for what stays on its tile and for what
/// is not whole words. Elements of `to` that have several places get all of them; `from` has each
/// element at least once. Bytes of `to`'s buffers that hold no element become zeroed memory. An
/// empty sequence where all elements stand where they shall.
/// The steps are `role` of `owner`, called "<verb> <name of to>".
/// @throws ProgramError for different types or shapes, and for elements that `from` does not have;
/// NotModelled for types of less than 2 bytes
[[nodiscard]] Step add_copy(Graph& graph, const spec::MachineSpec& machine, TensorId from,
                            TensorId to, program::Role role, const std::string& owner,
                            const std::string& verb = "rearrange");

/// Adds a vertex that copies `bytes`, whole words of 8, from one place of a tile to another; codelet
/// "copy".
void copy_on_tile(Graph& graph, const spec::MachineSpec& machine, ComputeSetId set, TileId tile,
                  Place from, Place to, Bytes bytes);

/// An exchange that brings bytes of tiles to others. No tile receives its own words: the compute set
/// behind it copies what a tile brings to itself.
struct Bringing {
    Graph& graph;
    const spec::MachineSpec& machine;
    ExchangeId exchange;
    ComputeSetId copies;
    std::map<TileId, std::vector<std::int64_t>> copied_words = {}; ///< of 8 bytes, of each copy

    /// Brings the bytes to each receiver once, by one message. Whether the tile itself is one.
    bool add(TileId tile, Place from, Bytes bytes, std::span<const Receiver> to,
             bool paired = false);
    bool add(TileId tile, Place from, Bytes bytes, Receiver to) {
        return add(tile, from, bytes, std::span(&to, 1));
    }
};

} // namespace tessera::graph
