// SPDX-License-Identifier: MIT
// A codelet of the user's own as a step of a pipeline: an assembly source, and a vertex file
// (docs/vertex.md) that says which arrays, state and parameters it takes and what shall come out.
// Each tile has a share of the tensors that are split, and all of the others:
//
//     tensor h     rows 0..511 of 64         {"codelet": "dot.S", "vertex": "dot.json",
//     tile 0       rows 0..15                 "inputs": {"x": "h", "w": "w"}, "split": "rows",
//     tile 1       rows 16..31                "outputs": {"y": {"shape": [512]}}}
//     ...
//     parameter `rows` of dot.json is 16 there
#pragma once

#include "kernels/family/family.h"
#include "kernels/workload/pipeline_workload.h"

#include <memory>
#include <string>
#include <vector>

namespace tessera::own_codelet {

/// What such steps have instead of a family: a name.
[[nodiscard]] const family::Family& family();

/// The JSON pointer of an input of a step at `pointer`.
[[nodiscard]] std::string input_pointer(const workload::OwnCodelet& told,
                                        const std::string& pointer, std::size_t input);

/// The step. `told` has the paths of its files, `inputs` are its tensors in the order of
/// workload::PipelineStep::inputs, `pointer` is the step's JSON pointer.
/// @throws ConfigError with all mistakes: those of the vertex file have its lines, those of the step a
/// JSON pointer and no file. IoError for a file that cannot be read
[[nodiscard]] std::unique_ptr<family::Step> make(const workload::OwnCodelet& told,
                                                 const std::string& pointer,
                                                 const std::vector<family::TensorType>& inputs);

} // namespace tessera::own_codelet
