// SPDX-License-Identifier: MIT
#include "kernels/family/gradient.h"

#include <fmt/format.h>

#include <utility>

namespace tessera::family {

using workload::PipelineStep;

PipelineStep backward_step(std::string_view family, std::vector<std::string> inputs,
                           std::string output, Options options) {
    PipelineStep step;
    step.family = std::string(family);
    step.inputs = std::move(inputs);
    step.outputs = {std::move(output)};
    step.options = std::move(options);
    return step;
}

PipelineStep same_gradient(std::string of, std::string called) {
    return backward_step({}, {std::move(of)}, std::move(called));
}

void add_sums_of_rows(Steps& steps, const std::string& from, std::size_t sizes, std::size_t wanted,
                      const std::string& to) {
    if (wanted == 1 && sizes > 1) {
        steps.push_back(backward_step("sum_rows", {from}, to));
        return;
    }
    std::string at = from;
    for (std::size_t left = sizes; left > wanted; --left) {
        const bool is_last = left == wanted + 1;
        const std::string turned = fmt::format("{}_columns_{}", to, left);
        const std::string summed = is_last ? to : fmt::format("{}_sums_{}", to, left);
        steps.push_back(backward_step("transpose", {at}, turned));
        steps.push_back(backward_step("reduce", {turned}, summed, {{"op", std::string("sum")}}));
        at = summed;
    }
}

bool has_flag(const PipelineStep& step, const std::string& key) {
    const auto found = step.options.find(key);
    return found != step.options.end() && found->second == PipelineStep::OptionValue(true);
}

Options told(const PipelineStep& step, const std::vector<std::string>& keys) {
    Options options;
    for (const std::string& key : keys) {
        if (const auto found = step.options.find(key); found != step.options.end()) {
            options.insert(*found);
        }
    }
    return options;
}

} // namespace tessera::family
