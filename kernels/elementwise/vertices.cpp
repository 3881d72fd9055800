// SPDX-License-Identifier: MIT
#include "kernels/elementwise/map.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"

namespace tessera::elementwise {
namespace {

using codelets::MapRows;

Cycles cycles_of(const spec::MachineSpec& machine, const Function& function, const MapRows& work) {
    std::vector<std::int64_t> issues;
    for (std::int64_t worker = 0; worker < machine.tile.workers; ++worker) {
        issues.push_back(codelets::map_issues(function.loop, work, worker, machine.tile.workers));
    }
    return plan::multi_worker_cycles(machine, issues);
}

/// Neighbouring units as one row for every worker.
MapRows dealt(const spec::MachineSpec& machine, std::int64_t units) {
    const std::int64_t share = plan::cuts_of(units, machine.tile.workers);
    const std::int64_t rows = plan::cuts_of(units, share);
    return {rows, share, units - (rows - 1) * share};
}

} // namespace

void add_uses(std::vector<graph::Field>& uses, const graph::UnitRows& rows, const Side& side,
              Bytes row_bytes, graph::Access access) {
    const bool dense = side.stride == row_bytes;
    for (std::int64_t row = 0; row < (dense ? 1 : rows.rows); ++row) {
        uses.push_back(graph::use(side.first + row * side.stride,
                                  dense ? rows.rows * row_bytes : row_bytes, access));
    }
}

void add_vertices(graph::Graph& graph, const spec::MachineSpec& machine, graph::ComputeSetId set,
                  const Function& function, const graph::UnitRows& rows,
                  std::span<const Side> sides, std::span<const graph::Field> reads) {
    std::vector<graph::Field> uses(reads.begin(), reads.end());
    add_uses(uses, rows, sides.back(), rows.units * sides.back().unit_bytes, graph::Access::Write);
    const auto add = [&](const MapRows& work, std::span<const Side> from) {
        std::vector<graph::Field> state = {graph::word(work.rows),
                                           graph::word(work.units - function.loop.ahead),
                                           graph::word(work.last - function.loop.ahead)};
        for (const Side& side : from) {
            state.push_back(graph::read(side.first, 0));
            state.push_back(graph::word(side.stride));
            state.push_back(
                graph::word(machine.tile.workers * side.stride - work.units * side.unit_bytes));
        }
        state.insert(state.end(), function.constants.begin(), function.constants.end());
        state.insert(state.end(), uses.begin(), uses.end());
        uses.clear(); // the first vertex has them for all
        graph.add_vertex(set, rows.tile, function.vertex, program::VertexKind::MultiWorker, state);
    };
    const MapRows as_they_are{rows.rows, rows.units, rows.units};
    const std::int64_t most = plan::most_rounds(machine);
    if (rows.rows > 1 && rows.units <= most &&
        cycles_of(machine, function, as_they_are) <=
            rows.rows * cycles_of(machine, function, dealt(machine, rows.units))) {
        add(as_they_are, sides);
        return;
    }
    for (std::int64_t row = 0; row < rows.rows; ++row) {
        plan::for_cuts(
            rows.units, machine.tile.workers * most, [&](std::int64_t first, std::int64_t units) {
                const MapRows work = dealt(machine, units);
                std::vector<Side> from(sides.begin(), sides.end());
                for (Side& side : from) {
                    side.first = side.first + row * side.stride + first * side.unit_bytes;
                    side.stride = work.units * side.unit_bytes;
                }
                add(work, from);
            });
    }
}

} // namespace tessera::elementwise
