// SPDX-License-Identifier: MIT
// A change of layout on each of some tiles:
//
//     from --cast--> between --transpose--> to       one step where one vertex does it
#include "kernels/rearrange/rearrange.h"

#include "base/float16.h"
#include "kernels/micro/limits.h"
#include "kernels/micro/micro.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace tessera::micro {
namespace {

using rearrange::Layout;
using workload::RearrangeWorkload;

/// One vertex's worth: the buffer that it fills, in which layout.
struct Stage {
    std::string name;
    Layout layout;

    [[nodiscard]] Bytes bytes() const { return layout.lines() * layout.step; }
};

ElementType other(ElementType type) {
    return type == ElementType::F16 ? ElementType::F32 : ElementType::F16;
}

Layout layout_of(const RearrangeWorkload& workload, ElementType type, bool turned,
                 std::int64_t gap) {
    Layout made{{}, type, workload.rows, workload.columns, turned, 0};
    made.step = (made.line_elements() + gap) * bytes_of(type);
    return made;
}

/// What is there before, and after each step.
std::vector<Stage> stages_of(const RearrangeWorkload& workload) {
    const ElementType type =
        workload.dtype == ElementType::F16 ? ElementType::F16 : ElementType::F32;
    const ElementType last = workload.cast ? other(type) : type;
    std::vector<Stage> stages{{"from", layout_of(workload, type, false, workload.from_gap)}};
    if (workload.cast && workload.transpose) {
        stages.push_back({"between", layout_of(workload, last, false, 0)});
    }
    stages.push_back({"to", layout_of(workload, last, workload.transpose, workload.to_gap)});
    return stages;
}

const char* step_name(const Layout& from, const Layout& to) {
    if (from.type != to.type) {
        return "rearrange: cast";
    }
    if (from.lines_are_columns != to.lines_are_columns) {
        return "rearrange: transpose";
    }
    const Bytes line_bytes = to.line_elements() * bytes_of(to.type);
    const bool dense = from.step == line_bytes && to.step == line_bytes;
    return dense || to.lines() == 1 ? "rearrange: copy" : "rearrange: lines";
}

/// Whole numbers that both types hold.
float value_at(std::int64_t tile, std::int64_t element) {
    return static_cast<float>((element * 7 + tile * 13) % 2003 + 1);
}

/// A stage's bytes on all tiles; gaps are zero.
std::vector<std::byte> bytes_of(const Stage& stage, std::int64_t tiles) {
    const Layout& layout = stage.layout;
    std::vector<std::byte> bytes(static_cast<std::size_t>(tiles * stage.bytes()));
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
        for (std::int64_t row = 0; row < layout.rows; ++row) {
            for (std::int64_t column = 0; column < layout.columns; ++column) {
                const std::int64_t line = layout.lines_are_columns ? column : row;
                const std::int64_t item = layout.lines_are_columns ? row : column;
                std::byte* const at = bytes.data() + tile * stage.bytes() + line * layout.step +
                                      item * bytes_of(layout.type);
                const float value = value_at(tile, row * layout.columns + column);
                const std::uint16_t half = f32_to_f16(value);
                if (layout.type == ElementType::F16) {
                    std::memcpy(at, &half, sizeof half);
                } else {
                    std::memcpy(at, &value, sizeof value);
                }
            }
        }
    }
    return bytes;
}

/// The bytes of a stage on all tiles, gaps included.
graph::Tensor tensor_of(const Stage& stage, std::int64_t tiles) {
    const ElementType type = stage.layout.type;
    const std::int64_t elements = stage.bytes() / bytes_of(type);
    auto tensor = graph::array_tensor(stage.name, type, tiles * elements);
    tensor.shape = {tiles, stage.layout.lines(), elements / stage.layout.lines()};
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
        tensor.pieces.push_back(graph::run_of(static_cast<TileId>(tile), stage.layout.place,
                                              tile * elements, elements, type));
    }
    return tensor;
}

/// The stages and the steps between them, and the cycles that a repetition is expected to take.
std::pair<graph::Graph, Cycles> graph_of(const spec::MachineSpec& machine, const std::string& name,
                                         std::vector<Stage> stages, std::int64_t tiles,
                                         std::int64_t repeats) {
    graph::Graph graph(name);
    Cycles cycles = machine.control.repeat_cycles;
    graph.codelets = {"copy", "rearrange"};
    for (Stage& stage : stages) {
        stage.layout.place.buffer = graph.add_buffer({.name = stage.name});
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
            graph.hold(stage.layout.place.buffer, static_cast<TileId>(tile), stage.bytes());
        }
    }
    std::vector<graph::Step> steps;
    for (std::size_t i = 1; i < stages.size(); ++i) {
        const Layout& from = stages[i - 1].layout;
        const Layout& to = stages[i].layout;
        const auto calls = rearrange::change(machine, from, to);
        cycles += machine.control.step_cycles + rearrange::cycles(machine, calls);
        const auto set =
            graph.add_compute_set({step_name(from, to), program::Role::Rearrange, "rearrange"});
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
            rearrange::add(graph, set, static_cast<TileId>(tile), calls);
        }
        steps.push_back(graph::run(set));
    }
    graph.control = graph::repeat(repeats, std::move(steps));
    auto first = tensor_of(stages.front(), tiles);
    auto last = tensor_of(stages.back(), tiles);
    first.given = true;
    last.wanted = true;
    graph.add_tensor(std::move(first));
    graph.add_tensor(std::move(last));
    return {std::move(graph), cycles};
}

} // namespace

Emitted emit(const spec::MachineSpec& machine, const RearrangeWorkload& workload) {
    const std::int64_t tiles = tiles_or_all(machine, workload.tiles, machine.chip.tiles);
    const auto stages = stages_of(workload);
    const std::string sentence = fmt::format(
        "{} x {} {} elements on each of {} tiles{}{}, {} times", workload.rows, workload.columns,
        workload.dtype == ElementType::F16 ? "f16" : "f32", tiles, workload.cast ? ", cast" : "",
        workload.transpose ? ", transposed" : "", workload.repeats);
    auto [graph, cycles] = graph_of(machine, sentence, stages, tiles, workload.repeats);
    Emitted emitted{std::move(graph), [stages, tiles] {
                        return Values{{{program::tensor(0), bytes_of(stages.front(), tiles)}},
                                      {{program::tensor(1), bytes_of(stages.back(), tiles)}}};
                    }};
    emitted.useful_bytes =
        tiles * workload.rows * workload.columns * workload.repeats *
        (bytes_of(stages.front().layout.type) + bytes_of(stages.back().layout.type));
    emitted.choices = {{"tiles", tiles}, {"steps", static_cast<std::int64_t>(stages.size()) - 1}};
    emitted.expected_cycles = cycles;
    return emitted;
}

} // namespace tessera::micro
