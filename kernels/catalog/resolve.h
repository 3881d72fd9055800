// SPDX-License-Identifier: MIT
// A pipeline's workload as kernels/pipeline plans it: every tensor with its type and shape, every
// step made by its family.
//
//     Resolved resolved = resolve(workload, families(), sparse);
//     config::throw_if_any(resolved.mistakes);
//     pipeline::plan(machine, resolved.pipeline);
//
// Reading a workload resolves it for its mistakes; planning does so again with the sparse matrices.
#pragma once

#include "base/error.h"
#include "kernels/catalog/catalog.h"
#include "kernels/pipeline/pipeline.h"
#include "kernels/workload/pipeline_workload.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace tessera::catalog {

struct Resolved {
    /// Without a name; its first tensors are those of the workload, in the same order. Whole where
    /// there are no mistakes.
    pipeline::Pipeline pipeline;
    /// All of them. They have JSON pointers and no places, but those of vertex files have their own places.
    std::vector<Diagnostic> mistakes;
};

/// Given sparse matrices by name. One that is not among them goes to its family as a matrix of its
/// sizes and block in which nothing is stored.
using SparseMatrices = std::map<std::string, std::shared_ptr<const workload::SparsePattern>>;

/// Shapes that files of patterns decide are filled in. `told`: JSON pointers at which a mistake is
/// known already; what depends on them is not checked.
[[nodiscard]] Resolved resolve(const workload::PipelineWorkload& workload,
                               Families families = catalog::families(),
                               const SparseMatrices& sparse = {},
                               const std::set<std::string>& told = {});

} // namespace tessera::catalog
