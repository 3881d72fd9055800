// SPDX-License-Identifier: MIT
// One step of a family alone: its inputs stand where a test says, or where the host writes them, as
// a pipeline has it.
#pragma once

#include "base/float16.h"
#include "kernels/family/family.h"
#include "kernels/graph/cells.h"
#include "kernels/graph/copy.h"
#include "kernels/graph/unit_rows.h"
#include "kernels/lower/lower.h"
#include "kernels/workload/random.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace tessera::test {

/// Where an input stands before the step. `Host`: nowhere, the host writes it where the step wants
/// it.
enum class Stand { Host, Cells, PaddedRows, OddRuns, Columns, Outside };
inline constexpr Stand kStands[] = {Stand::Host,    Stand::Cells,   Stand::PaddedRows,
                                    Stand::OddRuns, Stand::Columns, Stand::Outside};

struct StepRun {
    family::Checked checked;
    family::Value output;     ///< the first
    std::size_t vertices = 0; ///< of the step's compute sets
    std::size_t added = 0;    ///< inputs that do not stand where the step reads them
    RunOutcome outcome;
};

/// Adds a given tensor of two or fewer dimensions.
inline graph::TensorId add_standing(graph::Graph& graph, const family::Site& site, Stand stand,
                                    const std::string& name, const family::TensorType& type) {
    const std::int64_t rows = type.shape.size() == 2 ? type.shape[0] : 1;
    const std::int64_t columns = type.elements() / rows;
    const std::int64_t tiles = site.machine.chip.tiles;
    const Bytes element = bytes_of(type.type);
    graph::Tensor made{.name = name, .type = type.type, .shape = type.shape, .given = true};
    const auto buffer = graph.add_buffer({.name = name, .alignment = 4});
    const auto tile_of = [&](std::int64_t part) {
        return site.first_tile + static_cast<TileId>(part % tiles);
    };
    std::map<TileId, Bytes> end;
    for (std::int64_t part = 0; part < tiles; ++part) {
        const std::int64_t first = rows * part / tiles;
        const std::int64_t here = rows * (part + 1) / tiles - first;
        const TileId tile =
            stand == Stand::Outside ? site.first_tile + static_cast<TileId>(tiles) : tile_of(part);
        Bytes& at = end[tile];
        if (stand == Stand::OddRuns) {
            const std::int64_t from = type.elements() * part / tiles;
            const std::int64_t run = type.elements() * (part + 1) / tiles - from;
            if (run > 0) {
                made.pieces.push_back(graph::run_of(tile, {buffer, element}, from, run, type.type));
                at = (run + 1) * element;
            }
        } else if (here == 0) {
        } else if (stand == Stand::Cells) {
            graph::add_cells(made, tile, {buffer},
                             {.rows = here,
                              .first_row = first,
                              .host_inner = columns,
                              .host_row_stride = columns,
                              .cell_bytes = 16 * element,
                              .element_bytes = element},
                             0, (columns + 15) / 16 * here);
            at = (columns + 15) / 16 * here * 16 * element;
        } else {
            const bool turned = stand == Stand::Columns;
            const Bytes line = turned ? 12 : (columns * element + 15) / 8 * 8;
            made.pieces.push_back({tile,
                                   {buffer, at},
                                   first * columns,
                                   {{here, columns, turned ? columns * line : line},
                                    {columns, 1, turned ? line : element}}});
            at += turned ? here * columns * line : here * line;
        }
    }
    for (const auto& [tile, bytes] : end) {
        graph.hold(buffer, tile, (bytes + 7) / 8 * 8);
    }
    return graph.add_tensor(std::move(made));
}

inline family::Value value_of(const family::TensorType& type,
                              const std::function<double(std::int64_t)>& element) {
    family::Value made{type, {}, false};
    made.bytes.resize(static_cast<std::size_t>(type.elements() * bytes_of(type.type)));
    for (std::int64_t i = 0; i < type.elements(); ++i) {
        const auto single = static_cast<float>(element(i));
        if (!is_float(type.type)) {
            const auto whole = static_cast<std::uint32_t>(static_cast<std::int64_t>(element(i)));
            std::memcpy(&made.bytes[static_cast<std::size_t>(i) * 4], &whole, 4);
        } else if (type.type == ElementType::F32) {
            std::memcpy(&made.bytes[static_cast<std::size_t>(i) * 4], &single, 4);
        } else {
            const std::uint16_t half = f32_to_f16(single);
            std::memcpy(&made.bytes[static_cast<std::size_t>(i) * 2], &half, 2);
        }
    }
    return made;
}

/// Between -span and span, some of them zero.
inline family::Value random_value(const family::TensorType& type, std::uint64_t seed,
                                  double span = 8) {
    const workload::CounterRandom random(seed, 0);
    return value_of(type, [&](std::int64_t i) {
        const auto drawn = static_cast<double>(random.below(4001, static_cast<std::uint64_t>(i)));
        return span * (drawn - 2000) / 2000;
    });
}

/// Runs the step on a machine with one tile pair beyond each end of the site.
inline StepRun run_step(const family::Family& family, const family::Request& request,
                        const std::vector<Stand>& stands, const std::vector<family::Value>& values,
                        spec::MachineSpec machine = {}, std::int64_t tiles = 4) {
    machine.chip.tiles = tiles;
    exchange_plan::KnownSchedules known;
    const family::Site site{machine, known, 2, "step"};
    machine.chip.tiles = tiles + 4;
    const auto step = family.make(request);
    graph::Graph graph("test");
    std::vector<std::optional<graph::TensorId>> where;
    std::map<std::string, std::vector<std::byte>> written;
    for (std::size_t i = 0; i < stands.size(); ++i) {
        const std::string name = "input " + std::to_string(i);
        if (stands[i] == Stand::Host) {
            where.emplace_back();
        } else {
            where.emplace_back(add_standing(graph, site, stands[i], name, request.inputs[i]));
            written[name] = values[i].bytes;
        }
    }
    family::Emitted emitted = step->emit(graph, site, where);
    StepRun run;
    std::vector<graph::Step> steps;
    for (std::size_t i = 0; i < stands.size(); ++i) {
        const graph::TensorId wanted = emitted.inputs.at(i);
        if (!where[i]) {
            graph.tensors[wanted.index].given = true;
            written[graph.tensors[wanted.index].name] = values[i].bytes;
        } else if (*where[i] != wanted) {
            ++run.added;
            graph::align_to_units(graph, *where[i]); // copies move units
            steps.push_back(graph::add_copy(graph, machine, *where[i], wanted,
                                            program::Role::Rearrange, "step"));
        }
    }
    for (const graph::ComputeSet& set : graph.compute_sets) {
        run.vertices += set.role == program::Role::Work ? set.vertices.size() : 0;
    }
    steps.push_back(std::move(emitted.steps));
    const auto types = step->outputs();
    CHECK(emitted.outputs.size() == types.size());
    const auto result_of = [](std::size_t output) { return "result " + std::to_string(output); };
    for (std::size_t i = 0; i < types.size(); ++i) {
        graph::Tensor& output = graph.tensors[emitted.outputs.at(i).index];
        CHECK_FALSE(output.given);
        CHECK_FALSE(output.wanted);
        output.name = result_of(i);
        output.wanted = true;
    }
    graph.control = graph::sequence(std::move(steps));
    const auto program = lower::lower(machine, std::move(graph)).program;
    CHECK(faults_of(machine, program).empty());
    run.outcome = run_program(machine, program, written);
    std::vector<family::Value> outputs;
    for (std::size_t i = 0; i < types.size(); ++i) {
        outputs.push_back({types[i], run.outcome.tensors.at(result_of(i)), false});
    }
    run.output = outputs.front();
    std::vector<const family::Value*> inputs;
    for (const family::Value& value : values) {
        inputs.push_back(&value);
    }
    run.checked = step->check(inputs, outputs, 1);
    return run;
}

} // namespace tessera::test
