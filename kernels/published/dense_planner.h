// SPDX-License-Identifier: MIT
// How the vendor's open library cuts a dense product over the tiles of a chip: its search, its
// costs, and where it puts what. Rules only: no graph, no tile programs.
// Source: PopLibs sdk-release-3.4 @7eac0f26 as restated in docs/published_plans.md#dense-products,
// which also says how near these plans come to measured cycles.
//
//   W[m,k] * X[k,n]: part (j_i, j_f, j_o) multiplies its rows of W and channels of k with its columns
//   of X. Parts of k are summed afterwards; `out_serial` or `in_serial` steps follow each other.
//
// Costs are those of the library's planner: without barriers, starts of exchanges and launches.
#pragma once

#include "base/element_type.h"
#include "base/range.h"
#include "base/units.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <vector>

namespace tessera::published {

/// W[m,k] * X[k,n] in the library's terms: field = n, output channels = m, input channels = k.
struct DenseProblem {
    std::int64_t m = 0;
    std::int64_t k = 0;
    std::int64_t n = 0;
    ElementType data = ElementType::F16;     ///< F16, F32 or FP8: F143 or F152
    ElementType partials = ElementType::F16; ///< F16 or F32, no narrower than data; FP8: F16

    /// Products of FP8 are FP16.
    [[nodiscard]] ElementType result() const {
        return tessera::bytes_of(data) == 1 ? ElementType::F16 : data;
    }
};

/// What the planner knows of a machine.
struct DenseMachine {
    std::int64_t tiles = 0;
    std::int64_t workers = 0;
    Cycles round_cycles = 0;         ///< of one issue of every worker
    Bytes tile_bytes = 0;            ///< a tile's memory
    Bytes element_bytes = 0;         ///< a memory element
    Bytes exchange_bytes = 0;        ///< a cycle into a tile
    Bytes pair_bytes = 0;            ///< a cycle into a tile of a pair that receives the same data
    std::int64_t amp_sets = 0;       ///< of eight units of the matrix unit
    std::int64_t row_issues_f16 = 0; ///< of a worker for a row of 16 FP16 input channels
    std::int64_t row_issues_f32 = 0; ///< of a worker for a row of 8 FP32 input channels
};

[[nodiscard]] DenseMachine dense_machine(const spec::MachineSpec& machine);

/// A vertex of the matrix unit: a weight set is `in_group` x `out_group` channels.
struct DenseVertex {
    std::int64_t in_group = 0;
    std::int64_t out_group = 0;
    std::int64_t units = 0; ///< output channels of one pass

    bool operator==(const DenseVertex&) const = default;
};

/// How often each dimension is cut. In-channels and out-channels are cut in groups of the vertex.
struct DenseSplit {
    std::int64_t field_parts = 1;
    std::int64_t out_parts = 1;
    std::int64_t out_serial = 1; ///< out-channels one after another; 1 if in_serial is not
    std::int64_t in_parts = 1;   ///< summed by the reduction
    std::int64_t in_serial = 1;  ///< in-channels one after another
    bool inputs_once = false;    ///< X is gathered once in front of the steps of out_serial

    [[nodiscard]] std::int64_t tiles() const { return field_parts * out_parts * in_parts; }
    [[nodiscard]] std::int64_t serial_steps() const { return out_serial * in_serial; }

    bool operator==(const DenseSplit&) const = default;
};

/// Cycles of the phases in program order. Those up to `update` are of one serial step.
struct DensePhases {
    std::int64_t serial_steps = 1;
    bool inputs_once = false;    ///< inputs and transform_inputs are paid once, not in each step
    Cycles slice = 0;            ///< take this step's weights (and inputs)
    Cycles transform_inputs = 0; ///< rearrangements of padded operands
    Cycles transform_weights = 0;
    Cycles inputs = 0;         ///< exchange
    Cycles weights = 0;        ///< exchange
    Cycles vertex = 0;         ///< the matrix unit
    Cycles partials_first = 0; ///< exchange; the plan has it even where nothing is summed
    Cycles partials_later = 0; ///< exchanges of the further stages
    Cycles reduce = 0;         ///< all stages; or the cast, where nothing is summed
    Cycles transform_outputs = 0;
    Cycles update = 0;     ///< of the output by a serial step
    Cycles final_cast = 0; ///< once, behind the steps of in_serial
    Bytes temporary_bytes = 0;

    [[nodiscard]] Cycles total() const;

    bool operator==(const DensePhases&) const = default;
};

/// What one tile has in one serial step, at most.
struct DenseTile {
    std::int64_t field = 0;
    std::int64_t in_groups = 0;
    std::int64_t out_groups = 0;
};

struct DensePlan {
    DenseVertex vertex;
    DenseSplit split;
    DenseTile tile;
    std::vector<std::int64_t> intermediate_depths; ///< of split.in_parts
    DensePhases phases;

    [[nodiscard]] std::int64_t tiles() const { return split.tiles(); }
};

/// The share of a tile's memory that the plan's temporaries may take.
inline constexpr double kTemporaryShare = 0.6;

/// The plan with the least cycles, then the least temporary bytes, then the first found, among those
/// whose temporaries fit into `temporary_share` of a tile. Where none fits, the share is doubled up
/// to twice the tile's memory, then dropped. Dimensions below 1 and types other than those above are
/// a broken invariant.
[[nodiscard]] DensePlan plan_dense(const DenseProblem& problem, const DenseMachine& machine,
                                   double temporary_share = kTemporaryShare);
[[nodiscard]] DensePlan plan_dense(const DenseProblem& problem, const spec::MachineSpec& machine);

/// The plan and the costs of a given split.
[[nodiscard]] DensePlan plan_of(const DenseProblem& problem, const DenseMachine& machine,
                                const DenseVertex& vertex, const DenseSplit& split);
[[nodiscard]] DensePhases phases_of(const DenseProblem& problem, const DenseMachine& machine,
                                    const DenseVertex& vertex, const DenseSplit& split);

/// The vertices that the search tries, in its order.
[[nodiscard]] std::vector<DenseVertex> dense_vertices(const DenseProblem& problem,
                                                      const DenseMachine& machine);

/// Cycles of a vertex of the matrix unit over all its groups, from the supervisor's first
/// instruction on.
[[nodiscard]] Cycles amp_vertex_cycles(const DenseMachine& machine, const DenseVertex& vertex,
                                       ElementType data, ElementType partials,
                                       const DenseTile& tile);

// The reduction over the parts of the in-channels.

/// Partials left behind each stage but the last; empty for fewer than 16 parts.
[[nodiscard]] std::vector<std::int64_t> intermediate_depths(std::int64_t parts);

struct ReductionStage {
    std::int64_t depth = 0;   ///< partials that become one
    std::int64_t left = 0;    ///< partials of an output behind the stage
    std::int64_t outputs = 0; ///< on a tile behind the stage, at most
};

/// The stages that sum `parts` partials of `outputs` elements on each tile; none for one part.
[[nodiscard]] std::vector<ReductionStage> reduction_stages(std::int64_t parts,
                                                           std::int64_t outputs);

[[nodiscard]] Cycles reduction_stage_cycles(const DenseMachine& machine, ElementType from,
                                            ElementType to, const ReductionStage& stage);

// Placement.

/// Part `part` of `grains` cut into `parts`: the last (grains mod parts) parts have one grain more.
[[nodiscard]] Range part_of(std::int64_t grains, std::int64_t parts, std::int64_t part);

struct DensePart {
    std::int64_t in = 0;
    std::int64_t field = 0;
    std::int64_t out = 0;

    bool operator==(const DensePart&) const = default;
};

/// Out-channels innermost, in-channels outermost, from tile 0 on; all serial steps on one tile.
[[nodiscard]] TileId tile_of(const DenseSplit& split, const DensePart& part);
[[nodiscard]] DensePart part_on(const DenseSplit& split, TileId tile);

/// Spreads a piece over the tiles that need it: a run of elements for each tile that holds any, in the
/// tiles' order. Runs are whole grains of `grain` elements (the last may be short). As few of the
/// `tiles` tiles as possible are used without raising the largest run, and each has at least `least`
/// elements if the piece has as many.
[[nodiscard]] std::vector<Range> spread_piece(std::int64_t elements, std::int64_t tiles,
                                              std::int64_t grain, std::int64_t least);

/// spread_piece of X, which the out_parts tiles need that differ only in DensePart::out.
[[nodiscard]] std::vector<Range> spread_inputs(std::int64_t elements, const DensePlan& plan,
                                               ElementType data);
/// spread_piece of W, which the field_parts tiles need that differ only in DensePart::field.
[[nodiscard]] std::vector<Range> spread_weights(std::int64_t elements, const DensePlan& plan,
                                                ElementType data);
/// Which outputs of a part's `elements` each of `tiles` tiles with partials of them sums.
[[nodiscard]] std::vector<Range> spread_reduction(std::int64_t elements, std::int64_t tiles,
                                                  ElementType partials);

} // namespace tessera::published
