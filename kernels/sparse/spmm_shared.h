// SPDX-License-Identifier: MIT
// Products that read one sparse matrix where it stands: A B, and A^T B from the values of A. The
// matrix is cut once for all of them: a tile has the same blocks in each, and its values have one
// home.
//
//     A B      values of A -> tiles of a part ->                          multiply
//     A^T B    values of A -> the same tiles  -> transposed on each tile  multiply
//     B D^T    at the places of A: the same tiles multiply, and the results stand as the values of A do
//
// Source: docs/kernels.md#several-products-with-one-sparse-matrix.
#pragma once

#include "kernels/family/family.h"
#include "kernels/family/product.h"
#include "kernels/sparse/spmm_partition.h"
#include "kernels/workload/operands.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::sparse {

/// The matrix and its transpose.
struct SharedPatterns {
    std::shared_ptr<const workload::SparsePattern> matrix;
    workload::TransposedPattern transpose;
};

/// A pass over the matrix by its type and its columns.
[[nodiscard]] Problem problem_of(const SharedPatterns& patterns, ElementType type,
                                 const family::SparseUse& use);

/// How the matrix is cut for these passes. Nothing: no division fits them all.
[[nodiscard]] std::optional<Split> choose_split(const spec::MachineSpec& machine,
                                                const SharedPatterns& patterns, ElementType type,
                                                const std::vector<family::SparseUse>& uses);

/// How the matrix is cut for all the steps that read it with these partial results: the first step
/// that asks chooses, others get the same. Nothing where the steps that read it do not share a plan:
/// all make the same of it, no division fits them all, or the machine lacks the vertices.
[[nodiscard]] std::optional<Split> shared_split(const spec::MachineSpec& machine,
                                                family::SharedMatrix& matrix,
                                                const SharedPatterns& patterns, ElementType type,
                                                ElementType partials);

/// One of the passes, by that split. @throws DoesNotFit
[[nodiscard]] family::Planned plan_pass(const spec::MachineSpec& machine,
                                        const SharedPatterns& patterns, const Problem& problem,
                                        const Split& split);

} // namespace tessera::sparse
