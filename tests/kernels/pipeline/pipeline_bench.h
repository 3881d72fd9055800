// SPDX-License-Identifier: MIT
// Puts a pipeline together, runs it on small whole numbers and has every step checked.
#pragma once

#include "base/float16.h"
#include "kernels/pipeline/pipeline.h"
#include "kernels/workload/values.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

using pipeline::Node;

[[nodiscard]] inline spec::MachineSpec small_machine() {
    spec::MachineSpec machine;
    machine.chip.tiles = 16;
    return machine;
}

inline constexpr auto kInteger = workload::ValuesSpec::Kind::Integer;

/// A pipeline that a test puts together, with values of its tensors.
class PipelineBench {
public:
    std::size_t tensor(const std::string& name, std::int64_t rows, std::int64_t columns,
                       ElementType type = ElementType::F16) {
        return add(name, {type, {rows, columns}}, true);
    }
    std::size_t sparse(const std::string& name, std::int64_t rows, std::int64_t columns,
                       std::int64_t block) {
        workload::SpmmWorkload workload;
        workload.m = rows;
        workload.k = columns;
        workload.n = 1;
        workload.block = block;
        workload.pattern.density = 0.3;
        workload.values.kind = kInteger;
        return add(name,
                   {ElementType::F16,
                    {rows, columns},
                    std::make_shared<const workload::SparseF16>(workload::make_sparse(workload))},
                   true);
    }
    Node step(const family::Family& family, const std::string& output,
              std::vector<std::size_t> inputs, std::optional<std::size_t> into = {},
              std::map<std::string, family::OptionValue> options = {}) {
        family::Request request{{}, std::move(options)};
        for (const std::size_t input : inputs) {
            request.inputs.push_back(made.tensors[input].type);
        }
        Node node;
        node.name = output;
        node.family = &family;
        node.step = family.make(request);
        node.inputs = std::move(inputs);
        node.outputs = {into ? *into : add(output, node.step->output(), false)};
        return node;
    }
    static Node around(Node::Kind kind, std::vector<Node> children) {
        Node node;
        node.kind = kind;
        node.children = std::move(children);
        return node;
    }

    pipeline::Pipeline made{"test", {}, {}};

private:
    std::size_t add(const std::string& name, family::TensorType type, bool given) {
        made.tensors.push_back(
            {.name = name, .type = std::move(type), .given = given, .wanted = !given});
        return made.tensors.size() - 1;
    }
};

/// Runs the pipeline on small whole numbers and checks every step against its family's reference.
inline void run_and_check(const spec::MachineSpec& machine, const pipeline::Pipeline& pipeline) {
    const auto planned = pipeline::plan(machine, pipeline);
    CHECK(test::faults_of(machine, planned.lowered.program).empty());
    std::vector<family::Value> values(pipeline.tensors.size());
    std::map<program::ArrayId, std::vector<std::byte>> writes;
    for (const auto& write : planned.writes) {
        const auto& type = pipeline.tensors[write.tensor].type;
        auto& value = values[write.tensor];
        value.type = type;
        std::vector<std::uint16_t> halves;
        if (type.sparse != nullptr) {
            halves = static_cast<const workload::SparseF16&>(*type.sparse).values; // see sparse()
        } else {
            const workload::ValuesSpec integer{.kind = kInteger, .path = {}};
            halves = workload::make_dense(type.shape[0], type.shape[1], integer, 7 + write.tensor,
                                          workload::Operand::B, 2048)
                         .values;
        }
        value.whole_numbers = true;
        if (type.type == ElementType::F32) {
            for (const std::uint16_t half : halves) {
                const float wide = f16_to_f32(half);
                const auto bytes = std::as_bytes(std::span(&wide, 1));
                value.bytes.insert(value.bytes.end(), bytes.begin(), bytes.end());
            }
        } else {
            value.bytes.resize(halves.size() * 2);
            std::memcpy(value.bytes.data(), halves.data(), value.bytes.size());
        }
        writes[write.array] = value.bytes;
    }
    const auto outcome = test::run_program(machine, planned.lowered.program, writes);
    for (const auto& finished : planned.finished) {
        std::vector<const family::Value*> inputs;
        for (const std::size_t input : finished.node->inputs) {
            inputs.push_back(&values[input]);
        }
        std::vector<family::Value> outputs;
        const auto types = finished.node->step->outputs();
        for (std::size_t i = 0; i < types.size(); ++i) {
            outputs.push_back({types[i], outcome.arrays.at(finished.outputs[i])});
        }
        const auto checked = finished.node->step->check(inputs, outputs, 1);
        INFO(finished.node->name << ": " << checked.sentence);
        CHECK(checked.passed);
        for (std::size_t i = 0; i < types.size(); ++i) {
            if (const auto tensor = finished.node->outputs[i]) {
                values[*tensor] = std::move(outputs[i]);
            }
        }
    }
}

} // namespace tessera::test
