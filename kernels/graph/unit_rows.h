// SPDX-License-Identifier: MIT
// A tensor as vertices go over it that compute every element by itself: rows of units of 8 bytes.
//
//     tile memory   |eeeeeee.........|eeeeeee.........|      e: 2 bytes of an element, .: of something else
//     rows          |oo..............|oo..............|      o: a unit, which has 8 bytes
//
// An output may have a tensor's places in buffers of its own, where nothing else stands (places.h).
// Then a unit that has an element can be computed and written whole. What comes out beside elements
// means nothing, and nobody reads it: an output is its elements. Of an input only elements count as
// read, so that what is beside them need not have been written; it must be memory, and is: buffers
// begin at units.
#pragma once

#include "base/units.h"
#include "kernels/graph/graph.h"

#include <cstdint>
#include <vector>

namespace tessera::graph {

inline constexpr Bytes kUnitBytes = 8;

[[nodiscard]] constexpr std::int64_t units_of(Bytes bytes) {
    return (bytes + kUnitBytes - 1) / kUnitBytes;
}

/// Neighbouring bytes that all belong to elements.
struct ByteRun {
    TileId tile = 0;
    Place place;
    Bytes bytes = 0;
};

/// Rows that are alike.
struct UnitRows {
    TileId tile = 0;
    Place first; ///< begins a unit
    std::int64_t rows = 1;
    std::int64_t units = 0;         ///< of a row
    Bytes stride = 0;               ///< from row to row, whole units
    std::vector<ByteRun> runs = {}; ///< the elements in them
};

/// Every unit that has an element once, by tile and address.
[[nodiscard]] std::vector<UnitRows> unit_rows_of(const Tensor& tensor);

/// Whether each unit has elements alone, and no element stands twice: what a sum over units takes.
[[nodiscard]] bool has_whole_units(const Graph& graph, TensorId tensor);

/// Whether vertices may write these units over the tensor itself: nothing that means anything stands
/// in them beside its elements.
[[nodiscard]] bool has_own_units(const Graph& graph, TensorId tensor);

/// Lets vertices go over the tensor: its buffers begin at units.
void align_to_units(Graph& graph, TensorId tensor);

} // namespace tessera::graph
