// SPDX-License-Identifier: MIT
// Which steps of a graph its program has, and in which order: that in which they first run.
#pragma once

#include "kernels/graph/graph.h"
#include "models/program/program.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace tessera::lower {

/// Compute sets without vertices and exchanges without messages are left out, and so is what the
/// control program does not run.
struct Steps {
    static constexpr std::uint32_t kLeftOut = 0xffffffff;

    /// The graph's steps, by compute set and by exchange of the program.
    std::vector<std::uint32_t> sets;
    std::vector<std::uint32_t> exchanges;
    /// The other way round: of the program, or kLeftOut.
    std::vector<std::uint32_t> set_numbers;
    std::vector<std::uint32_t> exchange_numbers;
};

[[nodiscard]] Steps number_steps(const graph::Graph& graph);

/// Returns where a word is that a step looks at.
using AddressOf = std::function<Address(const graph::TilePlace&)>;

/// Returns the graph's control program with the program's numbers, and with its words at addresses.
[[nodiscard]] program::Step bound_control(const graph::Graph& graph, const Steps& steps,
                                          const AddressOf& address_of);

} // namespace tessera::lower
