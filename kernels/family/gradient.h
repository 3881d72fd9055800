// SPDX-License-Identifier: MIT
// What a family is asked for the backward steps of one of its steps. It answers in the pipeline's own
// words: families of kernels by name, tensors by name.
#pragma once

#include "kernels/family/family.h"
#include "kernels/workload/pipeline_workload.h"

#include <string>
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
};

} // namespace tessera::family
