// SPDX-License-Identifier: MIT
// A published plan of a static sparse product written down in a graph, one pass over columns of B and C
// after the other.
#pragma once

#include "base/units.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/graph.h"
#include "kernels/sparse/published/layout.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::sparse {

struct PublishedBuffers {
    graph::BufferId values;
    graph::BufferId meta;
    graph::BufferId out; ///< partial results
    graph::BufferId b;
    graph::BufferId home_b; ///< of this pass
    graph::BufferId home_values;
    graph::BufferId result; ///< of this pass
    graph::BufferId slots;  ///< partial results from other tiles
    graph::BufferId sums;
};

// rows.cpp: what the tiles have of C becomes C. Rows that one tile has alone are put where they stand;
// those that several have are summed there, or on other tiles and then moved.

/// What the slowest tile of a compute set is expected to take. `vertices` says what a tile's own vertices take; its copies come on top.
[[nodiscard]] Cycles slowest_of(const graph::Bringing& copies, std::vector<Cycles> vertices = {});

/// Adds the exchanges and compute sets and runs them as the next of `steps`. Returns the cycles that
/// their compute sets are expected to take.
[[nodiscard]] Cycles add_rows(graph::Graph& graph, const PublishedLayout& layout,
                              const PublishedBuffers& buffers, std::vector<graph::Step>& steps);

struct EmittedPlan {
    graph::Graph graph;
    /// That its compute sets are expected to take; 0 where nothing is known of the vertices: FP32 blocks with one set of
    /// matrix units.
    Cycles multiply = 0;
    Cycles reduce = 0;
};

class PublishedEmitter {
public:
    /// Keeps a reference to the layout.
    PublishedEmitter(const PublishedLayout& layout, const std::string& name);
    /// @throws DoesNotFit where what a tile multiplies with has no room
    [[nodiscard]] EmittedPlan run();

private:
    void add_pass();
    /// Holds those whose sizes the layout says: not meta, slots and sums.
    void add_buffers();
    /// Those of a pass' columns of B and C; all others serve all passes.
    void add_home_b();
    void add_result();
    void hold_homes(graph::BufferId buffer, const Linear& homes);
    /// There are columns that the host does not have.
    [[nodiscard]] bool pads_columns() const { return columns_.size() != layout_.padded_columns; }

    // bring.cpp: how rows of B, and blocks that several parts need, come from where they stand to the
    // tiles that multiply them. Blocks come in the first pass alone: they stay.
    void bring_b(graph::Bringing& bring);
    void send_b(graph::Bringing& bring, const published::StaticBand& band, std::int64_t row,
                std::int64_t part, TileId home, Range run, std::int64_t before);
    void bring_blocks(graph::Bringing& bring);

    // multiply.cpp: the vertices that multiply, the lists that they read, and the zeros that partial
    // results begin with, for codelets that do not begin them themselves.
    void add_multiply(const graph::Bringing& bring);
    [[nodiscard]] Cycles add_vertex(TileId tile);
    [[nodiscard]] graph::Field block_lists(TileId tile, Bytes line);
    [[nodiscard]] graph::Field worklists(TileId tile, std::int64_t columns);
    [[nodiscard]] graph::ComputeSetId add_zeros();

    // How the host sees operands and result: "a" {blocks, block, block}, "b" {k, n} and
    // "c" {m, n}; of b and c the columns of each pass.
    [[nodiscard]] graph::Tensor values_tensor() const;
    void add_values(graph::Tensor& tensor, TileId tile, graph::Place place,
                    const std::vector<std::int64_t>& order, Range span) const;
    void add_lines(graph::Tensor& tensor, const Linear& homes, graph::BufferId buffer) const;

    const PublishedLayout& layout_;
    Bytes element_; ///< of an operand
    EmittedPlan emitted_;
    graph::Graph& graph_;
    PublishedBuffers buffers_;
    std::vector<graph::BufferId> standing_; ///< while it multiplies, whatever else does
    std::vector<graph::Step> steps_;
    Range columns_; ///< of the host, of this pass
    graph::Tensor b_;
    graph::Tensor c_;
    graph::ComputeSetId multiply_;
};

} // namespace tessera::sparse
