// SPDX-License-Identifier: MIT
// A copy from one tensor to another of the same type and shape, whatever places the two have.
#pragma once

#include "kernels/graph/graph.h"
#include "models/spec/machine_spec.h"

#include <span>
#include <string>

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

/// Brings such bytes of a tile to others, each once, by one message; what is for the tile itself it copies in
/// `copies`, as no tile receives its own words. Whether it does.
bool bring(Graph& graph, const spec::MachineSpec& machine, ExchangeId exchange, ComputeSetId copies,
           TileId tile, Place from, Bytes bytes, std::span<const Receiver> to, bool paired = false);

} // namespace tessera::graph
