// SPDX-License-Identifier: MIT
// This is what a family is asked for the backward steps of one of its steps. It answers in the pipeline's own
// words: families of kernels by name, tensors by name.
#pragma once

#include "kernels/family/family.h"
#include "kernels/workload/pipeline_workload.h"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::family {

/// One step and the names of gradients. The answer reads `of_outputs`, and whatever the step read and
/// wrote, and writes each name of `of_inputs` that is not empty. A gradient has the shape of its
/// tensor. Other tensors that the answer makes are named of_inputs[i] + "_" + a word of its own.
struct GradientRequest {
    const workload::PipelineStep& step; ///< the forward step, as written
    std::vector<TensorType> inputs;
    std::vector<TensorType> outputs;
    std::vector<std::string> of_outputs; ///< empty: nothing depends on that output
    std::vector<std::string> of_inputs;  ///< empty: nobody wants it

    [[nodiscard]] bool wants(std::size_t input) const {
        return input < of_inputs.size() && !of_inputs[input].empty();
    }
};

using Steps = std::vector<workload::PipelineStep>;
using Options = std::map<std::string, workload::PipelineStep::OptionValue>;

/// A step of a backward pass, called as its output.
[[nodiscard]] workload::PipelineStep backward_step(std::string_view family,
                                                   std::vector<std::string> inputs,
                                                   std::string output, Options options = {});

/// Says that a gradient is another one under a second name: it is no step of the program.
[[nodiscard]] workload::PipelineStep same_gradient(std::string of, std::string called);

/// Whether a step is same_gradient().
[[nodiscard]] inline bool is_same_gradient(const workload::PipelineStep& step) {
    return step.kind == workload::PipelineStep::Kind::Family && step.family.empty();
}

/// Adds steps that sum `from` of `sizes` sizes over its rows, the size before the last, until there are
/// `wanted` sizes, as `to`.
void add_sums_of_rows(Steps& steps, const std::string& from, std::size_t sizes, std::size_t wanted,
                      const std::string& to);

/// A family that answers such requests.
[[nodiscard]] inline Family with_gradient(Family family,
                                          Steps (*gradient)(const GradientRequest& request)) {
    family.gradient = gradient;
    return family;
}

/// Whether a flag of the step is told as true.
[[nodiscard]] bool has_flag(const workload::PipelineStep& step, const std::string& key);

/// Those options of the step that are told and named in `keys`.
[[nodiscard]] Options told(const workload::PipelineStep& step,
                           const std::vector<std::string>& keys);

} // namespace tessera::family
