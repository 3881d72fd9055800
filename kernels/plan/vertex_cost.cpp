// SPDX-License-Identifier: MIT
#include "kernels/plan/vertex_cost.h"

#include "kernels/codelets/copy_cost.h"
#include "kernels/codelets/rearrange_cost.h"
#include "kernels/codelets/reduce_add_cost.h"
#include "kernels/codelets/spmm_block16_cost.h"
#include "kernels/codelets/spmm_blocks_cost.h"

#include <vector>

namespace tessera::plan {

StubTimeline::StubTimeline(const spec::MachineSpec& machine, bool calls)
    : time_(machine), amp_(machine.amp) {
    if (calls) {
        time_.plain(1);
    }
}

void StubTimeline::call() {
    time_.plain(1);
    time_.jump();
}

void StubTimeline::matmul(ElementType partials, const codelets::MatmulVertexShape& shape) {
    call();
    codelets::run_matmul(time_, amp_, partials, shape);
}

void StubTimeline::block16(ElementType partials, std::int64_t columns,
                           const std::vector<bool>& fresh) {
    call();
    codelets::run_block16(time_, amp_, partials, columns, fresh);
}

void StubTimeline::blocks(std::int64_t block, codelets::ProductTypes types, std::int64_t columns,
                          const std::vector<std::int32_t>& row_blocks) {
    call();
    codelets::run_blocks(time_, amp_, block, types, columns, row_blocks);
}

void StubTimeline::multi_worker(std::span<const std::int64_t> issues) {
    time_.plain(1);
    const Cycles base = time_.issue();
    time_.run_all(issues, time_.result_ready(base));
    time_.sync();
}

void StubTimeline::top_k_select(codelets::TopKElement element,
                                std::span<const codelets::TopKStage> stages) {
    call();
    codelets::run_top_k_select(time_, element, stages);
}

void StubTimeline::worker(std::int64_t issues) {
    time_.plain(1);
    const Cycles base = time_.issue();
    time_.run(issues, time_.result_ready(base));
    time_.sync();
}

template <typename IssuesOf>
void StubTimeline::dealt(std::int64_t units, const IssuesOf& issues_of) {
    const std::int64_t workers = time_.workers();
    std::vector<std::int64_t> issues;
    for (std::int64_t n = 0; n < workers; ++n) {
        issues.push_back(issues_of(units / workers + (n < units % workers ? 1 : 0)));
    }
    multi_worker(issues);
}

void StubTimeline::reduce(codelets::ProductTypes types, std::int64_t units, std::int64_t slices) {
    dealt(units, [&](std::int64_t u) { return codelets::reduce_issues(types, u, slices); });
}

void StubTimeline::copy(std::int64_t words) {
    dealt(words, codelets::copy_issues);
}

void StubTimeline::rearrange(std::int64_t lines, std::int64_t items) {
    dealt(lines, [&](std::int64_t own) {
        return codelets::rearrange_issues(own, items, codelets::kRearrangeLinesItem);
    });
}

Cycles StubTimeline::finish() {
    time_.jump();
    return time_.now();
}

Cycles matmul_vertex_cycles(const spec::MachineSpec& machine, ElementType partials,
                            const codelets::MatmulVertexShape& shape) {
    StubTimeline stub(machine, true);
    stub.matmul(partials, shape);
    return stub.finish();
}

Cycles block16_vertex_cycles(const spec::MachineSpec& machine, ElementType partials,
                             std::int64_t columns, const std::vector<bool>& fresh) {
    StubTimeline stub(machine, true);
    stub.block16(partials, columns, fresh);
    return stub.finish();
}

Cycles multi_worker_cycles(const spec::MachineSpec& machine, std::span<const std::int64_t> issues) {
    StubTimeline stub(machine, false);
    stub.multi_worker(issues);
    return stub.finish();
}

Cycles reduce_cycles(const spec::MachineSpec& machine, codelets::ProductTypes types,
                     std::int64_t units, std::int64_t slices) {
    StubTimeline stub(machine, false);
    stub.reduce(types, units, slices);
    return stub.finish();
}

Cycles copy_cycles(const spec::MachineSpec& machine, std::int64_t words) {
    StubTimeline stub(machine, false);
    stub.copy(words);
    return stub.finish();
}

} // namespace tessera::plan
