// SPDX-License-Identifier: MIT
#include "kernels/function/function.h"
#include "kernels/plan/repeat_limit.h"
#include "kernels/plan/vertex_cost.h"

namespace tessera::function {
namespace {

using codelets::MapLoop;
using codelets::MapRows;

std::vector<std::int64_t> issues_of(const spec::MachineSpec& machine, const MapLoop& loop,
                                    const MapRows& work) {
    std::vector<std::int64_t> issues;
    for (std::int64_t worker = 0; worker < machine.tile.workers; ++worker) {
        issues.push_back(codelets::map_issues(loop, work, worker, machine.tile.workers));
    }
    return issues;
}

Flow flow_of(const Function& function, std::size_t side, std::size_t sides) {
    return !function.flows.empty() ? function.flows.at(side)
           : side + 1 == sides     ? Flow::Out
                                   : Flow::In;
}

/// Neighbouring units as one row for every worker.
MapRows dealt(const spec::MachineSpec& machine, std::int64_t units) {
    const std::int64_t share = plan::cuts_of(units, machine.tile.workers);
    const std::int64_t rows = plan::cuts_of(units, share);
    return {rows, share, units - (rows - 1) * share};
}

/// Rows as they are, one for a worker, are no slower than a vertex for each.
bool go_together(const spec::MachineSpec& machine, const MapLoop& loop, std::int64_t rows,
                 std::int64_t units) {
    return rows > 1 && units <= plan::most_rounds(machine) &&
           plan::multi_worker_cycles(machine, issues_of(machine, loop, {rows, units, units})) <=
               rows * plan::multi_worker_cycles(machine,
                                                issues_of(machine, loop, dealt(machine, units)));
}

} // namespace

void add_cycles(plan::StubTimeline& stub, const spec::MachineSpec& machine, const MapLoop& loop,
                std::int64_t rows, std::int64_t units) {
    if (go_together(machine, loop, rows, units)) {
        stub.multi_worker(issues_of(machine, loop, {rows, units, units}));
        return;
    }
    for (std::int64_t row = 0; row < rows; ++row) {
        plan::for_cuts(units, machine.tile.workers * plan::most_rounds(machine),
                       [&](std::int64_t, std::int64_t cut) {
                           stub.multi_worker(issues_of(machine, loop, dealt(machine, cut)));
                       });
    }
}

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
    for (std::size_t i = 0; i < sides.size(); ++i) {
        if (flow_of(function, i, sides.size()) != Flow::In) {
            add_uses(uses, rows, sides[i], rows.units * sides[i].unit_bytes, graph::Access::Write);
        }
    }
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
        if (function.more) {
            const auto more = function.more(rows.tile);
            state.insert(state.end(), more.begin(), more.end());
        }
        state.insert(state.end(), uses.begin(), uses.end());
        uses.clear(); // the first vertex has them for all
        graph.add_vertex(set, rows.tile, function.vertex, program::VertexKind::MultiWorker, state);
    };
    const std::int64_t most = plan::most_rounds(machine);
    if (go_together(machine, function.loop, rows.rows, rows.units)) {
        add({rows.rows, rows.units, rows.units}, sides);
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

void add_vertices(graph::Graph& graph, const spec::MachineSpec& machine, graph::ComputeSetId set,
                  const Function& function, std::span<const graph::UnitRows> rows,
                  std::span<const graph::TensorId> sides) {
    const graph::Tensor& x = graph.tensors.at(sides.front().index);
    std::vector<graph::BufferPairs> buffers; // of x, and of each side
    for (const graph::TensorId side : sides) {
        buffers.push_back(*graph::alike(x, graph.tensors.at(side.index)));
    }
    for (const graph::UnitRows& one : rows) {
        std::vector<Side> stand;
        std::vector<graph::Field> reads;
        for (std::size_t i = 0; i < sides.size(); ++i) {
            const Bytes bytes = bytes_of(graph.tensors.at(sides[i].index).type);
            const auto scaled = [&](Bytes of_x) { return of_x * bytes / bytes_of(x.type); };
            const graph::BufferId buffer = buffers[i].at(one.first.buffer.index);
            stand.push_back({{buffer, scaled(one.first.offset)},
                             scaled(one.stride),
                             scaled(graph::kUnitBytes)});
            const bool is_read = flow_of(function, i, sides.size()) != Flow::Out;
            for (std::size_t run = 0; is_read && run < one.runs.size(); ++run) {
                reads.push_back(graph::use({buffer, scaled(one.runs[run].place.offset)},
                                           scaled(one.runs[run].bytes), graph::Access::Read));
            }
        }
        add_vertices(graph, machine, set, function, one, stand, reads);
    }
}

} // namespace tessera::function
