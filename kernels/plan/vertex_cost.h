// SPDX-License-Identifier: MIT
// Cycles of a tile's stub with its vertices in closed form: what the planners search with. What a
// vertex itself costs stands beside its codelet (kernels/codelets/*_cost.h). Tests hold the sum
// equal to the interpreter's cycles for the standard pipeline (issue to issue of the whole vertex
// call, stub included).
#pragma once

#include "base/element_type.h"
#include "base/units.h"
#include "kernels/codelets/matmul_amp_cost.h"
#include "kernels/codelets/product_types.h"
#include "kernels/codelets/supervisor_timeline.h"
#include "kernels/codelets/top_k_cost.h"
#include "kernels/workload/workload.h"
#include "models/spec/machine_spec.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::plan {

/// Cycles of one tile's stub, vertex by vertex in its order.
class StubTimeline {
public:
    /// `calls`: is there a supervisor vertex among them?
    StubTimeline(const spec::MachineSpec& machine, bool calls);

    /// matmul_<p>_fresh or _add.
    void matmul(ElementType partials, const codelets::MatmulVertexShape& shape);
    /// spmm_block16_<p> over `columns` columns; one entry a weight load: does it start from zero?
    void block16(ElementType partials, std::int64_t columns, const std::vector<bool>& fresh);
    /// spmm_block<block>_<p> of spmm_blocks_<p>.S over `columns` columns; blocks of each row.
    void blocks(std::int64_t block, codelets::ProductTypes types, std::int64_t columns,
                const std::vector<std::int32_t>& row_blocks);
    /// A worker vertex whose worker w makes `issues[w]` issues.
    void multi_worker(std::span<const std::int64_t> issues);
    /// top_k_select_words or _pairs.
    void top_k_select(codelets::TopKElement element, std::span<const codelets::TopKStage> stages);
    /// A vertex of worker 0 alone.
    void worker(std::int64_t issues);
    /// reduce_<p> and copy64: work dealt evenly.
    void reduce(codelets::ProductTypes types, std::int64_t units, std::int64_t slices);
    void copy(std::int64_t words);
    /// rearrange_lines64: lines of so many items, dealt evenly.
    void rearrange(std::int64_t lines, std::int64_t items);

    /// From the stub's first instruction to its return.
    [[nodiscard]] Cycles finish();

private:
    void call();
    template <typename IssuesOf> void dealt(std::int64_t units, const IssuesOf& issues_of);

    codelets::SupervisorTimeline time_;
    spec::AmpSpec amp_;
};

/// Stubs with one vertex.
[[nodiscard]] Cycles matmul_vertex_cycles(const spec::MachineSpec& machine, ElementType partials,
                                          const codelets::MatmulVertexShape& shape);
[[nodiscard]] Cycles block16_vertex_cycles(const spec::MachineSpec& machine, ElementType partials,
                                           std::int64_t columns, const std::vector<bool>& fresh);
[[nodiscard]] Cycles multi_worker_cycles(const spec::MachineSpec& machine,
                                         std::span<const std::int64_t> issues);
[[nodiscard]] Cycles reduce_cycles(const spec::MachineSpec& machine, codelets::ProductTypes types,
                                   std::int64_t units, std::int64_t slices);
[[nodiscard]] Cycles copy_cycles(const spec::MachineSpec& machine, std::int64_t words);

} // namespace tessera::plan
