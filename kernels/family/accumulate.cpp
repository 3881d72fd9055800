// SPDX-License-Identifier: MIT
#include "base/ceil_div.h"
#include "base/error.h"
#include "base/text.h"
#include "kernels/family/product.h"
#include "kernels/function/function.h"
#include "kernels/graph/places.h"
#include "kernels/graph/unit_rows.h"
#include "kernels/plan/chip_memory.h"
#include "kernels/plan/repeat_limit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace tessera::family {
namespace {

constexpr graph::TensorId kC{2};

/// The cycles in which the tile that has most to add adds it.
Cycles most_cycles(const spec::MachineSpec& machine, const function::Function& add,
                   const std::vector<graph::UnitRows>& rows) {
    std::map<TileId, plan::StubTimeline> stubs;
    for (const graph::UnitRows& one : rows) {
        auto& stub = stubs.try_emplace(one.tile, machine, false).first->second;
        function::add_cycles(stub, machine, add.loop, one.rows, one.units);
    }
    Cycles most = 0;
    for (auto& [tile, stub] : stubs) {
        most = std::max(most, stub.finish());
    }
    return most;
}

} // namespace

void add_sum(graph::Graph& graph, const spec::MachineSpec& machine, graph::ComputeSetId set,
             TileId tile, codelets::ProductTypes types, const PartialSum& sum) {
    constexpr Bytes kUnitBytes = 16;
    const std::int64_t workers = machine.tile.workers;
    const Bytes bytes = kUnitBytes * sum.units;
    const Bytes rounded = bytes / bytes_of(types.partials) * bytes_of(types.data);
    // the codelet reads one unit behind the last
    Bytes& beyond = graph.buffers.at(sum.own.buffer.index).read_beyond;
    beyond = std::max(beyond, kUnitBytes);
    graph.add_work(set, tile, sum.units * (sum.slices + 1));
    graph.add_vertex(
        set, tile, fmt::format("reduce_{}", codelets::suffix(types)),
        program::VertexKind::MultiWorker,
        {graph::read(sum.own, bytes),
         sum.slices > 0 ? graph::read(sum.others, sum.slices * bytes) : graph::read(sum.own, bytes),
         graph::word(sum.units),
         graph::word(plan::counted_rounds(machine, sum.slices, "partial results")),
         graph::write(sum.result, rounded), graph::word(sum.units / workers),
         graph::word(sum.units % workers)});
}

Planned accumulated(const spec::MachineSpec& machine, Planned planned,
                    workload::Accumulate accumulate) {
    if (accumulate == workload::Accumulate::None) {
        return planned;
    }
    graph::Graph& graph = planned.graph;
    const graph::Tensor& product = graph.tensors.at(kC.index);
    const ElementType type = product.type;
    const function::Function add = function::add(type);
    const std::string owner =
        graph.compute_sets.empty() ? "accumulate" : graph.compute_sets.front().owner;
    const auto rows = graph::unit_rows_of(product);
    const auto before = graph::add_alike(graph, "accumulator", type, kC);
    const auto sum = accumulate == workload::Accumulate::Over
                         ? before
                         : graph::add_alike(graph, "sum", type, kC);
    const auto set = graph.add_compute_set({"accumulate", program::Role::Work, owner});
    graph.need_codelet(add.codelet);
    function::add_vertices(graph, machine, set, add, rows, std::vector{kC, before, sum});
    std::vector<graph::Step> steps;
    steps.push_back(std::move(graph.control));
    steps.push_back(graph::run(set));
    graph.control = graph::sequence(std::move(steps));
    planned.division.predicted.compute +=
        machine.control.step_cycles + most_cycles(machine, add, rows);

    graph.tensors[before.index].given = true;
    graph.tensors[kC.index] = std::move(graph.tensors.back()); // the sum
    graph.tensors.pop_back();
    graph.tensors[kC.index].name = "c";
    graph.tensors[kC.index].wanted = true;
    return planned;
}

Estimate fitting(const spec::MachineSpec& machine, const std::string& what, Estimate estimate,
                 workload::Accumulate accumulate, ElementType type, std::int64_t elements) {
    const Cuts& cuts = estimate.cuts;
    if (accumulate != workload::Accumulate::None) {
        const Bytes bytes = ceil_div(elements, cuts.tiles()) * bytes_of(type);
        plan::StubTimeline stub(machine, false);
        function::add_cycles(stub, machine, function::add(type).loop, 1, graph::units_of(bytes));
        estimate.predicted.compute += machine.control.step_cycles + stub.finish();
        estimate.bytes += accumulate == workload::Accumulate::Over ? bytes : 2 * bytes;
    }
    if (estimate.bytes > plan::bytes_for_data(machine)) {
        throw DoesNotFit(fmt::format(
            "{}: by estimate the division that takes the fewest bytes, {} x {} x {} parts in {} "
            "chunks, takes {} bytes of a tile, which has {} for data",
            what, cuts.parts_m, cuts.parts_k, cuts.parts_n, cuts.chunks, grouped(estimate.bytes),
            grouped(plan::bytes_for_data(machine))));
    }
    return estimate;
}

} // namespace tessera::family
