// SPDX-License-Identifier: MIT
#include "kernels/published/dense_planner.h"

#include "base/error.h"
#include "kernels/published/dense_costs.h"
#include "models/spec/matrix_unit.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace tessera::published {
namespace {

/// All splits of `grains` that are the smallest with their largest part.
[[nodiscard]] std::vector<std::int64_t> unwasteful_splits(std::int64_t grains, std::int64_t most) {
    std::vector<std::int64_t> splits;
    for (std::int64_t split = 1; split <= std::min(grains, most);) {
        splits.push_back(split);
        const std::int64_t part = ceil_div(grains, split);
        if (part == 1) {
            break;
        }
        split = ceil_div(grains, part - 1);
    }
    return splits;
}

struct ChannelSplit {
    std::int64_t parallel = 1;
    std::int64_t serial = 1;
    std::int64_t largest = 0; ///< groups of a part
};

/// Their largest parts never grow from one to the next.
[[nodiscard]] std::vector<ChannelSplit> channel_splits(std::int64_t groups, std::int64_t tiles) {
    std::vector<ChannelSplit> splits;
    for (const std::int64_t all : unwasteful_splits(groups, groups)) {
        for (std::int64_t parallel = 1; parallel <= std::min(all, tiles); ++parallel) {
            if (all % parallel == 0) {
                splits.push_back({parallel, all / parallel, ceil_div(groups, all)});
            }
        }
    }
    return splits;
}

class DenseSearch {
public:
    DenseSearch(const DenseProblem& problem, const DenseMachine& machine)
        : problem_(problem), machine_(machine), vertices_(dense_vertices(problem, machine)) {
        for (std::int64_t parts = 0; parts <= machine.tiles; ++parts) {
            depths_.push_back(intermediate_depths(parts));
        }
    }

    [[nodiscard]] std::optional<DensePlan> least(Bytes bound) {
        best_.reset();
        best_cycles_ = std::numeric_limits<Cycles>::max();
        for (const DenseVertex& vertex : vertices_) {
            try_vertex(vertex, bound);
        }
        return best_;
    }

private:
    void try_vertex(const DenseVertex& vertex, Bytes bound) {
        const DenseCosts costs(problem_, machine_, vertex);
        const auto ins = channel_splits(costs.in_groups(), machine_.tiles);
        const auto outs = channel_splits(costs.out_groups(), machine_.tiles);
        for (const std::int64_t field_parts : unwasteful_splits(problem_.n, machine_.tiles)) {
            const std::int64_t field = ceil_div(problem_.n, field_parts);
            const AmpVertexCycles cycles = costs.vertex(field);
            const std::int64_t weight_sets =
                ceil_div(costs.in_groups() * costs.out_groups(), machine_.tiles / field_parts);
            if (cycles.least_of(weight_sets) > best_cycles_) {
                continue;
            }
            for (const ChannelSplit& out : outs) {
                const std::int64_t most_ins = machine_.tiles / (field_parts * out.parallel);
                if (most_ins == 0 || cycles.least_of(ceil_div(costs.in_groups(), most_ins) *
                                                     out.largest * out.serial) > best_cycles_) {
                    continue;
                }
                const auto first_fit =
                    std::partition_point(ins.begin(), ins.end(), [&](const ChannelSplit& in) {
                        return costs.least_temporary_bytes({field, in.largest, out.largest}) >
                               bound;
                    });
                for (auto in = first_fit; in != ins.end(); ++in) {
                    if (in->parallel > most_ins || (out.serial > 1 && in->serial > 1)) {
                        continue;
                    }
                    const Cycles of_vertex = cycles.of(in->largest, out.largest);
                    if (of_vertex * out.serial * in->serial > best_cycles_) {
                        continue;
                    }
                    try_split(costs, vertex,
                              {field_parts, out.parallel, out.serial, in->parallel, in->serial},
                              {field, in->largest, out.largest}, of_vertex, bound);
                }
            }
        }
    }

    void try_split(const DenseCosts& costs, const DenseVertex& vertex, DenseSplit split,
                   const DenseTile& tile, Cycles of_vertex, Bytes bound) {
        const auto& depths = depths_[static_cast<std::size_t>(split.in_parts)];
        offer(costs, vertex, split, tile, depths, of_vertex, bound);
        if (split.out_serial > 1) {
            split.inputs_once = true;
            offer(costs, vertex, split, tile, depths, of_vertex, bound);
        }
    }

    void offer(const DenseCosts& costs, const DenseVertex& vertex, const DenseSplit& split,
               const DenseTile& tile, const std::vector<std::int64_t>& depths, Cycles of_vertex,
               Bytes bound) {
        if (costs.temporary_bytes(split, tile, depths) > bound) {
            return;
        }
        const DensePhases phases = costs.phases(split, tile, depths, of_vertex);
        const Cycles cycles = phases.total();
        if (cycles < best_cycles_ ||
            (cycles == best_cycles_ && phases.temporary_bytes < best_->phases.temporary_bytes)) {
            best_cycles_ = cycles;
            best_ = DensePlan{vertex, split, tile, depths, phases};
        }
    }

    DenseProblem problem_;
    DenseMachine machine_;
    std::vector<DenseVertex> vertices_;
    std::vector<std::vector<std::int64_t>> depths_; ///< of each number of parts
    std::optional<DensePlan> best_;
    Cycles best_cycles_ = 0;
};

void assert_plannable(const DenseProblem& problem) {
    TESSERA_ASSERT(problem.m > 0 && problem.k > 0 && problem.n > 0);
    const bool quarter = problem.data == ElementType::F143 || problem.data == ElementType::F152;
    TESSERA_ASSERT(quarter || problem.data == ElementType::F16 || problem.data == ElementType::F32);
    TESSERA_ASSERT(problem.partials == problem.result() ||
                   (problem.partials == ElementType::F32 && !quarter));
}

} // namespace

DenseMachine dense_machine(const spec::MachineSpec& machine) {
    DenseMachine numbers;
    numbers.tiles = machine.chip.tiles;
    numbers.workers = machine.tile.workers;
    numbers.round_cycles = machine.tile.round_cycles();
    numbers.tile_bytes = machine.memory.bytes();
    numbers.element_bytes = machine.memory.element_bytes;
    numbers.exchange_bytes = machine.exchange.has_wide_lanes() ? machine.exchange.lane_bytes
                                                               : machine.exchange.link_bytes;
    numbers.pair_bytes =
        machine.exchange.pairs() ? 2 * machine.exchange.lane_bytes : numbers.exchange_bytes;
    numbers.amp_sets = spec::matrix_unit(machine).sets;
    numbers.row_issues_f16 = machine.amp.issues_of(4);
    numbers.row_issues_f32 = machine.amp.issues_of(8);
    return numbers;
}

std::vector<DenseVertex> dense_vertices(const DenseProblem& problem, const DenseMachine& machine) {
    const bool two_sets = machine.amp_sets > 1;
    if (problem.data == ElementType::F32) {
        return two_sets ? std::vector<DenseVertex>{{8, 16, 16}, {8, 8, 8}}
                        : std::vector<DenseVertex>{{8, 8, 8}};
    }
    if (bytes_of(problem.data) == 1) {
        return {{32, 16, 16}};
    }
    if (problem.partials == ElementType::F32) {
        return {{16, 8, 8}, {16, 16, 8}};
    }
    return two_sets ? std::vector<DenseVertex>{{16, 16, 16}, {16, 8, 8}}
                    : std::vector<DenseVertex>{{16, 8, 8}};
}

DensePlan plan_dense(const DenseProblem& problem, const DenseMachine& machine,
                     double temporary_share) {
    assert_plannable(problem);
    DenseSearch search(problem, machine);
    const auto first =
        static_cast<Bytes>(temporary_share * static_cast<double>(machine.tile_bytes));
    for (Bytes bound = first; bound > 0 && bound <= 2 * machine.tile_bytes; bound *= 2) {
        if (auto plan = search.least(bound)) {
            return *plan;
        }
    }
    return search.least(std::numeric_limits<Bytes>::max()).value();
}

DensePlan plan_dense(const DenseProblem& problem, const spec::MachineSpec& machine) {
    return plan_dense(problem, dense_machine(machine));
}

DensePlan plan_of(const DenseProblem& problem, const DenseMachine& machine,
                  const DenseVertex& vertex, const DenseSplit& split) {
    assert_plannable(problem);
    const DenseCosts costs(problem, machine, vertex);
    const DenseTile tile = costs.tile(split);
    const auto depths = intermediate_depths(split.in_parts);
    return {vertex, split, tile, depths,
            costs.phases(split, tile, depths,
                         costs.vertex(tile.field).of(tile.in_groups, tile.out_groups))};
}

DensePhases phases_of(const DenseProblem& problem, const DenseMachine& machine,
                      const DenseVertex& vertex, const DenseSplit& split) {
    return plan_of(problem, machine, vertex, split).phases;
}

} // namespace tessera::published
