// SPDX-License-Identifier: MIT
#include "kernels/rearrange/rearrange.h"

#include "base/error.h"
#include "kernels/plan/vertex_cost.h"

namespace tessera::rearrange {
namespace {

/// Issues of workers that share `units` of work, the first ones one unit more.
template <class IssuesOf>
std::vector<std::int64_t> dealt(const spec::MachineSpec& machine, std::int64_t units,
                                const IssuesOf& issues_of) {
    std::vector<std::int64_t> issues;
    const std::int64_t workers = machine.tile.workers;
    for (std::int64_t w = 0; w < workers; ++w) {
        issues.push_back(issues_of(units / workers + (w < units % workers ? 1 : 0)));
    }
    return issues;
}

} // namespace

Call copy(const spec::MachineSpec& machine, Address from, Address to, Bytes bytes) {
    TESSERA_ASSERT(bytes % 4 == 0 && from % 4 == 0 && to % 4 == 0);
    const bool wide = bytes % 8 == 0 && from % 8 == 0 && to % 8 == 0;
    const std::int64_t words = bytes / (wide ? 8 : 4);
    const std::int64_t workers = machine.tile.workers;
    return {wide ? "copy64" : "copy32",
            program::VertexKind::MultiWorker,
            {from, to, static_cast<std::uint32_t>(words / workers),
             static_cast<std::uint32_t>(words % workers)},
            dealt(machine, words, plan::copy_issues)};
}

Call strided(Row from, Row to, std::int64_t items, Bytes item_bytes) {
    TESSERA_ASSERT(items > 0 && (item_bytes == 8 || item_bytes == 16));
    TESSERA_ASSERT(from.address % 8 == 0 && from.step % 8 == 0 && to.address % 8 == 0 &&
                   to.step % 8 == 0);
    const std::int64_t words = item_bytes / 8;
    return {words == 1 ? "rearrange_strided8" : "rearrange_strided16",
            program::VertexKind::Worker,
            {from.address, to.address, static_cast<std::uint32_t>(from.step / 8),
             static_cast<std::uint32_t>(to.step / 8), static_cast<std::uint32_t>(items - 1)},
            {4 + 2 * words + (2 * words + 1) * items}};
}

Cycles cycles(const spec::MachineSpec& machine, const std::vector<Call>& calls) {
    plan::StubTimeline stub(machine, false);
    for (const Call& call : calls) {
        if (call.kind == program::VertexKind::Worker) {
            stub.worker(call.issues.front());
        } else {
            stub.multi_worker(call.issues);
        }
    }
    return stub.finish();
}

} // namespace tessera::rearrange
