// SPDX-License-Identifier: MIT
// One pass of a published plan of a static sparse product, written down in a graph of its own.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/sparse/published/layout.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::spmm {

struct PublishedBuffers {
    graph::BufferId values;
    graph::BufferId meta;
    graph::BufferId out; ///< partial results
    graph::BufferId x;
    graph::BufferId home_x;
    graph::BufferId home_values;
    graph::BufferId result;
    graph::BufferId slots; ///< partial results from other tiles
    graph::BufferId sums;

    /// Buffers of a pass' columns; all others are those of the first pass, too.
    [[nodiscard]] std::vector<graph::BufferId> of_pass() const { return {home_x, result}; }
    /// What stands in a tile's memory while it multiplies, whatever else does.
    [[nodiscard]] std::vector<graph::BufferId> while_multiplying() const {
        return {result, x, out, values};
    }
};

struct EmittedPass {
    graph::Graph graph;
    PublishedBuffers buffers = {};
    /// That its compute sets are expected to take; 0 where nothing is known of the vertices: FP32 blocks with one set of
    /// matrix units.
    Cycles multiply = 0;
    Cycles reduce = 0;
};

class PassEmitter {
public:
    /// Keeps references to both.
    PassEmitter(const PublishedLayout& layout, const PassOf& pass, const std::string& name);
    [[nodiscard]] EmittedPass run();

private:
    /// Holds those whose sizes the layout says: not meta, slots and sums.
    void add_buffers();
    void hold_homes(graph::BufferId buffer, const Linear& homes);

    // bring.cpp: how rows of X, and blocks that several parts need, come from where they stand to the
    // tiles that multiply them. Blocks come in the first pass alone: they stay.
    void bring_x();
    void send_x(const published::StaticBand& band, std::int64_t row, std::int64_t part, TileId home,
                published::Run run, std::int64_t before);
    void bring_blocks();

    // multiply.cpp: the vertices that multiply, the lists that they read, and the zeros that partial
    // results begin with, for codelets that do not begin them themselves.
    void add_multiply();
    [[nodiscard]] Cycles add_vertex(TileId tile);
    [[nodiscard]] graph::Field block_lists(TileId tile, Bytes line);
    [[nodiscard]] graph::Field worklists(TileId tile, std::int64_t columns);
    [[nodiscard]] graph::ComputeSetId add_zeros();

    // tensors.cpp: how the host sees operands and result: "a" {blocks, block, block}, "b" {k, n} and
    // "c" {m, n}; of b and c the columns of the pass.
    void add_tensors();
    [[nodiscard]] graph::Tensor values_tensor() const;
    void add_values(graph::Tensor& tensor, TileId tile, graph::Place place,
                    const std::vector<std::int64_t>& order, published::Run span) const;
    [[nodiscard]] graph::Tensor lines_tensor(const char* name, const Linear& homes,
                                             graph::BufferId buffer, std::int64_t rows) const;

    const PublishedLayout& layout_;
    const PassOf& pass_;
    Bytes element_; ///< of an operand
    EmittedPass emitted_;
    graph::Graph& graph_;
    PublishedBuffers& buffers_;
    graph::ExchangeId bring_;
    graph::ComputeSetId multiply_;
};

} // namespace tessera::spmm
