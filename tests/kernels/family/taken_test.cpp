// SPDX-License-Identifier: MIT
// What a family takes it can also carry out: whatever is asked of it, it refuses in words, or its program
// can be made and has all its codelets and labels.
#include "kernels/catalog/catalog.h"
#include "kernels/family/family.h"
#include "kernels/family/gradient.h"
#include "kernels/lower/lower.h"
#include "tests/support/run_program.h"

#include <catch2/catch.hpp>

#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace tessera;
using family::Family;
using family::Request;

constexpr ElementType kTypes[] = {ElementType::F16, ElementType::F32, ElementType::F143,
                                  ElementType::I32, ElementType::U32, ElementType::Bool};
const std::vector<std::vector<std::int64_t>> kShapes{{4, 4}, {4}, {}, {4, 4, 4}, {4, 0}};

/// Mostly of one type and shape, as most families want it.
Request drawn(const Family& family, std::mt19937_64& random) {
    const auto one_of = [&](const auto& choices) {
        return *(std::begin(choices) + static_cast<std::ptrdiff_t>(random() % std::size(choices)));
    };
    const ElementType type = one_of(kTypes);
    Request request;
    const std::size_t inputs = family.inputs.size() - random() % (family.optional_inputs + 1);
    for (std::size_t i = 0; i < inputs; ++i) {
        request.inputs.push_back({random() % 6 == 0 ? one_of(kTypes) : type,
                                  random() % 2 == 0 ? kShapes.front() : one_of(kShapes)});
    }
    for (const family::Option& option : family.options) {
        if (!option.words.empty() && random() % 2 == 0) {
            request.options[option.key] = std::string(one_of(option.words));
        }
    }
    return request;
}

/// Emits the step with its inputs where it wants them, and lowers it.
void make_program(family::Step& step) {
    spec::MachineSpec machine;
    machine.chip.tiles = 4;
    machine.chip.generation = spec::Generation::Ipu21; // which has FP8
    exchange_plan::KnownSchedules known;
    const family::Site site{machine, known, 0, "step"};
    graph::Graph graph("taken");
    const std::vector<std::optional<graph::TensorId>> where(8);
    family::Emitted emitted = step.emit(graph, site, where);
    for (const graph::TensorId input : emitted.inputs) {
        graph.tensors[input.index].given = true;
    }
    for (std::size_t i = 0; i < emitted.outputs.size(); ++i) {
        graph::Tensor& output = graph.tensors[emitted.outputs[i].index];
        output.name = "result " + std::to_string(i);
        output.wanted = true;
    }
    graph.control = std::move(emitted.steps);
    static_cast<void>(lower::lower(machine, std::move(graph)));
}

} // namespace

TEST_CASE("sums over rows take a transposition and a reduction for each size that goes",
          "[kernels][family]") {
    for (std::size_t sizes = 1; sizes <= 4; ++sizes) {
        for (std::size_t wanted = 0; wanted <= sizes; ++wanted) {
            CAPTURE(sizes, wanted);
            family::Steps steps;
            family::add_sums_of_rows(steps, "from", sizes, wanted, "to");
            if (wanted == 1 && sizes > 1) { // one step adds all rows
                REQUIRE(steps.size() == 1);
                CHECK(steps[0].family == "sum_rows");
                CHECK(steps[0].inputs == std::vector<std::string>{"from"});
                CHECK(steps[0].outputs == std::vector<std::string>{"to"});
                continue;
            }
            REQUIRE(steps.size() == 2 * (sizes - wanted));
            std::string at = "from";
            std::set<std::string> names{at};
            for (std::size_t i = 0; i < steps.size(); ++i) {
                CHECK(steps[i].family == (i % 2 == 0 ? "transpose" : "reduce"));
                CHECK(steps[i].inputs == std::vector<std::string>{at});
                at = steps[i].outputs.at(0);
                CHECK(names.insert(at).second);
            }
            CHECK(at == (wanted == sizes ? "from" : "to"));
        }
    }
}

TEST_CASE("what a family takes can be made into a program", "[kernels][family]") {
    constexpr int kDraws = 4000;
    std::set<std::string> never;
    for (const Family* const family : catalog::families()) {
        std::mt19937_64 random(1);
        std::set<std::pair<std::vector<ElementType>, std::vector<std::size_t>>> made;
        for (int draw = 0; draw < kDraws; ++draw) {
            const Request request = drawn(*family, random);
            std::string asked(family->name);
            std::pair<std::vector<ElementType>, std::vector<std::size_t>> like;
            for (const family::TensorType& input : request.inputs) {
                asked += " " + std::string(name_of(input.type)) + "[" +
                         std::to_string(input.shape.size()) + "]";
                like.first.push_back(input.type);
                like.second.push_back(input.shape.size());
            }
            INFO(asked);
            std::unique_ptr<family::Step> step;
            try {
                step = family->make(request);
            } catch (const family::Refused& refused) {
                CHECK_FALSE(std::string(refused.what()).empty());
                CHECK(refused.input < static_cast<int>(request.inputs.size()));
                continue;
            }
            if (made.insert(like).second) {
                CHECK_NOTHROW(make_program(*step));
            }
        }
        if (made.empty()) {
            never.insert(std::string(family->name));
        }
    }
    // These want options that are no words, sparse matrices, or more inputs of other shapes.
    CHECK(never == std::set<std::string>{"adam", "join_heads", "lamb", "layer_norm_gradient",
                                         "reshape", "sddmm", "split_heads", "spmm"});
}
