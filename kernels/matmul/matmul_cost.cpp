// SPDX-License-Identifier: MIT
#include "kernels/matmul/matmul_cost.h"

#include "kernels/codelets/matmul_amp_cost.h"
#include "kernels/plan/vertex_cost.h"
#include "models/timing/exchange_latency.h"

#include <algorithm>

namespace tessera::matmul {
namespace {

/// Control instructions for a message of a receiver: source, pointer, neutral.
constexpr std::int64_t kControlsPerMessage = 3;

/// Cycles from one weight load to the next: weights, launch, workers, sync.
Cycles load_cycles(const spec::MachineSpec& machine, const Problem& problem, std::int64_t rows,
                   bool fresh) {
    const Cycles workers = machine.tile.workers;
    const std::int64_t issues = codelets::amp_issues(machine.amp, ceil_div(rows, workers), fresh) +
                                (fresh ? codelets::kMatmulNextOutFresh : codelets::kMatmulNextK);
    const Cycles barrier = rows % workers == 0 ? 3 : 0;
    return codelets::weight_loads(problem.partials) + machine.tile.round_cycles() * issues +
           workers - 1 + machine.tile.pipeline_cycles + barrier;
}

Cycles vertex_cycles(const spec::MachineSpec& machine, const Grid& grid) {
    const Problem& problem = grid.problem();
    const std::int64_t out_groups = grid.most_out_groups();
    const std::int64_t k_groups = grid.most_chunk_groups();
    const Cycles add = load_cycles(machine, problem, grid.most_rows(), false);
    return 45 + codelets::kMatmulStart * machine.tile.round_cycles() +
           out_groups * (k_groups * add + 8);
}

/// Words into one tile for a chunk; an 8-byte item of a paired operand counts as one.
std::int64_t chunk_items(const Grid& grid) {
    const std::int64_t k_groups = grid.most_chunk_groups();
    std::int64_t a = grid.a_stays() ? 0 : grid.most_rows() * k_groups * kCellBytes / 4;
    std::int64_t b =
        grid.b_stays() ? 0 : grid.most_out_groups() * k_groups * grid.problem().block_bytes() / 4;
    (grid.partition().paired == Paired::A ? a : b) /=
        grid.partition().paired == Paired::None ? 1 : 2;
    return a + b;
}

/// Tiles whose parts are counted fastest are neighbours and get one operand together, those that
/// get the other one are all over the tiles.
Cycles bring_overhead(const plan::ExchangeCost& exchange, const Grid& grid) {
    const bool b_to_neighbours = grid.partition().paired == Paired::B;
    const bool all_over = b_to_neighbours ? !grid.a_stays() : !grid.b_stays();
    const std::int64_t tiles = grid.partition().tiles();
    return all_over ? exchange.to_all_over(tiles) : exchange.to_neighbours(tiles);
}

/// What the tile with most of the result goes on with.
Cycles epilogue_cycles(const spec::MachineSpec& machine, const Grid& grid, std::int64_t share) {
    const Problem& problem = grid.problem();
    if (problem.epilogue.is_empty()) {
        return 0;
    }
    return problem.epilogue.steps_of(
        machine, problem.epilogue.cycles(machine, share * problem.result_cell(),
                                         grid.strips({0, share}, grid.most_rows())));
}

/// Words of the bias into one tile.
std::int64_t bias_items(const Grid& grid) {
    const bool moves = grid.partition().parts_m * grid.partition().parts_k > 1;
    return grid.problem().epilogue.has_bias() && moves
               ? grid.most_out_groups() * grid.problem().result_cell() / 4
               : 0;
}

} // namespace

plan::PredictedCycles estimate(const spec::MachineSpec& machine, const plan::ExchangeCost& exchange,
                               const Grid& grid) {
    const Partition& p = grid.partition();
    const timing::LaneTiming lane{machine.exchange};
    plan::PredictedCycles cycles;
    cycles.compute = p.chunks * (machine.control.step_cycles + vertex_cycles(machine, grid));
    if (!grid.a_stays() || !grid.b_stays()) {
        cycles.exchange =
            p.chunks * (bring_overhead(exchange, grid) + lane.events(chunk_items(grid)));
        cycles.sync = p.chunks * machine.sync.internal_cycles;
    }
    const std::int64_t cells = grid.most_rows() * grid.most_out_groups();
    const std::int64_t share = ceil_div(cells, p.parts_k);
    cycles.compute += epilogue_cycles(machine, grid, share);
    cycles.exchange += lane.events(bias_items(grid));
    if (grid.reduces()) {
        const Cycles sum = machine.control.step_cycles +
                           plan::reduce_cycles(machine, codelets::of_f16(grid.problem().partials),
                                               2 * share, p.parts_k - 1);
        cycles.compute += sum;
        cycles.reduction = sum;
        if (p.parts_k > 1) {
            const Cycles events =
                std::max(lane.events(share * kCellBytes / 4), kControlsPerMessage) *
                (p.parts_k - 1);
            const Cycles move = exchange.to_neighbours(p.tiles()) + events;
            cycles.exchange += move;
            cycles.sync += machine.sync.internal_cycles;
            cycles.reduction += move + machine.sync.internal_cycles;
        }
    }
    return cycles;
}

Bytes estimate_bytes(const spec::MachineSpec& machine, const Grid& grid) {
    const Problem& problem = grid.problem();
    const Partition& p = grid.partition();
    const std::int64_t tiles = machine.chip.tiles;
    const std::int64_t held_a = grid.a_stays() ? grid.most_k_groups() : grid.most_chunk_groups();
    const std::int64_t held_b = grid.b_stays() ? grid.most_k_groups() : grid.most_chunk_groups();
    Bytes bytes = grid.most_rows() * held_a * kCellBytes;
    bytes += grid.most_out_groups() * held_b * problem.block_bytes();
    const Bytes partials = grid.most_rows() * grid.most_out_groups() * kCellBytes;
    bytes += partials;
    bytes += grid.a_stays() ? 0 : problem.m * problem.k_groups * kCellBytes / tiles;
    bytes +=
        grid.b_stays() ? 0 : problem.out_groups * problem.k_groups * problem.block_bytes() / tiles;
    bytes += grid.reduces() ? partials / p.parts_k : 0;
    bytes += problem.epilogue.has_bias() ? grid.most_out_groups() * problem.result_cell() : 0;
    return bytes;
}

} // namespace tessera::matmul
