// SPDX-License-Identifier: MIT
#include "kernels/codelets/matmul_amp_cost.h"

namespace tessera::codelets {
namespace {

std::int64_t issues_of(const spec::AmpSpec& amp, const AmpFewRows& path) {
    return path.others + amp.issues_of(path.steps);
}

std::int64_t issues_of(const spec::AmpSpec& amp, const AmpManyRows& path, std::int64_t rows) {
    const std::int64_t looping = kAmpRowSteps * (rows - path.rows_in_flight);
    return path.others + amp.issues_of(path.steps_before) +
           amp.issues_of(looping + path.steps_behind);
}

} // namespace

std::int64_t amp_issues(const spec::AmpSpec& amp, std::int64_t rows, bool fresh) {
    const AmpManyRows& many = fresh ? kAmpFresh : kAmpAdd;
    if (rows >= many.rows_in_flight) {
        return issues_of(amp, many, rows);
    }
    if (fresh) {
        return issues_of(amp, rows == 1 ? kAmpFreshOne : kAmpFreshNone);
    }
    return issues_of(amp, rows == 2 ? kAmpAddTwo : (rows == 1 ? kAmpAddOne : kAmpAddNone));
}

void load_weights(SupervisorTimeline& time, ElementType partials, Cycles address_ready) {
    time.issue(address_ready);
    time.plain(weight_loads(partials) - 1);
}

void launch_rows(SupervisorTimeline& time, const spec::AmpSpec& amp, std::int64_t rows, bool fresh,
                 std::int64_t extra) {
    const std::int64_t workers = time.workers();
    time.run_all(rows % workers, extra + amp_issues(amp, rows / workers + 1, fresh),
                 extra + amp_issues(amp, rows / workers, fresh));
}

void run_matmul(SupervisorTimeline& time, const spec::AmpSpec& amp, ElementType partials,
                const MatmulVertexShape& shape) {
    const Cycles pointer = time.issue();
    time.plain(2);
    if (shape.fresh) {
        time.jump();
    }
    time.plain(1); // out groups
    const Cycles k_groups = time.issue();
    time.plain(1);
    Cycles address = time.result_ready(time.issue(time.result_ready(pointer)));
    time.issue(time.result_ready(k_groups));
    for (std::int64_t out = 0; out < shape.out_groups; ++out) {
        for (std::int64_t k = 0; k < shape.k_groups; ++k) {
            time.sync();
            load_weights(time, partials, address);
            address = 0;
            const bool fresh = shape.fresh && k == 0;
            const std::int64_t next_out = fresh ? kMatmulNextOutFresh : kMatmulNextOutAdd;
            launch_rows(time, amp, shape.rows, fresh,
                        out == 0 && k == 0 ? kMatmulStart : (k == 0 ? next_out : kMatmulNextK));
            time.plain(1); // the next entry
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
}

} // namespace tessera::codelets
