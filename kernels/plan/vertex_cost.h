// SPDX-License-Identifier: MIT
// Cycles of the vertices of kernels/codelets in closed form: what the planners search with. Tests
// hold them equal to the interpreter's cycles for the standard pipeline (issue to issue of the
// whole vertex call, stub included).
#pragma once

#include "base/units.h"
#include "kernels/plan/supervisor_timeline.h"
#include "kernels/workload/workload.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::plan {

/// Outputs of one weight load: 16 with FP16 partials, 8 with FP32.
[[nodiscard]] constexpr std::int64_t amp_group(ElementType partials) {
    return partials == ElementType::F16 ? 16 : 8;
}

/// Worker issues of one weight load over `rows` rows, from the entry amp_fresh or amp_add.
[[nodiscard]] std::int64_t amp_issues(const spec::AmpSpec& amp, std::int64_t rows, bool fresh);

struct MatmulVertexShape {
    std::int64_t rows = 0;
    std::int64_t out_groups = 1;
    std::int64_t k_groups = 1;
    bool fresh = true; ///< the first k group starts from zero
};

/// Worker issues of spmm_elementwise_<p>: rows and non-zeros of one worker.
[[nodiscard]] std::int64_t elementwise_issues(ElementType partials, std::int64_t rows,
                                              std::int64_t non_zeros, std::int64_t column_groups);

/// Worker issues of sum_f32 over so many operands of a worker.
[[nodiscard]] constexpr std::int64_t sum_issues(std::int64_t operands) {
    return 23 + operands;
}

/// Worker issues of reduce_<p> and copy64.
[[nodiscard]] std::int64_t reduce_issues(ElementType partials, std::int64_t units,
                                         std::int64_t slices);
[[nodiscard]] std::int64_t copy_issues(std::int64_t words);

/// Cycles of one tile's stub, vertex by vertex in its order.
class StubTimeline {
public:
    /// `calls`: is there a supervisor vertex among them?
    StubTimeline(const spec::MachineSpec& machine, bool calls);

    /// matmul_<p>_fresh or _add.
    void matmul(ElementType partials, const MatmulVertexShape& shape);
    /// spmm_block16_<p> over `columns` columns; one entry a weight load: does it start from zero?
    void block16(ElementType partials, std::int64_t columns, const std::vector<bool>& fresh);
    /// A worker vertex whose worker w makes `issues[w]` issues.
    void multi_worker(std::span<const std::int64_t> issues);
    /// A vertex of worker 0 alone.
    void worker(std::int64_t issues);
    /// reduce_<p> and copy64: work dealt evenly.
    void reduce(ElementType partials, std::int64_t units, std::int64_t slices);
    void copy(std::int64_t words);

    /// From the stub's first instruction to its return.
    [[nodiscard]] Cycles finish();

private:
    void call();
    void launch_rows(std::int64_t rows, bool fresh, std::int64_t extra);
    void weights(ElementType partials, Cycles address_ready);
    template <typename IssuesOf> void dealt(std::int64_t units, const IssuesOf& issues_of);

    SupervisorTimeline time_;
    spec::AmpSpec amp_;
};

/// Stubs with one vertex.
[[nodiscard]] Cycles matmul_vertex_cycles(const spec::MachineSpec& machine, ElementType partials,
                                          const MatmulVertexShape& shape);
[[nodiscard]] Cycles block16_vertex_cycles(const spec::MachineSpec& machine, ElementType partials,
                                           std::int64_t columns, const std::vector<bool>& fresh);
[[nodiscard]] Cycles multi_worker_cycles(const spec::MachineSpec& machine,
                                         std::span<const std::int64_t> issues);
[[nodiscard]] Cycles reduce_cycles(const spec::MachineSpec& machine, ElementType partials,
                                   std::int64_t units, std::int64_t slices);
[[nodiscard]] Cycles copy_cycles(const spec::MachineSpec& machine, std::int64_t words);

} // namespace tessera::plan
