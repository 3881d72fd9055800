// SPDX-License-Identifier: MIT
#include "kernels/dynamic/layout.h"

namespace tessera::dynamic {

Layout layout_of(const Problem& problem, const published::DenseMachine& machine, const Plan& plan) {
    Layout layout;
    const std::int64_t cut = problem.block / plan.block;
    layout.rows = ceil_div(problem.m, problem.block) * cut;
    layout.columns = ceil_div(problem.k, problem.block) * cut;
    layout.block = plan.block;
    layout.split = plan.split;
    layout.part_rows = plan.part.rows;
    layout.part_columns = plan.part.columns;
    layout.n = plan.part.n;
    layout.n_grain = problem.n_grain();
    layout.element_bytes = bytes_of(problem.data);
    layout.bucket = plan.bucket;
    layout.workers = machine.workers;
    layout.lists = problem.passes.values_gradient;
    return layout;
}

} // namespace tessera::dynamic
