// SPDX-License-Identifier: MIT
// A published plan of a dense product on its tiles: what vertices read and write, and which share of A,
// B and C each tile has in each step. Made once, and only read afterwards.
//
// A step here is one of plan.split.out_serial: a run of C's out-groups.
#pragma once

#include "base/ceil_div.h"
#include "base/element_type.h"
#include "base/units.h"
#include "kernels/graph/graph.h"
#include "kernels/published/dense_planner.h"
#include "kernels/workload/workload.h"
#include "models/spec/machine_spec.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace tessera::matmul {

inline constexpr const char* kPublishedOwner = "matmul"; ///< of steps, as reports name it
inline constexpr Bytes kWord = 8;                        ///< of what codelets load and store

/// Channels and bytes of what a plan's vertices read and write: a cell of X has `in_group` channels,
/// one of partial results `out_group`.
struct PublishedCells : published::DenseVertex {
    ElementType data = ElementType::F16;
    ElementType partials = ElementType::F16;
    ElementType result = ElementType::F16;
    Bytes in_cell = 0;
    Bytes block = 0; ///< weights of an in-group and an out-group
    Bytes partial_cell = 0;
    Bytes result_cell = 0;
    std::int64_t out_stride = 1; ///< words from a pass's last one of a column to its next column
    std::string multiply = {};
    std::string codelet = {};
    const char* types = ""; ///< of a reduction that goes on: "half_half"
    const char* last_types = "";
};

[[nodiscard]] published::DenseProblem problem_of(const workload::MatmulWorkload& workload);

[[nodiscard]] PublishedCells cells_of(const published::DenseProblem& problem,
                                      const published::DenseVertex& vertex);

/// Cells [first, last) of a partial result on a tile, from `place` on.
struct HeldCells {
    TileId tile = 0;
    Range cells;
    graph::Place place;
};
/// A partial result: all of its cells, in order.
using Partial = std::vector<HeldCells>;
/// Those of each (field, out) part of the result.
using Partials = std::vector<std::vector<Partial>>;

/// Runs of elements as runs of units of so many.
[[nodiscard]] std::vector<Range> in_units(std::vector<Range> runs, std::int64_t elements);

/// What a tile has of A, B and C in a step.
struct TileShare {
    published::DensePart part;
    Range field; ///< columns of B and C
    Range in_groups;
    Range out_groups;

    [[nodiscard]] std::int64_t input_cells() const { return in_groups.size() * field.size(); }
    [[nodiscard]] std::int64_t weight_blocks() const {
        return in_groups.size() * out_groups.size();
    }
    [[nodiscard]] std::int64_t partial_cells() const { return out_groups.size() * field.size(); }
};

struct PublishedLayout {
    /// Keeps references to all of them.
    PublishedLayout(const spec::MachineSpec& on_machine,
                    const workload::MatmulWorkload& of_workload,
                    const published::DensePlan& by_plan);

    [[nodiscard]] TileId tiles() const { return static_cast<TileId>(plan.tiles()); }
    [[nodiscard]] TileShare share(TileId tile, std::int64_t step) const;

    [[nodiscard]] bool inputs_move() const { return plan.split.out_parts > 1; }
    [[nodiscard]] bool weights_move() const { return plan.split.field_parts > 1; }
    /// Cells of a piece of X on the tiles that need it; blocks of a piece of W.
    [[nodiscard]] std::vector<Range> home_cells(const TileShare& share) const;
    [[nodiscard]] std::vector<Range> home_blocks(const TileShare& share) const;

    /// There are several steps.
    [[nodiscard]] bool is_serial() const { return plan.split.out_serial > 1; }
    /// A step's own name of what each step has.
    [[nodiscard]] std::string in_step(const std::string& name, std::int64_t step) const;

    /// Sums that nothing was added to are of the partials' type still.
    [[nodiscard]] bool casts() const {
        return plan.split.in_parts == 1 && cells.partials != cells.result;
    }
    /// FP32 results leave in groups of 8 rows.
    [[nodiscard]] bool regroups() const;

    /// Of what a tile has of a result: each(out-group of the part, columns of it, their bytes behind
    /// held.place).
    template <class Each> void for_columns(const HeldCells& held, const Each& each) const {
        const std::int64_t columns = share(held.tile, 0).field.size();
        for (std::int64_t at = held.cells.first; at < held.cells.last;) {
            const std::int64_t group = at / columns;
            const std::int64_t end = std::min((group + 1) * columns, held.cells.last);
            each(group, Range{at - group * columns, end - group * columns},
                 (at - held.cells.first) * cells.result_cell);
            at = end;
        }
    }

    const spec::MachineSpec& machine;
    const workload::MatmulWorkload& workload;
    const published::DensePlan& plan;
    PublishedCells cells;
    std::int64_t out_groups;
    std::int64_t in_groups;
};

} // namespace tessera::matmul
