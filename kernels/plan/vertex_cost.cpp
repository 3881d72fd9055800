// SPDX-License-Identifier: MIT
#include "kernels/plan/vertex_cost.h"

#include "kernels/plan/supervisor_timeline.h"

#include <vector>

namespace tessera::plan {
namespace {

// Worker issues of the pieces of the codelets, counted in their texts.
constexpr std::int64_t kMatmulStart = 19;   ///< .Lstart_*
constexpr std::int64_t kNextOutFresh = 2;   ///< .Lnext_out_fresh
constexpr std::int64_t kNextOutAdd = 3;     ///< .Lnext_out_add
constexpr std::int64_t kNextK = 1;          ///< .Lnext_k_add
constexpr std::int64_t kBlockColumns = 13;  ///< .Lcolumns
constexpr std::int64_t kBlockAddresses = 5; ///< spmm_block16_*_fresh, _add

/// Weight-load instructions of a block.
std::int64_t weight_loads(workload::PartialsType partials) {
    return 2 * amp_group(partials);
}

/// mov, setzi, call of the stub around a supervisor vertex.
void enter_vertex(SupervisorTimeline& time) {
    time.plain(2);
    time.jump();
}

void launch_rows(SupervisorTimeline& time, std::int64_t rows, bool fresh, std::int64_t extra) {
    const std::int64_t workers = time.workers();
    time.run_all(rows % workers, extra + amp_issues(rows / workers + 1, fresh),
                 extra + amp_issues(rows / workers, fresh));
}

} // namespace

std::int64_t amp_issues(std::int64_t rows, bool fresh) {
    if (fresh) {
        return rows >= 2 ? 4 * rows + 12 : (rows == 1 ? 15 : 4);
    }
    if (rows >= 3) {
        return 4 * rows + 15;
    }
    return rows == 2 ? 23 : (rows == 1 ? 19 : 5);
}

Cycles matmul_vertex_cycles(const spec::MachineSpec& machine, workload::PartialsType partials,
                            const MatmulVertexShape& shape) {
    SupervisorTimeline time(machine);
    enter_vertex(time);
    const Cycles weights = time.issue();
    time.plain(2);
    if (shape.fresh) {
        time.jump();
    }
    time.issue(); // out groups
    const Cycles k_groups = time.issue();
    time.issue();
    const Cycles address = time.result_ready(time.issue(time.result_ready(weights)));
    time.issue(time.result_ready(k_groups));
    time.sync();
    for (std::int64_t out = 0; out < shape.out_groups; ++out) {
        for (std::int64_t k = 0; k < shape.k_groups; ++k) {
            const bool first = out == 0 && k == 0;
            if (first) {
                time.issue(address);
                time.plain(weight_loads(partials) - 1);
            } else {
                time.sync();
                time.plain(weight_loads(partials));
            }
            const bool fresh = shape.fresh && k == 0;
            const std::int64_t next_out = fresh ? kNextOutFresh : kNextOutAdd;
            launch_rows(time, shape.rows, fresh,
                        first ? kMatmulStart : (k == 0 ? next_out : kNextK));
            time.issue(); // the next entry
            if (k + 1 < shape.k_groups) {
                time.jump();
            } else {
                time.plain(3);
                out + 1 < shape.out_groups ? time.jump() : time.plain(1);
            }
        }
    }
    time.sync();
    time.jump();
    time.jump();
    return time.now();
}

Cycles block16_vertex_cycles(const spec::MachineSpec& machine, workload::PartialsType partials,
                             std::int64_t columns, const std::vector<bool>& fresh) {
    SupervisorTimeline time(machine);
    enter_vertex(time);
    const Cycles weights = time.issue();
    const Cycles entries = time.issue();
    time.plain(1);
    const Cycles entry = time.issue();
    const std::vector<std::int64_t> issues(static_cast<std::size_t>(machine.tile.workers),
                                           kBlockColumns);
    time.run_all(issues, time.result_ready(entry));
    Cycles address = time.result_ready(time.issue(time.result_ready(weights)));
    Cycles list = time.result_ready(entries);
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        time.issue(list); // the worker entry, ready long before it is launched
        time.sync();
        time.issue(address);
        time.plain(weight_loads(partials) - 1);
        launch_rows(time, columns, fresh[i], kBlockAddresses);
        list = time.result_ready(time.issue());
        i + 1 < fresh.size() ? time.jump() : time.plain(1);
        address = 0;
    }
    time.sync();
    time.jump();
    time.jump();
    return time.now();
}

std::int64_t elementwise_issues(workload::PartialsType partials, std::int64_t rows,
                                std::int64_t non_zeros, std::int64_t column_groups) {
    if (rows == 0) {
        return 7;
    }
    const std::int64_t row_issues = partials == workload::PartialsType::F16 ? 6 : 7;
    return 11 + column_groups * (12 + 3 * non_zeros + row_issues * rows);
}

std::int64_t reduce_issues(workload::PartialsType partials, std::int64_t units,
                           std::int64_t slices) {
    const std::int64_t unit_issues = partials == workload::PartialsType::F16 ? 8 : 6;
    return units == 0 ? 11 : 24 + units * (slices + unit_issues);
}

std::int64_t copy_issues(std::int64_t words) {
    return 16 + 2 * words;
}

Cycles multi_worker_cycles(const spec::MachineSpec& machine, std::span<const std::int64_t> issues) {
    SupervisorTimeline time(machine);
    time.issue();
    const Cycles base = time.issue();
    time.run_all(issues, time.result_ready(base));
    time.sync();
    time.jump();
    return time.now();
}

namespace {

template <typename Issues>
Cycles dealt_cycles(const spec::MachineSpec& machine, std::int64_t units, Issues issues_of) {
    const std::int64_t workers = machine.tile.workers;
    std::vector<std::int64_t> issues;
    for (std::int64_t n = 0; n < workers; ++n) {
        issues.push_back(issues_of(units / workers + (n < units % workers ? 1 : 0)));
    }
    return multi_worker_cycles(machine, issues);
}

} // namespace

Cycles reduce_cycles(const spec::MachineSpec& machine, workload::PartialsType partials,
                     std::int64_t units, std::int64_t slices) {
    return dealt_cycles(machine, units,
                        [&](std::int64_t u) { return reduce_issues(partials, u, slices); });
}

Cycles copy_cycles(const spec::MachineSpec& machine, std::int64_t words) {
    return dealt_cycles(machine, words, [](std::int64_t w) { return copy_issues(w); });
}

} // namespace tessera::plan
