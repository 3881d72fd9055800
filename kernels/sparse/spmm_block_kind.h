// SPDX-License-Identifier: MIT
// What a product's blocks ask for, by their size and types: how operands come
// and lie, the vertex that multiplies a part, and what it costs. A further kind is a class of its
// own in a source of its own, and a line of kind_of().
//
//   spmm_elements.cpp   1: multiply-accumulate, columns in groups of 8
//   spmm_blocks.cpp     4, 8, and 16 in FP32: one or two weight loads a block
//   spmm_blocks16.cpp   16 in FP16: a weight load a block, or two with FP32 partials
// Source: docs/kernels.md.
#pragma once

#include "base/ceil_div.h"
#include "base/units.h"
#include "kernels/codelets/product_types.h"
#include "kernels/graph/graph.h"
#include "kernels/plan/vertex_cost.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::spmm {

struct Problem;
struct Part;

/// How operands of a kind come and lie.
struct BlockTraits {
    std::int64_t column_grain = 1;  ///< columns of X come in as many
    std::int64_t values_a_unit = 1; ///< blocks whose values travel together
    Bytes list_bytes = 0;           ///< of what its lists say of a block
    std::int64_t block_work = 1;    ///< of a worker for a column group or weight load: of a block,
    std::int64_t row_work = 0;      ///< and of a row that has some
    std::int64_t block_roundings = 0; ///< of a sum, to the partials' type, for each of its blocks
    graph::Where x = graph::Where::Any;
    graph::Where values = graph::Where::Any;
    Bytes x_beyond = 0;          ///< that the vertex reads behind X
    Bytes partials_beyond = 0;   ///< and behind partial results
    bool by_halves = false;      ///< lines of C are [2][column][8] instead of [column][block]
    bool lists_partials = false; ///< its lists say where lines of partial results are
    const char* unit = "";       ///< what its work counts
};

/// Buffers of a tile that a vertex uses.
struct VertexBuffers {
    graph::BufferId values;
    graph::BufferId lists;
    graph::BufferId x;
    graph::BufferId partials;
};

/// Means over the parts of a split.
struct PartMeans {
    double blocks = 0;      ///< of a part
    double rows = 0;        ///< of a part that have blocks
    double all_rows = 0;    ///< of a part, with blocks or without
    double columns = 0;     ///< of the widest slice
    double longest_row = 0; ///< blocks of the fullest row of a band, or of its pieces
};

/// Blocks of the fullest part.
[[nodiscard]] double fullest_blocks(const PartMeans& means);

/// What a part's vertex reads beside operands, and fields of its state that point into it.
struct PartLists {
    program::SharedBytes contents;
    graph::Relocations relocations;
    std::vector<graph::Field> state;
    /// The row of which a worker has most to do, in blocks times columns; none where workers share
    /// each row.
    program::WorkItem largest_row = {};
};

class BlockKind {
public:
    BlockKind(const BlockKind&) = delete;
    BlockKind& operator=(const BlockKind&) = delete;
    virtual ~BlockKind() = default;

    [[nodiscard]] const BlockTraits& traits() const { return traits_; }
    /// Sources of the vertex.
    [[nodiscard]] virtual std::vector<std::string> codelets() const = 0;
    [[nodiscard]] const std::string& vertex() const { return vertex_; }
    [[nodiscard]] program::VertexKind vertex_kind() const { return vertex_kind_; }
    /// Bytes from the first line of X to where its last may begin at most; none: anywhere.
    [[nodiscard]] virtual std::optional<Bytes> reach() const { return std::nullopt; }
    /// How a block's values stand in a tile: loops inside that over blocks.
    [[nodiscard]] virtual std::vector<program::PieceDim> value_loops() const = 0;

    /// The most that a worker's loop over such a part makes.
    [[nodiscard]] virtual std::int64_t rounds(const Part& /*part*/, std::int64_t columns,
                                              std::int64_t workers) const {
        return ceil_div(columns, workers);
    }

    /// Lists of a part with so many columns, the same for all slices as wide.
    [[nodiscard]] virtual PartLists lists(graph::Graph& graph, const Problem& problem,
                                          const Part& part, std::int64_t columns,
                                          std::int64_t workers,
                                          const VertexBuffers& buffers) const = 0;

    /// Cycles of the vertex by means alone.
    [[nodiscard]] virtual double estimate(const spec::MachineSpec& machine,
                                          const PartMeans& means) const = 0;
    /// The vertex of a part, to the cycle.
    virtual void run(plan::StubTimeline& stub, const Problem& problem, const Part& part,
                     std::int64_t columns, std::int64_t workers) const = 0;

protected:
    BlockKind(BlockTraits traits, std::string vertex, program::VertexKind kind)
        : traits_(traits), vertex_(std::move(vertex)), vertex_kind_(kind) {}

private:
    BlockTraits traits_;
    std::string vertex_;
    program::VertexKind vertex_kind_;
};

/// @throws NotModelled where there is none
[[nodiscard]] const BlockKind& kind_of(std::int64_t block, codelets::ProductTypes types);
/// Whether a machine runs its vertex: blocks with partial results as wide as the data take both sets
/// of a matrix unit.
[[nodiscard]] bool has_kind(const spec::MachineSpec& machine, std::int64_t block,
                            codelets::ProductTypes types);

[[nodiscard]] const BlockKind& elements(codelets::ProductTypes types);
[[nodiscard]] const BlockKind& small_blocks(std::int64_t block, codelets::ProductTypes types);
[[nodiscard]] const BlockKind& blocks16(codelets::ProductTypes types);

} // namespace tessera::spmm
