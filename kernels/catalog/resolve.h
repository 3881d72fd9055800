// SPDX-License-Identifier: MIT
// A pipeline as its families see it: every tensor with its type and shape, every step checked.
//
//     const auto pipeline = resolve(workload, families(), sparse);
//     pipeline.steps[0].kernel->emit(graph, site, where);    where[i] is pipeline.tensors[inputs[i]]
//
// Reading a workload resolves it for its mistakes; planning does so again with the sparse matrices.
#pragma once

#include "base/error.h"
#include "kernels/catalog/catalog.h"
#include "kernels/workload/pipeline_workload.h"

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tessera::catalog {

/// A tensor that the host gives, or that steps make.
struct ResolvedTensor {
    std::string name;
    family::TensorType type;
    const workload::PipelineTensor* given = nullptr; ///< null: a step makes it
};

/// One entry of `steps`, in the order of the workload.
struct ResolvedStep {
    const workload::PipelineStep* told = nullptr;
    std::string pointer; ///< JSON pointer: "/steps/3/parallel/0/steps/1"
    /// Of Kind::Family; null where a mistake hides it.
    const family::Family* family = nullptr;
    std::unique_ptr<family::Step> kernel;
    std::vector<std::size_t> inputs; ///< in ResolvedPipeline::tensors
    std::size_t output = 0;
    std::vector<ResolvedStep> children; ///< of the other kinds
};

struct ResolvedPipeline {
    std::vector<ResolvedTensor> tensors; ///< those given first
    std::vector<ResolvedStep> steps;
    /// All of them, each with its JSON pointer and no place; the rest is whole where there are none.
    std::vector<Diagnostic> mistakes;
};

/// Given sparse matrices by name. One that is not among them goes to its family as a matrix of its
/// sizes and block in which nothing is stored.
using SparseMatrices = std::map<std::string, std::shared_ptr<const workload::SparseF16>>;

/// Keeps pointers into `pipeline`. Shapes that the files of patterns decide are filled in.
/// `told`: JSON pointers at which a mistake is known already; what hangs on them is not checked.
[[nodiscard]] ResolvedPipeline resolve(const workload::PipelineWorkload& pipeline,
                                       Families families = catalog::families(),
                                       const SparseMatrices& sparse = {},
                                       const std::set<std::string>& told = {});

} // namespace tessera::catalog
