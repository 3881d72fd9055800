// SPDX-License-Identifier: MIT
// Changes of layout inside a tile, as vertices that a kernel puts into its compute sets: what
// stands at one place in one order is to stand at another place in another order.
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "kernels/graph/graph.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::rearrange {

/// A vertex that has no tile yet.
struct Call {
    std::string symbol;
    program::VertexKind kind = program::VertexKind::MultiWorker;
    std::vector<graph::Field> state;
    std::vector<std::int64_t> issues; ///< that each worker makes; one entry for one worker
};

/// Vertices one after the other: one, but where its loop would make more rounds than a repeat
/// counts.
using Calls = std::vector<Call>;

/// Adds the calls, in their order, to what the tile does in the compute set.
void add(graph::Graph& graph, graph::ComputeSetId set, TileId tile, const Calls& calls);

/// `bytes`, a multiple of 4, from one place to another that does not overlap it; both are multiples
/// of 4. Words of 8 bytes where all three are multiples of 8. Buffers are aligned to 8 bytes at
/// least.
[[nodiscard]] Calls copy(const spec::MachineSpec& machine, graph::Place from, graph::Place to,
                         Bytes bytes);

/// The same in one issue for 8 bytes: all three are multiples of 8, and the two places share no
/// memory element.
[[nodiscard]] Calls paced_copy(const spec::MachineSpec& machine, graph::Place from, graph::Place to,
                               Bytes bytes);

/// A row of places, `step` bytes from one to the next.
struct Row {
    graph::Place place;
    Bytes step = 0;
};

/// `items` of `item_bytes`, 8 or 16, from the places of one row to those of another, by one worker,
/// item after item. Addresses and steps are multiples of 8.
[[nodiscard]] Call strided(Row from, Row to, std::int64_t items, Bytes item_bytes);

/// A matrix in a tile: line after line, `step` bytes from one to the next.
struct Layout {
    graph::Place place;
    ElementType type = ElementType::F32;
    std::int64_t rows = 0;
    std::int64_t columns = 0;
    bool lines_are_columns = false;
    Bytes step = 0;

    [[nodiscard]] std::int64_t lines() const { return lines_are_columns ? columns : rows; }
    [[nodiscard]] std::int64_t line_elements() const { return lines_are_columns ? rows : columns; }
    /// From the first element to the end of the last line, gaps between lines included.
    [[nodiscard]] Bytes bytes() const {
        return (lines() - 1) * step + line_elements() * bytes_of(type);
    }
};

/// The vertices that bring a matrix from one layout into another: a copy, a transpose or a cast;
/// nothing where they are the same. The two do not overlap. Addresses and steps are multiples of 4
/// (casts: of 8 on the FP32 side), and FP16 lines that are written have an even number of elements.
/// @throws NotModelled for odd FP16 lines, and for a cast that is also a transpose
[[nodiscard]] Calls change(const spec::MachineSpec& machine, const Layout& from, const Layout& to);

/// Cycles of a stub with these calls, from its first instruction to its return.
[[nodiscard]] Cycles cycles(const spec::MachineSpec& machine, const Calls& calls);

} // namespace tessera::rearrange
