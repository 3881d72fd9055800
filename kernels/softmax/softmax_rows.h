// SPDX-License-Identifier: MIT
// The vertices of a softmax: rows of a tile, whole ones that are dealt to its workers and those that all
// workers share, and what they cost.
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/rows.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tessera::softmax {

/// The form of what a row's softmax is made of: z = scale x + mask.
struct Form {
    std::optional<float> scale = {}; ///< nothing: it is x alone, without a mask
    bool is_masked = false;
    bool is_causal = false; ///< row i of each matrix sees columns 0 .. i

    [[nodiscard]] bool is_plain() const { return !scale; }
};

/// Rows of one matrix: the first one has the number `first` in it, and the others follow `stride` apart.
struct Rows {
    std::int64_t count = 0;
    std::int64_t first = 0;
    std::int64_t stride = 1;
};

/// Cycles of a tile's stub that has so many rows, all in one block.
[[nodiscard]] Cycles cycles(const spec::MachineSpec& machine, ElementType type, const Form& form,
                            const Rows& rows, std::int64_t columns);

/// Rows that may be cut into slices, each on a tile of its own.
struct RowsOnTiles {
    std::int64_t count = 0;
    std::int64_t columns = 0;
    std::int64_t tiles = 0; ///< that there are
    /// Rows that stand whole on the fullest tile; 0 where the rows have no such places.
    std::int64_t together = 0;
    bool is_read = false; ///< other steps read the result, perhaps whole rows of it
};

/// Into how many equal slices each row is cut so that it takes the fewest cycles, by estimate; 1 if it
/// stays whole. A slice is whole units of 8 bytes and has 64 elements at least. Rows that stand whole
/// have to leave their tiles first, and a result that is read may have to come together again. Causal
/// rows stay whole: there are as many as columns.
[[nodiscard]] std::int64_t slices_of(const spec::MachineSpec& machine, ElementType type,
                                     const Form& form, const RowsOnTiles& rows);

/// Cycles of a tile's stubs that has one of so many slices of a row of `columns` elements.
struct SliceCycles {
    Cycles parts = 0; ///< exponentials of the slice
    Cycles join = 0;  ///< what it is multiplied by, from the partials of all slices
};
[[nodiscard]] SliceCycles slice_cycles(const spec::MachineSpec& machine, ElementType type,
                                       const Form& form, std::int64_t columns, std::int64_t slices);

/// The vertices of a softmax, and the memory that they share.
class Vertices {
public:
    Vertices(graph::Graph& graph, graph::ComputeSetId set, const spec::MachineSpec& machine,
             ElementType type, const Form& form, std::int64_t columns);

    /// `from`: rows of x; `to`: those of y. `first`: number of the first one in its matrix, which has all
    /// of them if the form is causal. `mask`: where their row of the mask stands, if there is one.
    void add(const graph::RowBlock& from, const graph::RowBlock& to, std::int64_t first,
             graph::Place mask);
    /// One slice of a row, of `columns` elements. Its vertex in `join` wants the partials of all slices:
    /// those of slice n stand n * slice_bytes() behind those of slice 0 on each of their tiles. Returns
    /// where its own stand.
    graph::Place add_slice(const graph::RowBlock& from, const graph::RowBlock& to,
                           graph::Place mask, std::int64_t slice, std::int64_t slices,
                           graph::ComputeSetId join);
    [[nodiscard]] Bytes slice_bytes() const;
    /// Behind the last add().
    void finish();

private:
    struct Exponentials {
        graph::Place place;
        Bytes step = 0; ///< from row to row
    };
    /// The workers of a tile have some of the shares of a row: `first` is the number of their first.
    struct Shares {
        std::int64_t all = 0;
        std::int64_t first = 0;
    };
    [[nodiscard]] Exponentials exponentials_of(const graph::RowBlock& from,
                                               const graph::RowBlock& to);
    void add_join(graph::ComputeSetId set, const graph::RowBlock& from, const graph::RowBlock& to,
                  const Exponentials& exponentials, graph::Place partials, const Shares& shares);
    void add_whole(const graph::RowBlock& from, const graph::RowBlock& to, std::int64_t first,
                   graph::Place mask);
    void add_shared(const graph::RowBlock& from, const graph::RowBlock& to, std::int64_t first,
                    graph::Place mask);
    void add_parts(const graph::RowBlock& from, std::int64_t first, graph::Place mask,
                   const Exponentials& exponentials, graph::Place partials);
    void call(graph::ComputeSetId set, std::string_view codelet, std::string_view vertex,
              TileId tile, std::span<const graph::Field> state);
    [[nodiscard]] std::string kind() const;
    [[nodiscard]] bool is_half() const { return type_ == ElementType::F16; }
    [[nodiscard]] Bytes row_bytes() const { return columns_ * bytes_of(type_); }
    [[nodiscard]] std::int64_t last_seen(std::int64_t first) const;
    graph::Place room_on(TileId tile, Bytes bytes);

    graph::Graph& graph_;
    graph::ComputeSetId set_;
    const spec::MachineSpec& machine_;
    ElementType type_;
    Form form_;
    std::int64_t columns_;
    graph::BufferId exponentials_; ///< of FP16
    graph::BufferId partials_;     ///< of rows that workers or tiles share
    std::map<TileId, Bytes> exponential_bytes_;
    std::map<TileId, Bytes> partial_bytes_;
};

/// Rows [first, first + rows) of a block.
[[nodiscard]] graph::RowBlock part_of(const graph::RowBlock& block, std::int64_t first,
                                      std::int64_t rows);

} // namespace tessera::softmax
