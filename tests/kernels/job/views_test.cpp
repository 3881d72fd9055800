// SPDX-License-Identifier: MIT
// A step that writes a tensor of which another one is a view is refused by what reads the file, where
// planning would refuse it, and nowhere else.
#include "base/error.h"
#include "kernels/catalog/resolve.h"
#include "kernels/pipeline/pipeline.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace tessera;
using workload::PipelineStep;
using workload::PipelineWorkload;

PipelineStep step(const std::string& family, std::vector<std::string> inputs,
                  const std::string& output) {
    PipelineStep made;
    made.family = family;
    made.inputs = std::move(inputs);
    made.outputs = {output};
    return made;
}

/// The places of what reading the file refuses.
std::vector<std::string> refused(const catalog::Resolved& resolved) {
    std::vector<std::string> pointers;
    for (const Diagnostic& mistake : resolved.mistakes) {
        if (mistake.message.find("is a view") != std::string::npos) {
            pointers.push_back(mistake.pointer);
        }
    }
    return pointers;
}

bool planning_refuses(const pipeline::Pipeline& pipeline) {
    spec::MachineSpec machine;
    machine.chip.tiles = 4;
    try {
        static_cast<void>(pipeline::plan(machine, pipeline));
    } catch (const NotModelled& reason) {
        CHECK(std::string(reason.what()).find("is a view") != std::string::npos);
        return true;
    }
    return false;
}

} // namespace

TEST_CASE("a file that writes over a tensor with a view is refused at the output",
          "[kernels][pipeline]") {
    PipelineWorkload told;
    told.tensors.emplace_back();
    told.tensors[0].name = "x";
    told.tensors[0].shape = {8, 8};
    told.steps = {step("transpose", {"x"}, "turned"), step("relu", {"x"}, "x")};
    told.steps[1].name = "again";
    const auto resolved = catalog::resolve(told);
    REQUIRE(resolved.mistakes.size() == 1);
    CHECK(resolved.mistakes[0].pointer == "/steps/1/output");
    CHECK(resolved.mistakes[0].message ==
          "got 'x' to be written anew, of which 'turned' is a view, expected a tensor that nothing "
          "is a view of");
    CHECK(planning_refuses(resolved.pipeline));
    told.steps[1] = step("transpose", {"turned"}, "x");
    CHECK(refused(catalog::resolve(told)) == std::vector<std::string>{"/steps/1/output"});
    told.tensors[0].row_major = true; // then the first transpose reads a copy of its own
    CHECK(refused(catalog::resolve(told)).empty());
    CHECK_FALSE(planning_refuses(catalog::resolve(told).pipeline));
}

TEST_CASE("reading a file and planning refuse the same views", "[kernels][pipeline]") {
    std::mt19937 random(7);
    const auto one_of = [&](const std::vector<std::string>& names) {
        return names[random() % names.size()];
    };
    int refusals = 0;
    constexpr int kPipelines = 300;
    for (int i = 0; i < kPipelines; ++i) {
        PipelineWorkload told;
        std::vector<std::string> known;
        for (const char* name : {"x", "y"}) {
            auto& tensor = told.tensors.emplace_back();
            tensor.name = name;
            tensor.shape = {8, 8};
            tensor.row_major = random() % 2 == 0;
            known.emplace_back(name);
        }
        const std::size_t steps = 2 + random() % 4;
        for (std::size_t number = 0; number < steps; ++number) {
            const std::string family = one_of({"transpose", "transpose", "relu", "add", "softmax"});
            std::vector<std::string> inputs{one_of(known)};
            if (family == "add") {
                inputs.push_back(one_of(known));
            }
            std::string fresh = "h";
            fresh += std::to_string(number);
            const std::string output = random() % 2 == 0 ? one_of(known) : fresh;
            told.steps.push_back(step(family, inputs, output));
            told.steps.back().name = "step" + std::to_string(number);
            if (output == fresh) {
                known.push_back(fresh);
            }
        }
        const auto resolved = catalog::resolve(told);
        const bool is_refused = !refused(resolved).empty();
        INFO("pipeline " << i);
        CHECK(planning_refuses(resolved.pipeline) == is_refused);
        refusals += is_refused ? 1 : 0;
    }
    CHECK(refusals > kPipelines / 10);
    CHECK(refusals < kPipelines * 9 / 10);
}
