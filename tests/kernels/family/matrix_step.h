// SPDX-License-Identifier: MIT
// Runs a family's step on one matrix, wherever that stands, and has it checked.
#pragma once

#include "base/float16.h"
#include "kernels/family/family.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/graph.h"
#include "kernels/graph/rows.h"
#include "kernels/lower/lower.h"
#include "kernels/workload/random.h"
#include "tests/kernels/graph/tight.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

inline spec::MachineSpec machine_of(std::int64_t tiles, std::int64_t workers = 6) {
    spec::MachineSpec machine;
    machine.chip.tiles = tiles;
    machine.tile.workers = workers;
    return machine;
}

/// Elements by their host numbers.
inline family::Value value_of(const family::TensorType& type, const std::vector<double>& elements) {
    family::Value value{type, {}, false};
    const auto bytes = static_cast<std::size_t>(bytes_of(type.type));
    value.bytes.resize(elements.size() * bytes);
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const auto single = static_cast<float>(elements[i]);
        const std::uint16_t half = f32_to_f16(single);
        std::memcpy(value.bytes.data() + i * bytes,
                    type.type == ElementType::F16 ? static_cast<const void*>(&half) : &single,
                    bytes);
    }
    return value;
}

/// Random elements between -scale and scale.
inline family::Value random_value(const family::TensorType& type, double scale,
                                  std::uint64_t seed = 1) {
    const workload::CounterRandom random(seed, 3);
    std::vector<double> elements;
    for (std::int64_t i = 0; i < type.elements(); ++i) {
        const auto unit =
            static_cast<double>(random.bits(static_cast<std::uint64_t>(i)) >> 11U) * 0x1p-53;
        elements.push_back(scale * (2 * unit - 1));
    }
    return value_of(type, elements);
}

/// Adds a matrix to a graph: where it stands.
using Standing =
    std::function<graph::TensorId(graph::Graph& graph, const family::TensorType& type)>;

/// In runs of `elements` that do not care for rows, on tile after tile.
inline Standing in_runs(std::int64_t elements, std::int64_t tiles) {
    return [=](graph::Graph& graph, const family::TensorType& type) {
        graph::Tensor made{.name = "x in runs", .type = type.type, .shape = type.shape};
        const auto buffer = graph.add_buffer({.name = made.name});
        std::map<TileId, Bytes> used;
        std::int64_t run = 0;
        for (std::int64_t first = 0; first < type.elements(); first += elements, ++run) {
            const auto tile = static_cast<TileId>(run % tiles);
            const std::int64_t here = std::min(elements, type.elements() - first);
            made.pieces.push_back(
                graph::run_of(tile, {buffer, used[tile]}, first, here, type.type));
            used[tile] += (here * bytes_of(type.type) + 7) / 8 * 8;
        }
        for (const auto& [tile, bytes] : used) {
            graph.hold(buffer, tile, bytes);
        }
        return graph.add_tensor(std::move(made));
    };
}

/// Row r on tile r % tiles, `gap` bytes from row to row more than it has elements.
inline Standing in_turn(Bytes gap, std::int64_t tiles) {
    return [=](graph::Graph& graph, const family::TensorType& type) {
        graph::Tensor made{.name = "x in turn", .type = type.type, .shape = type.shape};
        const auto buffer = graph.add_buffer({.name = made.name});
        const Bytes element = bytes_of(type.type);
        const std::int64_t columns = type.shape.back();
        const std::int64_t all = type.elements() / columns;
        const Bytes step = columns * element + gap;
        for (std::int64_t tile = 0; tile < std::min(tiles, all); ++tile) {
            const std::int64_t rows = (all - tile + tiles - 1) / tiles;
            graph.hold(buffer, static_cast<TileId>(tile), (rows * step + 7) / 8 * 8);
            made.pieces.push_back({static_cast<TileId>(tile),
                                   {buffer},
                                   tile * columns,
                                   {{rows, tiles * columns, step}, {columns, 1, element}}});
        }
        return graph.add_tensor(std::move(made));
    };
}

struct StepRun {
    bool read_in_place = false;
    family::Value output;
    family::Checked checked;
    std::vector<Cycles> step_cycles; ///< of compute sets and exchanges
    graph::InRows rows;              ///< the blocks that the step read, where they are rows
    program::Program program;
};

/// Runs `step` on tiles from `first_tile` on.
inline StepRun run_step(const spec::MachineSpec& machine, family::Step& step,
                        const family::Value& x, const std::optional<Standing>& standing = {},
                        TileId first_tile = 0) {
    graph::Graph graph("test");
    std::optional<graph::TensorId> offered;
    if (standing) {
        offered = (*standing)(graph, x.type);
    }
    exchange_plan::KnownSchedules known;
    family::Site site{machine, known, first_tile, "step"};
    site.machine.chip.tiles -= static_cast<std::int64_t>(first_tile);
    auto emitted = step.emit(graph, site, std::array{offered});
    const graph::TensorId written = offered.value_or(emitted.inputs.at(0));
    StepRun run;
    run.read_in_place = offered && *offered == emitted.inputs[0];
    std::vector<graph::Step> steps;
    if (!(written == emitted.inputs[0])) {
        steps.push_back(graph::add_copy(graph, machine, written, emitted.inputs[0],
                                        program::Role::Rearrange, "step"));
    }
    steps.push_back(std::move(emitted.steps));
    graph.control = graph::sequence(std::move(steps));
    auto blocks = graph::rows_of(graph, emitted.inputs[0], 1, {0, machine.chip.tiles});
    run.rows = {emitted.inputs[0], blocks.value_or(std::vector<graph::RowBlock>{})};
    graph.tensors[written.index].given = true;
    graph.tensors[emitted.outputs.at(0).index].wanted = true;
    const std::string in = graph.tensors[written.index].name;
    const std::string out = graph.tensors[emitted.outputs.at(0).index].name;
    CHECK(loose_buffers(graph) == std::vector<std::string>{});
    run.program = lower::lower(machine, std::move(graph)).program;
    CHECK(faults_of(machine, run.program).empty());
    const auto outcome = run_program(machine, run.program,
                                     std::map<std::string, std::vector<std::byte>>{{in, x.bytes}});
    run.step_cycles = outcome.step_cycles;
    run.output = {step.output(), outcome.tensors.at(out), false};
    run.checked = step.check(std::array{&x}, run.output, 1);
    return run;
}

/// Rows of the tile that has most of them in the blocks, each of which is a vertex.
inline std::int64_t most_rows(const std::vector<graph::RowBlock>& blocks) {
    std::int64_t most = 0;
    for (const auto& block : blocks) {
        most = std::max(most, block.rows);
    }
    return most;
}

/// What a refusal says; empty where there is none.
inline std::string refusal_of(const family::Family& family, const family::Request& request) {
    try {
        static_cast<void>(family.make(request));
    } catch (const family::Refused& refused) {
        CHECK(refused.input == 0);
        return refused.what();
    }
    return "";
}

} // namespace tessera::test
