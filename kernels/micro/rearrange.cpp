// SPDX-License-Identifier: MIT
// A change of layout on each of some tiles:
//
//     from --cast--> between --transpose--> to       one step where one vertex does it
#include "kernels/rearrange/rearrange.h"

#include "base/float16.h"
#include "kernels/micro/micro_builder.h"
#include "kernels/micro/micro_plan.h"

#include <fmt/format.h>

#include <cstring>

namespace tessera::micro {
namespace {

using program::DType;
using rearrange::Layout;
using workload::RearrangeWorkload;
using workload::StreamType;

/// One vertex's worth: the buffer that it fills, in which layout.
struct Stage {
    std::string name;
    Layout layout;

    [[nodiscard]] Bytes bytes() const { return layout.lines() * layout.step; }
};

DType other(DType type) {
    return type == DType::F16 ? DType::F32 : DType::F16;
}

Layout layout_of(const RearrangeWorkload& workload, DType type, bool turned, std::int64_t gap) {
    Layout made{0, type, workload.rows, workload.columns, turned, 0};
    made.step = (made.line_elements() + gap) * program::bytes_of(type);
    return made;
}

/// What is there before, and after each step.
std::vector<Stage> stages_of(const RearrangeWorkload& workload) {
    const DType type = workload.dtype == StreamType::F16 ? DType::F16 : DType::F32;
    const DType last = workload.cast ? other(type) : type;
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
    const Bytes line_bytes = to.line_elements() * program::bytes_of(to.type);
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
                                      item * program::bytes_of(layout.type);
                const float value = value_at(tile, row * layout.columns + column);
                const std::uint16_t half = f32_to_f16(value);
                if (layout.type == DType::F16) {
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
program::Tensor tensor_of(const Stage& stage, std::int64_t tiles) {
    const DType type = stage.layout.type;
    const std::int64_t elements = stage.bytes() / program::bytes_of(type);
    auto tensor = array_tensor(stage.name, type, tiles * elements);
    tensor.shape = {tiles, stage.layout.lines(), elements / stage.layout.lines()};
    for (std::int64_t tile = 0; tile < tiles; ++tile) {
        tensor.pieces.push_back(run_of(static_cast<TileId>(tile), stage.layout.address,
                                       tile * elements, elements, type));
    }
    return tensor;
}

plan::Liveness liveness_of(const std::vector<Stage>& stages) {
    plan::Liveness steps;
    steps.given({stages.front().name}).wanted({stages.back().name});
    steps.begin_loop();
    for (std::size_t i = 1; i < stages.size(); ++i) {
        steps.step(step_name(stages[i - 1].layout, stages[i].layout)).reads({stages[i - 1].name});
        // The gaps of the last one keep what they had.
        i + 1 == stages.size() ? steps.updates({stages[i].name}) : steps.writes({stages[i].name});
    }
    steps.end_loop();
    return steps;
}

/// Places the stages and adds the steps between them; returns what a repetition is expected to take.
Cycles fill(MicroBuilder& builder, const spec::MachineSpec& machine, std::vector<Stage> stages,
            std::int64_t tiles) {
    std::vector<plan::BufferRequest> buffers;
    for (const Stage& stage : stages) {
        buffers.push_back(tensor_buffer(stage.name, stage.bytes()));
    }
    builder.place(buffers, liveness_of(stages));
    for (Stage& stage : stages) {
        stage.layout.address = builder.address(stage.name);
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
            builder.hold(static_cast<TileId>(tile), stage.name, stage.bytes());
        }
    }
    Cycles cycles = machine.control.repeat_cycles;
    for (std::size_t i = 1; i < stages.size(); ++i) {
        const Layout& from = stages[i - 1].layout;
        const Layout& to = stages[i].layout;
        const auto calls = rearrange::change(machine, from, to);
        cycles += machine.control.step_cycles + rearrange::cycles(machine, calls);
        Vertices vertices = builder.no_vertices();
        for (std::int64_t tile = 0; tile < tiles; ++tile) {
            for (const auto& call : calls) {
                vertices[static_cast<std::size_t>(tile)].push_back(
                    builder.rearrange(static_cast<TileId>(tile), call));
            }
        }
        builder.add_compute_set(step_name(from, to), program::Role::Rearrange, std::move(vertices));
    }
    builder.add_tensor(tensor_of(stages.front(), tiles));
    builder.add_tensor(tensor_of(stages.back(), tiles));
    return cycles;
}

} // namespace

MicroPlan plan(const spec::MachineSpec& machine, const RearrangeWorkload& workload) {
    const std::int64_t tiles = tiles_or_all(machine, workload.tiles, machine.chip.tiles);
    const auto stages = stages_of(workload);
    MicroPlan plan;
    plan.sentence = fmt::format(
        "{} x {} {} elements on each of {} tiles{}{}, {} times", workload.rows, workload.columns,
        workload.dtype == StreamType::F16 ? "f16" : "f32", tiles, workload.cast ? ", cast" : "",
        workload.transpose ? ", transposed" : "", workload.repeats);
    BuildRequest request;
    request.owner = "rearrange";
    request.name = plan.sentence;
    request.codelets = {"copy", "rearrange"};
    request.repeats = workload.repeats;
    Cycles cycles = 0;
    plan.program = build_program(machine, request, [&](MicroBuilder& builder) {
        cycles = fill(builder, machine, stages, tiles);
    });
    plan.operands.push_back({"from", bytes_of(stages.front(), tiles)});
    plan.expected.push_back({"to", bytes_of(stages.back(), tiles)});
    plan.useful_bytes = tiles * workload.rows * workload.columns * workload.repeats *
                        (program::bytes_of(stages.front().layout.type) +
                         program::bytes_of(stages.back().layout.type));
    plan.choices = {{"tiles", tiles},
                    {"steps", static_cast<std::int64_t>(stages.size()) - 1},
                    {"predicted_cycles", cycles}};
    return plan;
}

} // namespace tessera::micro
