// SPDX-License-Identifier: MIT
#include "kernels/plan/vertex_cost.h"

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
std::int64_t weight_loads(ElementType partials) {
    return 2 * amp_group(partials);
}

} // namespace

/// Each path is its steps of the matrix unit, in runs that a repeat or nothing interrupts, and its other issues.
std::int64_t amp_issues(const spec::AmpSpec& amp, std::int64_t rows, bool fresh) {
    const std::int64_t rows_in_flight =
        fresh ? 2 : 3; // what comes in before the loop and leaves behind it
    if (rows >= rows_in_flight) {
        const std::int64_t looping = 4 * (rows - rows_in_flight);
        return fresh ? 8 + amp.issues_of(6) + amp.issues_of(looping + 6)
                     : 7 + amp.issues_of(10) + amp.issues_of(looping + 10);
    }
    if (fresh) {
        return rows == 1 ? 7 + amp.issues_of(8) : 4;
    }
    return rows == 2 ? 7 + amp.issues_of(16) : (rows == 1 ? 7 + amp.issues_of(12) : 5);
}

std::int64_t elementwise_issues(ElementType partials, std::int64_t rows, std::int64_t non_zeros,
                                std::int64_t column_groups) {
    if (rows == 0) {
        return 7;
    }
    const std::int64_t row_issues = partials == ElementType::F16 ? 6 : 7;
    return 11 + column_groups * (12 + 3 * non_zeros + row_issues * rows);
}

std::int64_t reduce_issues(ElementType partials, std::int64_t units, std::int64_t slices) {
    const std::int64_t unit_issues = partials == ElementType::F16 ? 8 : 6;
    return units == 0 ? 11 : 24 + units * (slices + unit_issues);
}

std::int64_t copy_issues(std::int64_t words) {
    return 16 + 2 * words;
}

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

void StubTimeline::launch_rows(std::int64_t rows, bool fresh, std::int64_t extra) {
    const std::int64_t workers = time_.workers();
    time_.run_all(rows % workers, extra + amp_issues(amp_, rows / workers + 1, fresh),
                  extra + amp_issues(amp_, rows / workers, fresh));
}

void StubTimeline::weights(ElementType partials, Cycles address_ready) {
    time_.issue(address_ready);
    time_.plain(weight_loads(partials) - 1);
}

void StubTimeline::matmul(ElementType partials, const MatmulVertexShape& shape) {
    call();
    const Cycles pointer = time_.issue();
    time_.plain(2);
    if (shape.fresh) {
        time_.jump();
    }
    time_.plain(1); // out groups
    const Cycles k_groups = time_.issue();
    time_.plain(1);
    Cycles address = time_.result_ready(time_.issue(time_.result_ready(pointer)));
    time_.issue(time_.result_ready(k_groups));
    for (std::int64_t out = 0; out < shape.out_groups; ++out) {
        for (std::int64_t k = 0; k < shape.k_groups; ++k) {
            time_.sync();
            weights(partials, address);
            address = 0;
            const bool fresh = shape.fresh && k == 0;
            const std::int64_t next_out = fresh ? kNextOutFresh : kNextOutAdd;
            launch_rows(shape.rows, fresh,
                        out == 0 && k == 0 ? kMatmulStart : (k == 0 ? next_out : kNextK));
            time_.plain(1); // the next entry
            if (k + 1 < shape.k_groups) {
                time_.jump();
            } else {
                time_.plain(3);
                out + 1 < shape.out_groups ? time_.jump() : time_.plain(1);
            }
        }
    }
    time_.sync();
    time_.jump();
}

void StubTimeline::block16(ElementType partials, std::int64_t columns,
                           const std::vector<bool>& fresh) {
    call();
    const Cycles pointer = time_.issue();
    Cycles list = time_.result_ready(time_.issue());
    time_.plain(1);
    const Cycles entry = time_.issue();
    const std::vector<std::int64_t> issues(static_cast<std::size_t>(time_.workers()),
                                           kBlockColumns);
    time_.run_all(issues, time_.result_ready(entry));
    Cycles address = time_.result_ready(time_.issue(time_.result_ready(pointer)));
    for (std::size_t i = 0; i < fresh.size(); ++i) {
        time_.issue(list); // the worker entry, ready long before it is launched
        time_.sync();
        weights(partials, address);
        address = 0;
        launch_rows(columns, fresh[i], kBlockAddresses);
        list = time_.result_ready(time_.issue());
        i + 1 < fresh.size() ? time_.jump() : time_.plain(1);
    }
    time_.sync();
    time_.jump();
}

void StubTimeline::multi_worker(std::span<const std::int64_t> issues) {
    time_.plain(1);
    const Cycles base = time_.issue();
    time_.run_all(issues, time_.result_ready(base));
    time_.sync();
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

void StubTimeline::reduce(ElementType partials, std::int64_t units, std::int64_t slices) {
    dealt(units, [&](std::int64_t u) { return reduce_issues(partials, u, slices); });
}

void StubTimeline::copy(std::int64_t words) {
    dealt(words, copy_issues);
}

Cycles StubTimeline::finish() {
    time_.jump();
    return time_.now();
}

Cycles matmul_vertex_cycles(const spec::MachineSpec& machine, ElementType partials,
                            const MatmulVertexShape& shape) {
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

Cycles reduce_cycles(const spec::MachineSpec& machine, ElementType partials, std::int64_t units,
                     std::int64_t slices) {
    StubTimeline stub(machine, false);
    stub.reduce(partials, units, slices);
    return stub.finish();
}

Cycles copy_cycles(const spec::MachineSpec& machine, std::int64_t words) {
    StubTimeline stub(machine, false);
    stub.copy(words);
    return stub.finish();
}

} // namespace tessera::plan
