// SPDX-License-Identifier: MIT
// What the search of dense_planner.h asks of every split: costs of its phases, and lower bounds that
// are sooner known.
#pragma once

#include "base/ceil_div.h"
#include "kernels/published/dense_planner.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tessera::published {

/// Elements of 64 bits.
[[nodiscard]] constexpr std::int64_t lanes_of(ElementType type) {
    return 8 / bytes_of(type);
}

/// amp_vertex_cycles for one field and any number of groups: `fixed` for all, and what a further
/// in-group costs, an out-group of it, and an out-group of the first in-group.
struct AmpVertexCycles {
    Cycles fixed = 0;
    Cycles in_group = 0;
    Cycles added_group = 0;
    Cycles zeroed_group = 0;

    [[nodiscard]] Cycles of(std::int64_t in_groups, std::int64_t out_groups) const {
        return fixed + (in_groups - 1) * (in_group + out_groups * added_group) +
               out_groups * zeroed_group;
    }
    /// No more than any vertices take that have so many weight sets together.
    [[nodiscard]] Cycles least_of(std::int64_t weight_sets) const {
        return weight_sets * std::min(added_group, zeroed_group);
    }
};

[[nodiscard]] AmpVertexCycles amp_cycles_of_field(const DenseMachine& machine,
                                                  const DenseVertex& vertex, ElementType data,
                                                  ElementType partials, std::int64_t field);

/// Calls each(ReductionStage) for the stages of reduction_stages, whose depths are
/// intermediate_depths(parts).
template <class Each>
void each_reduction_stage(const std::vector<std::int64_t>& depths, std::int64_t parts,
                          std::int64_t outputs, const Each& each) {
    std::int64_t remaining = parts;
    std::int64_t width = ceil_div(outputs, parts) * parts;
    for (const std::int64_t left : depths) {
        const std::int64_t depth = ceil_div(remaining, left);
        width = ceil_div(width, depth);
        each(ReductionStage{depth, left, width});
        remaining = left;
    }
    each(ReductionStage{remaining, 1, ceil_div(width, remaining)});
}

/// reduction_stage_cycles() by the vertex that takes any number of outputs from anywhere.
[[nodiscard]] Cycles reduction_list_cycles(const DenseMachine& machine, ElementType from,
                                           ElementType to, const ReductionStage& stage);

/// Cycles of a tile that turns so many elements into another type.
[[nodiscard]] Cycles cast_cycles(const DenseMachine& machine, ElementType from, ElementType to,
                                 std::int64_t elements);

/// Problem, machine and vertex, with what follows from them for every split.
class DenseCosts {
public:
    DenseCosts(const DenseProblem& problem, const DenseMachine& machine, const DenseVertex& vertex)
        : problem_(problem), machine_(machine), vertex_(vertex) {
        in_groups_ = ceil_div(problem.k, vertex.in_group);
        out_groups_ = ceil_div(problem.m, vertex.out_group);
        padded_in_ = problem.k % vertex.in_group != 0;
        padded_out_ = problem.m % vertex.out_group != 0;
        regrouped_out_ = vertex.out_group != 32 / bytes_of(problem.result());
        whole_vectors_ = problem.m * problem.k % lanes_of(problem.data) == 0;
    }

    [[nodiscard]] std::int64_t in_groups() const { return in_groups_; }
    [[nodiscard]] std::int64_t out_groups() const { return out_groups_; }

    [[nodiscard]] DenseTile tile(const DenseSplit& split) const {
        return {ceil_div(problem_.n, split.field_parts),
                ceil_div(in_groups_, split.in_parts * split.in_serial),
                ceil_div(out_groups_, split.out_parts * split.out_serial)};
    }

    [[nodiscard]] AmpVertexCycles vertex(std::int64_t field) const {
        return amp_cycles_of_field(machine_, vertex_, problem_.data, problem_.partials, field);
    }

    /// No more than temporary_bytes, and sooner known.
    [[nodiscard]] Bytes least_temporary_bytes(const DenseTile& tile) const {
        const std::int64_t in = tile.in_groups * vertex_.in_group;
        const std::int64_t out = tile.out_groups * vertex_.out_group;
        return (tile.field + out) * in * bytes_of(problem_.data) +
               tile.field * out * bytes_of(problem_.partials);
    }

    [[nodiscard]] Bytes temporary_bytes(const DenseSplit& split, const DenseTile& tile,
                                        const std::vector<std::int64_t>& depths) const;
    [[nodiscard]] DensePhases phases(const DenseSplit& split, const DenseTile& tile,
                                     const std::vector<std::int64_t>& depths, Cycles vertex) const;

private:
    [[nodiscard]] Bytes share_of(std::int64_t elements, const DenseSplit& split) const {
        return ceil_div(elements * bytes_of(problem_.data), split.tiles());
    }
    [[nodiscard]] Bytes result_share(const DenseSplit& split) const {
        return ceil_div(problem_.m * problem_.n * bytes_of(problem_.result()), split.tiles());
    }
    void transforms(const DenseSplit& split, DensePhases& phases) const;
    void reduction(const DenseSplit& split, const DenseTile& tile,
                   const std::vector<std::int64_t>& depths, DensePhases& phases) const;

    DenseProblem problem_;
    DenseMachine machine_;
    DenseVertex vertex_;
    std::int64_t in_groups_ = 0;
    std::int64_t out_groups_ = 0;
    bool padded_in_ = false;
    bool padded_out_ = false;
    bool regrouped_out_ = false;
    bool whole_vectors_ = false;
};

} // namespace tessera::published
