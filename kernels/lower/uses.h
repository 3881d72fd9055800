// SPDX-License-Identifier: MIT
// Which bytes of which buffer a step touches on which tile, in the order in which the tile does it.
#pragma once

#include "kernels/graph/graph.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::lower {

/// A step of the graph: one of its compute sets, exchanges or stream copies, or a step of the control
/// program that uses memory itself, numbered through.
using StepNumber = std::uint32_t;

/// Bytes [begin, end) of a buffer. There are as many of them as fields and receivers: they are
/// small.
struct Use {
    StepNumber step = 0;
    std::uint32_t order = 0; ///< within the step, on the tile
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    graph::Access access = graph::Access::Read;

    friend constexpr bool operator==(const Use&, const Use&) = default;
};

/// The uses of a buffer on a tile, by step and order.
struct UsesOnTile {
    TileId tile = 0;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

/// All uses of a graph. Finding them also finds what is wrong with its fields.
class Uses {
public:
    /// @throws ProgramError for a field, message, piece or address in contents outside what its
    /// tile holds of the buffer (read_beyond not counted); for a message to its own tile; for two
    /// vertices of one tile and compute set that write the same bytes; and for a word of a step at
    /// no multiple of 4. The error names program, kernel and step (or tensor, or owner of the
    /// contents), tile and buffer
    explicit Uses(const graph::Graph& graph);

    /// Ascending tiles; only tiles that use the buffer.
    [[nodiscard]] std::span<const UsesOnTile> of(graph::BufferId buffer) const {
        return tiles_.at(buffer.index);
    }
    [[nodiscard]] std::span<const Use> of(const UsesOnTile& tile) const {
        return std::span(uses_).subspan(tile.first, tile.count);
    }

private:
    void check_steps(const graph::Graph& graph, std::uint32_t buffer, const UsesOnTile& here) const;

    std::vector<Use> uses_;
    std::vector<std::vector<UsesOnTile>> tiles_; ///< by buffer
};

/// Numbers of steps, and their names.
[[nodiscard]] inline StepNumber number_of(const graph::Graph& /*graph*/, graph::ComputeSetId set) {
    return set.index;
}
[[nodiscard]] inline StepNumber number_of(const graph::Graph& graph, graph::ExchangeId exchange) {
    return static_cast<StepNumber>(graph.compute_sets.size()) + exchange.index;
}
[[nodiscard]] inline StepNumber number_of(const graph::Graph& graph, graph::CopyId copy) {
    return static_cast<StepNumber>(graph.compute_sets.size() + graph.exchanges.size()) + copy.index;
}
[[nodiscard]] inline StepNumber number_of(const graph::Graph& graph, graph::LinkId exchange) {
    return number_of(graph, graph::CopyId{static_cast<std::uint32_t>(graph.stream_copies.size())}) +
           exchange.index;
}
/// Steps of the control program that use memory themselves, in tree order: whiles, ifs and begins of
/// stream copies that read a word, and repeats that store their round.
[[nodiscard]] inline bool uses_memory(const graph::Step& step) {
    using Kind = graph::Step::Kind;
    const bool reads = step.kind == Kind::While || step.kind == Kind::If ||
                       step.kind == Kind::StreamCopy || step.kind == Kind::StreamStart;
    return (reads && step.word.has_value()) || (step.kind == Kind::Repeat && !step.rounds.empty());
}
[[nodiscard]] std::vector<const graph::Step*> control_uses_of(const graph::Graph& graph);
[[nodiscard]] inline StepNumber number_of_control_use(const graph::Graph& graph,
                                                      std::uint32_t use) {
    return number_of(graph,
                     graph::LinkId{static_cast<std::uint32_t>(graph.link_exchanges.size())}) +
           use;
}

[[nodiscard]] const std::string& name_of(const graph::Graph& graph, StepNumber step);

/// Where something is wrong: "program 'x': kernel 'spmm', step 'multiply', tile 3".
[[nodiscard]] std::string place_of_fault(const graph::Graph& graph, StepNumber step, TileId tile);

} // namespace tessera::lower
