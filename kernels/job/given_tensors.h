// SPDX-License-Identifier: MIT
// The tensors that the host gives to a pipeline: how their values are made, and what they are.
#pragma once

#include "kernels/family/family.h"
#include "kernels/workload/values.h"
#include "kernels/workload/workload.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::job {

/// How the values of one tensor are made.
struct Draw {
    workload::ValuesSpec values;
    std::int64_t below = 0; ///< of whole numbers: see workload::PipelineTensor
    std::uint64_t seed = 1;
    workload::Operand operand = workload::Operand::B;
    std::int64_t contraction = 1; ///< products that are summed to one element of what reads it
    bool is_transposed = false;   ///< a file has the transpose
    bool is_exact = false;        ///< whole numbers are small enough, however many are summed
    /// A dense operand of a sparse product, or what that is added to: the tensor of the matrix, which
    /// says how many rows this one has, and how many products are summed.
    std::optional<std::size_t> of_sparse = {};
    std::optional<workload::SpmmWorkload> sparse =
        {}; ///< of a sparse matrix: where it has its blocks
};

/// A workload as a pipeline and what it is given.
struct Source {
    workload::PipelineWorkload pipeline;
    std::vector<Draw> draws; ///< by tensor of the pipeline
    /// It stands for a workload of kind matmul or spmm: one step, whose names are the product's own.
    bool is_kind = false;
};

[[nodiscard]] Source source_of(const workload::PipelineWorkload& workload);
[[nodiscard]] Source source_of(const workload::MatmulWorkload& workload);
[[nodiscard]] Source source_of(const workload::SpmmWorkload& workload);
[[nodiscard]] Source source_of(const workload::TopKWorkload& workload);

/// A sparse matrix: where its blocks are, and what they hold.
struct GivenMatrix {
    std::shared_ptr<const workload::SparsePattern> pattern;
    std::vector<std::byte> values;
};
/// @throws ConfigError, IoError for a pattern that is wrong or missing
[[nodiscard]] GivenMatrix given_matrix(const Draw& draw);

/// The values of a dense tensor. `contraction`: see Draw. @throws ConfigError, IoError for a file that
/// is wrong or missing
[[nodiscard]] family::Value given_values(const family::TensorType& type, const Draw& draw,
                                         std::int64_t contraction);

} // namespace tessera::job
