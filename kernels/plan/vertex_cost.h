// SPDX-License-Identifier: MIT
// Cycles of the vertices of kernels/codelets in closed form: what the planners search with. Tests
// hold them equal to the interpreter's cycles for the standard pipeline (issue to issue of the
// whole vertex call, stub included).
#pragma once

#include "base/units.h"
#include "kernels/workload/workload.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::plan {

/// Outputs of one weight load: 16 with FP16 partials, 8 with FP32.
[[nodiscard]] constexpr std::int64_t amp_group(workload::PartialsType partials) {
    return partials == workload::PartialsType::F16 ? 16 : 8;
}

/// Worker issues of one weight load over `rows` rows, from the entry amp_fresh or amp_add.
[[nodiscard]] std::int64_t amp_issues(std::int64_t rows, bool fresh);

struct MatmulVertexShape {
    std::int64_t rows = 0;
    std::int64_t out_groups = 1;
    std::int64_t k_groups = 1;
    bool fresh = true; ///< the first k group starts from zero
};

/// A call of matmul_<p>_fresh or _add.
[[nodiscard]] Cycles matmul_vertex_cycles(const spec::MachineSpec& machine,
                                          workload::PartialsType partials,
                                          const MatmulVertexShape& shape);

/// A call of spmm_block16_<p> over `columns` columns; one entry a weight load: does it start from
/// zero?
[[nodiscard]] Cycles block16_vertex_cycles(const spec::MachineSpec& machine,
                                           workload::PartialsType partials, std::int64_t columns,
                                           const std::vector<bool>& fresh);

/// Worker issues of spmm_elementwise_<p>: rows and non-zeros of one worker.
[[nodiscard]] std::int64_t elementwise_issues(workload::PartialsType partials, std::int64_t rows,
                                              std::int64_t non_zeros, std::int64_t column_groups);

/// Worker issues of reduce_<p> and copy64.
[[nodiscard]] std::int64_t reduce_issues(workload::PartialsType partials, std::int64_t units,
                                         std::int64_t slices);
[[nodiscard]] std::int64_t copy_issues(std::int64_t words);

/// A call of a worker vertex whose worker w makes `issues[w]` issues.
[[nodiscard]] Cycles multi_worker_cycles(const spec::MachineSpec& machine,
                                         std::span<const std::int64_t> issues);
/// The same where worker w of W does `work / W` units, the first work % W one more.
[[nodiscard]] Cycles reduce_cycles(const spec::MachineSpec& machine,
                                   workload::PartialsType partials, std::int64_t units,
                                   std::int64_t slices);
[[nodiscard]] Cycles copy_cycles(const spec::MachineSpec& machine, std::int64_t words);

} // namespace tessera::plan
