// SPDX-License-Identifier: MIT
#include "kernels/published/dense_costs.h"

#include <algorithm>

namespace tessera::published {
namespace {

constexpr std::int64_t kAmpSetUnits = 8;
constexpr Bytes kAmpWeightLoadBytes = 8; ///< a cycle: 64-bit loads
constexpr Bytes kTransformBytes = 8;     ///< a cycle, of an on-tile copy

struct RowCost {
    Cycles one = 0;
    Cycles two = 0;
    Cycles three = 0;
    Cycles kept = 0; ///< state that the worker has from the last weight set
};
constexpr RowCost kRowsF16{33, 42, 38, 7};
constexpr RowCost kRowsF32{47, 46, 46, 0};

/// Issues of a worker over `rows` rows of one weight set.
[[nodiscard]] Cycles amp_worker_issues(const DenseMachine& machine, ElementType data,
                                       std::int64_t rows, bool zeroing) {
    const bool f16 = data != ElementType::F32; // FP8 has steps of its own, as many of them
    const std::int64_t row_issues = f16 ? machine.row_issues_f16 : machine.row_issues_f32;
    const RowCost& cost = f16 ? kRowsF16 : kRowsF32;
    if (rows == 0) {
        return 0;
    }
    const Cycles issues = rows == 1   ? cost.one
                          : rows == 2 ? cost.two
                                      : cost.three + row_issues * (rows - 3);
    if (!zeroing) {
        return issues - cost.kept;
    }
    return f16 ? issues - cost.kept - 1 : issues + 2 + 8 * rows;
}

/// Cycles of all workers over the field of one weight set.
[[nodiscard]] Cycles amp_field_cycles(const DenseMachine& machine, ElementType data,
                                      std::int64_t field, bool zeroing) {
    constexpr Cycles kLaunches = 14; // the supervisor's, behind the worker that is done first
    const Cycles more = amp_worker_issues(machine, data, ceil_div(field, machine.workers), zeroing);
    const Cycles fewer = amp_worker_issues(machine, data, field / machine.workers, zeroing);
    return std::max(machine.round_cycles * std::max(more, fewer),
                    machine.round_cycles * std::min(more, fewer) + kLaunches);
}

/// Of FP8: the supervisor sets formats and scale, and launches differ.
[[nodiscard]] AmpVertexCycles quarter_cycles_of_field(const DenseMachine& machine,
                                                      const DenseVertex& vertex, ElementType data,
                                                      std::int64_t field) {
    const std::int64_t workers = machine.workers;
    const Cycles load = vertex.units * vertex.in_group * bytes_of(data) / kAmpWeightLoadBytes;
    const Cycles out_group = 6 * workers + 10;
    return {46 + 2 * workers + 9, 0,
            out_group + 17 * workers + 6 + load + amp_field_cycles(machine, data, field, false),
            out_group + 20 * workers + 11 + load + amp_field_cycles(machine, data, field, true)};
}

} // namespace

AmpVertexCycles amp_cycles_of_field(const DenseMachine& machine, const DenseVertex& vertex,
                                    ElementType data, ElementType partials, std::int64_t field) {
    if (bytes_of(data) == 1) {
        return quarter_cycles_of_field(machine, vertex, data, field);
    }
    const bool f16 = data == ElementType::F16;
    const bool narrow = f16 && partials == ElementType::F16 && vertex.units == kAmpSetUnits;
    const Cycles load = vertex.units * vertex.in_group * bytes_of(data) / kAmpWeightLoadBytes;
    const std::int64_t passes = vertex.out_group / vertex.units;
    const Cycles first = f16 ? 7 * machine.round_cycles : 0;
    const Cycles further = f16 ? 3 * machine.round_cycles : 0;
    return {50 + first + (narrow ? 12 : 13) + 11, further + (narrow ? 16 : 15),
            19 + passes * (6 + load + amp_field_cycles(machine, data, field, false)),
            (narrow ? 19 : 18) +
                passes * (7 + load + amp_field_cycles(machine, data, field, true))};
}

Cycles amp_vertex_cycles(const DenseMachine& machine, const DenseVertex& vertex, ElementType data,
                         ElementType partials, const DenseTile& tile) {
    return amp_cycles_of_field(machine, vertex, data, partials, tile.field)
        .of(tile.in_groups, tile.out_groups);
}

namespace {

/// Cycles of taking or updating a slice of so many elements on a tile.
[[nodiscard]] Cycles dense_slice_cycles(const DenseMachine& machine, ElementType type,
                                        std::int64_t elements) {
    const std::int64_t of_worker = ceil_div(elements, machine.workers);
    return 25 + machine.round_cycles * (39 + 24 + 2 * (of_worker / lanes_of(type)));
}

[[nodiscard]] Cycles dense_add_cycles(const DenseMachine& machine, ElementType type,
                                      std::int64_t elements) {
    const std::int64_t of_worker = ceil_div(elements, machine.workers);
    return 11 + machine.round_cycles * (58 + 2 * ceil_div(of_worker, lanes_of(type)));
}

/// On-tile copy of a tile's share, and its exchange. Grains of whole vectors copy in fewer steps.
[[nodiscard]] Cycles dense_transform_cycles(const DenseMachine& machine, Bytes bytes, Bytes a_cycle,
                                            bool whole_vectors, bool exchanged) {
    const Cycles copy =
        whole_vectors ? ceil_div(bytes * 5, 4 * a_cycle) : ceil_div(bytes * 5, 3 * a_cycle);
    return copy + (exchanged ? ceil_div(bytes, machine.exchange_bytes) : 0);
}

} // namespace

Cycles cast_cycles(const DenseMachine& machine, ElementType from, ElementType to,
                   std::int64_t elements) {
    const std::int64_t of_worker = ceil_div(elements, machine.workers);
    return machine.round_cycles *
           (26 + std::max(ceil_div(of_worker, lanes_of(from)), ceil_div(of_worker, lanes_of(to))));
}

Bytes DenseCosts::temporary_bytes(const DenseSplit& split, const DenseTile& tile,
                                  const std::vector<std::int64_t>& depths) const {
    const std::int64_t in = tile.in_groups * vertex_.in_group;
    const std::int64_t out = tile.out_groups * vertex_.out_group;
    const Bytes inputs = tile.field * in * bytes_of(problem_.data);
    const Bytes weights = in * out * bytes_of(problem_.data);
    const Bytes partials = tile.field * out * bytes_of(problem_.partials);
    Bytes transformed = 0;
    transformed += padded_in_ ? share_of(problem_.k * problem_.n, split) : 0;
    transformed += padded_in_ || padded_out_ ? share_of(problem_.m * problem_.k, split) : 0;
    transformed = std::max(transformed, regrouped_out_ || padded_out_ ? result_share(split) : 0);
    Bytes reduction = 0;
    if (!depths.empty()) {
        each_reduction_stage(
            depths, split.in_parts, tile.field * out, [&](const ReductionStage& stage) {
                if (stage.left > 1) {
                    reduction = std::max(reduction,
                                         stage.depth * stage.outputs * bytes_of(problem_.partials));
                }
            });
    }
    const Bytes apart = split.inputs_once ? inputs : 0;
    const Bytes output = split.in_serial > 1 ? ceil_div(tile.field * out, split.in_parts) *
                                                   bytes_of(problem_.partials)
                                             : 0;
    return std::max({2 * transformed, inputs - apart + weights + partials, reduction}) + apart +
           output;
}

void DenseCosts::transforms(const DenseSplit& split, DensePhases& phases) const {
    const Bytes element = bytes_of(problem_.data);
    const Bytes slow = std::min(kTransformBytes, element);
    const Bytes result = bytes_of(problem_.result());
    if (padded_in_) {
        phases.transform_inputs = dense_transform_cycles(
            machine_, share_of(problem_.k * problem_.n, split), slow, whole_vectors_, true);
    }
    if (padded_in_ || padded_out_) {
        phases.transform_weights = dense_transform_cycles(
            machine_, share_of(problem_.m * problem_.k, split), slow, whole_vectors_, true);
    }
    if (padded_out_) {
        phases.transform_outputs = dense_transform_cycles(
            machine_, result_share(split), std::min(kTransformBytes, result), whole_vectors_, true);
    } else if (regrouped_out_) {
        phases.transform_outputs = dense_transform_cycles(
            machine_, result_share(split), std::min(kTransformBytes, vertex_.out_group * result),
            whole_vectors_, false);
    }
}

void DenseCosts::reduction(const DenseSplit& split, const DenseTile& tile,
                           const std::vector<std::int64_t>& depths, DensePhases& phases) const {
    const std::int64_t outputs = tile.field * tile.out_groups * vertex_.out_group;
    const Bytes partial = bytes_of(problem_.partials);
    phases.partials_first = ceil_div(outputs * partial, machine_.exchange_bytes);
    const ElementType to = split.in_serial > 1 ? problem_.partials : problem_.result();
    if (split.in_parts == 1) {
        if (to != problem_.partials) {
            phases.reduce = cast_cycles(machine_, problem_.partials, to, outputs);
        }
        return;
    }
    std::int64_t remaining = outputs;
    each_reduction_stage(depths, split.in_parts, outputs, [&](const ReductionStage& stage) {
        phases.reduce += reduction_stage_cycles(machine_, problem_.partials,
                                                stage.left > 1 ? problem_.partials : to, stage);
        if (stage.left > 1) {
            remaining = ceil_div(remaining, stage.depth);
            phases.partials_later += ceil_div(remaining * partial, machine_.exchange_bytes);
        }
    });
}

DensePhases DenseCosts::phases(const DenseSplit& split, const DenseTile& tile,
                               const std::vector<std::int64_t>& depths, Cycles vertex) const {
    const std::int64_t steps = split.serial_steps();
    const std::int64_t in = tile.in_groups * vertex_.in_group;
    const std::int64_t out = tile.out_groups * vertex_.out_group;
    const std::int64_t inputs = tile.field * in;
    const std::int64_t weights = in * out;
    const Bytes element = bytes_of(problem_.data);
    const Bytes into_inputs =
        split.out_parts % 2 == 0 ? machine_.pair_bytes : machine_.exchange_bytes;

    DensePhases phases;
    phases.serial_steps = steps;
    phases.inputs_once = split.inputs_once;
    phases.vertex = vertex;
    phases.inputs = ceil_div((inputs - inputs / split.out_parts) * element, into_inputs);
    phases.weights =
        ceil_div((weights - weights / split.field_parts) * element, machine_.exchange_bytes);
    transforms(split, phases);
    reduction(split, tile, depths, phases);
    if (steps > 1) {
        const auto step_share = [&](std::int64_t elements) {
            return ceil_div(ceil_div(elements, split.tiles()), steps);
        };
        phases.slice =
            dense_slice_cycles(machine_, problem_.data, step_share(problem_.m * problem_.k));
        if (split.in_serial > 1) {
            phases.slice +=
                dense_slice_cycles(machine_, problem_.data, step_share(problem_.k * problem_.n));
        }
    }
    const std::int64_t outputs = ceil_div(tile.field * out, split.in_parts);
    if (split.out_serial > 1) {
        phases.update =
            dense_slice_cycles(machine_, problem_.result(), ceil_div(outputs, split.out_serial));
    }
    if (split.in_serial > 1) {
        phases.update = dense_add_cycles(machine_, problem_.partials, outputs);
        if (problem_.partials != problem_.result()) {
            phases.final_cast =
                cast_cycles(machine_, problem_.partials, problem_.result(), outputs);
        }
    }
    phases.temporary_bytes = temporary_bytes(split, tile, depths);
    return phases;
}

Cycles DensePhases::total() const {
    const std::int64_t gathers = inputs_once ? 1 : serial_steps;
    const Cycles step = slice + transform_weights + weights + vertex + partials_first +
                        partials_later + reduce + transform_outputs + update;
    return serial_steps * step + gathers * (transform_inputs + inputs) + final_cast;
}

} // namespace tessera::published
