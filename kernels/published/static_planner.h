// SPDX-License-Identifier: MIT
// How the vendor's open library cuts a static sparse product over the tiles of a chip: its search
// and its costs. Rules only: no graph, no tile programs.
// Source: PopLibs sdk-release-3.4 @7eac0f26 as restated in
// docs/published_plans.md#static-sparse-products.
//
//   W[m,k] * X[k,n], W in square blocks: the columns of X are cut into parts, the block columns of
//   W into bands with nearly equal numbers of blocks; a band's blocks, row by row, are dealt evenly
//   to its tiles, which come in pairs.
//
// All costs are the planner's own: no barriers, no starts of exchanges, no launches.
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tessera::published {

/// W[m,k] * X[k,n] in blocks; `type` is that of operands, partial results and result.
struct StaticProblem {
    std::int64_t n = 0;
    std::int64_t block = 1;                  ///< 1, 4, 8 or 16
    ElementType type = ElementType::F16;     ///< F16 or F32
    std::vector<std::int64_t> row_counts;    ///< blocks of each block row
    std::vector<std::int64_t> column_counts; ///< blocks of each block column
};

/// What the planner knows of a machine.
struct StaticMachine {
    std::int64_t tiles = 0;
    std::int64_t workers = 0;
    Bytes tile_bytes = 0;
};

[[nodiscard]] StaticMachine static_machine(const spec::MachineSpec& machine);

/// Neighbouring block columns, in the order of StaticPlan::column_order.
struct StaticBand {
    std::int64_t first_column = 0;
    std::int64_t columns = 0;
    std::int64_t blocks = 0;
    std::int64_t first_tile = 0;
    std::int64_t tiles = 0;
};

/// Columns of X that the same tiles have, and these.
struct StaticPart {
    std::int64_t first_column = 0;
    std::int64_t columns = 0;
    std::int64_t first_tile = 0;
    std::int64_t tiles = 0;
    std::vector<StaticBand> bands;
};

/// Cycles of the phases in program order, each the worst of all parts.
struct StaticPhases {
    Cycles inputs = 0; ///< rows of X to the tiles that need them
    Cycles values = 0; ///< blocks, where several parts need them
    Cycles compute = 0;
    Cycles zero = 0;     ///< of partial results
    Cycles partials = 0; ///< exchange
    Cycles reduce = 0;
    Cycles move = 0; ///< the result to where it stands

    [[nodiscard]] Cycles total() const {
        return inputs + values + compute + zero + partials + reduce + move;
    }
    bool operator==(const StaticPhases&) const = default;
};

/// What the fullest tile of the dearest part has, as the planner expects it from the density alone.
struct StaticTile {
    std::int64_t columns = 0;       ///< of X
    std::int64_t blocks = 0;        ///< of W
    std::int64_t rows = 0;          ///< block rows that it has some of
    std::int64_t block_columns = 0; ///< that it has some of
    std::int64_t row_blocks = 0;    ///< blocks of a row
    std::int64_t contributors = 0;  ///< tiles that have some of a row
};

struct StaticPlan {
    std::int64_t n_split = 0;
    std::int64_t k_split = 0;
    /// Block columns as bands count them: those with few blocks come last.
    std::vector<std::int64_t> column_order;
    std::vector<StaticPart> parts;
    StaticTile tile;
    StaticPhases phases;
};

/// The share of a tile's memory that a plan may take.
inline constexpr double kStaticShare = 0.6;

/// The plan with the least cycles, the first found of equal ones, smaller n_split before k_split.
/// Nothing where no split is valid. A pattern without blocks, n below 1 or another block are a
/// broken invariant.
[[nodiscard]] std::optional<StaticPlan> plan_static(const StaticProblem& problem,
                                                    const StaticMachine& machine);

/// What a split that somebody else chose costs; nothing where it is not valid.
[[nodiscard]] std::optional<StaticPlan> plan_static_split(const StaticProblem& problem,
                                                          const StaticMachine& machine,
                                                          std::int64_t n_split,
                                                          std::int64_t k_split);

} // namespace tessera::published
