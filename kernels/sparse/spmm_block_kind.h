// SPDX-License-Identifier: MIT
// What a product's blocks ask for, by their size and types: how operands come
// and lie, the vertex that multiplies a part, and what it costs. A further kind is a record of this
// with three functions, and a line of kind_of().
//
//   1 (spmm_elements.cpp)   multiply-accumulate, columns in groups of 8
//   4, 8, and 16 in FP32    one or two weight loads a block
//   16 in FP16              a weight load a block, or two with FP32 partials
// Source: docs/kernels.md.
#pragma once

#include "base/ceil_div.h"
#include "base/units.h"
#include "kernels/codelets/product_types.h"
#include "kernels/graph/graph.h"
#include "kernels/plan/vertex_cost.h"
#include "models/spec/machine_spec.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::sparse {

struct Problem;
struct Part;

/// Buffers of a tile that a vertex uses.
struct VertexBuffers {
    graph::BufferId values;
    graph::BufferId lists;
    graph::BufferId b;
    graph::BufferId partials;
};

/// A number in an estimate, which is made of means.
[[nodiscard]] constexpr double real(std::int64_t number) {
    return static_cast<double>(number);
}

/// Means over the parts of a split.
struct PartMeans {
    double blocks = 0;      ///< of a part
    double rows = 0;        ///< of a part that have blocks
    double all_rows = 0;    ///< of a part, with blocks or without
    double columns = 0;     ///< of the widest slice
    double longest_row = 0; ///< blocks of the fullest row of a band, or of its pieces
};

/// What a part's vertex reads beside operands, and fields of its state that point into it.
struct PartLists {
    program::SharedBytes contents;
    graph::Relocations relocations;
    std::vector<graph::Field> state;
    /// The row of which a worker has most to do, in blocks times columns; none where workers share
    /// each row.
    program::WorkItem largest_row = {};
};

/// Vertices read up to one access behind their data.
inline constexpr Bytes kReadAhead = 16;

/// A pointer of a vertex that says elsewhere what it reads or writes in all.
[[nodiscard]] inline graph::Field from(graph::BufferId buffer, Bytes offset) {
    return graph::pointer({buffer, offset}, 0, graph::Access::Read);
}

/// The vertex of a kind, and how operands come and lie for it.
struct BlockKind {
    std::string vertex;
    program::VertexKind vertex_kind = program::VertexKind::Supervisor;
    std::vector<std::string> codelets; ///< sources of the vertex
    /// How a block's values stand in a tile: loops inside that over blocks.
    std::vector<program::PieceDim> value_loops = {};
    /// Bytes from the first line of B to where its last may begin at most; none: anywhere.
    std::optional<Bytes> reach = {};
    std::int64_t column_grain = 1;  ///< columns of B come in as many
    std::int64_t values_a_unit = 1; ///< blocks whose values travel together
    Bytes list_bytes = 0;           ///< of what its lists say of a block
    std::int64_t block_work = 1;    ///< of a worker for a column group or weight load: of a block,
    std::int64_t row_work = 0;      ///< and of a row that has some
    std::int64_t block_roundings = 0; ///< of a sum, to the partials' type, for each of its blocks
    graph::Where b = graph::Where::Any;
    graph::Where values = graph::Where::Any;
    Bytes b_beyond = 0;          ///< that the vertex reads behind B
    Bytes partials_beyond = 0;   ///< and behind partial results
    bool by_halves = false;      ///< lines of C are [2][column][8] instead of [column][block]
    bool lists_partials = false; ///< its lists say where lines of partial results are
    const char* unit = "";       ///< what its work counts

    /// Lists of a part with so many columns, the same for all slices as wide. @throws DoesNotFit where
    /// a worker's loop would make more rounds than a repeat counts
    PartLists (*lists)(graph::Graph& graph, const spec::MachineSpec& machine,
                       const Problem& problem, const Part& part, std::int64_t columns,
                       const VertexBuffers& buffers);
    /// Cycles of the vertex by means alone.
    double (*estimate)(const spec::MachineSpec& machine, const Problem& problem,
                       const PartMeans& means);
    /// The vertex of a part, to the cycle.
    void (*run)(plan::StubTimeline& stub, const Problem& problem, const Part& part,
                std::int64_t columns, std::int64_t workers);
};

/// @throws NotModelled where there is none
[[nodiscard]] const BlockKind& kind_of(std::int64_t block, codelets::ProductTypes types);
/// Whether a machine runs its vertex: blocks with partial results as wide as the data take both sets
/// of a matrix unit.
[[nodiscard]] bool has_kind(const spec::MachineSpec& machine, std::int64_t block,
                            codelets::ProductTypes types);

/// The kind of single non-zeros, which kind_of() makes once for all types.
[[nodiscard]] BlockKind elements(codelets::ProductTypes types);

} // namespace tessera::sparse
