// SPDX-License-Identifier: MIT
// Where the elements of a tensor stand, as the vertices of this family go over them: rows of units of
// 8 bytes.
//
//     tile memory   |eeeeeee.........|eeeeeee.........|      e: 2 bytes of an element, .: of something else
//     rows          |oo..............|oo..............|      o: 4 elements' bytes, all of them computed
//
// An output has a tensor's places in buffers of its own, where nothing else stands. So a unit that has
// an element is computed and written whole: what comes out beside elements is never read, because
// readers read elements. Of an input only the elements count as read, so that what is beside them need
// not have been written.
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "kernels/family/family.h"
#include "kernels/graph/graph.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::elementwise {

inline constexpr Bytes kUnitBytes = 8;

[[nodiscard]] constexpr std::int64_t units_of(Bytes bytes) {
    return (bytes + kUnitBytes - 1) / kUnitBytes;
}

/// Neighbouring bytes that all belong to elements.
struct Run {
    TileId tile = 0;
    std::uint32_t buffer = 0;
    Bytes begin = 0;
    Bytes end = 0;
};

struct Rows {
    TileId tile = 0;
    graph::Place first; ///< aligned to a unit
    std::int64_t rows = 1;
    std::int64_t units = 0;    ///< of a row
    Bytes stride = 0;          ///< from row to row, a multiple of a unit
    std::size_t first_run = 0; ///< of its elements, in Placement::runs
    std::size_t runs = 0;
};

struct Placement {
    std::vector<Run> runs;
    std::vector<Rows> rows; ///< every unit with an element once, by tile and address

    [[nodiscard]] std::span<const Run> runs_of(const Rows& of) const {
        return std::span(runs).subspan(of.first_run, of.runs);
    }
};

[[nodiscard]] Placement placement_of(const graph::Tensor& tensor);

/// Does it stand on tiles of the site alone?
[[nodiscard]] bool is_on(const family::Site& site, const graph::Tensor& tensor);

/// Buffers of one tensor -> those of the other, where element for element has the same tile and the
/// same place in elements. Types may differ. Nothing where that is not so.
using Buffers = std::map<std::uint32_t, graph::BufferId>;
[[nodiscard]] std::optional<Buffers> alike(const graph::Tensor& one, const graph::Tensor& other);

/// Adds a tensor that stands as `model` does, in buffers of its own.
graph::TensorId add_alike(graph::Graph& graph, const std::string& name, ElementType type,
                          graph::TensorId model);

/// Adds a tensor that stands in even runs of at least 32 bytes on all tiles of the site.
graph::TensorId add_runs(graph::Graph& graph, const family::Site& site, const std::string& name,
                         const family::TensorType& type);

/// Adds a matrix that stands in whole rows, each of whole units, on tiles of the site.
graph::TensorId add_rows(graph::Graph& graph, const family::Site& site, const std::string& name,
                         const family::TensorType& type);

/// Lets vertices of this family read and write the tensor: its buffers are aligned to a unit.
void align(graph::Graph& graph, graph::TensorId tensor);

} // namespace tessera::elementwise
