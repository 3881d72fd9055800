// SPDX-License-Identifier: MIT
#include "kernels/sparse/spmm_reduction.h"

#include <utility>

namespace tessera::sparse {
namespace {

void add_jobs(Reduction& reduction, const std::vector<std::int32_t>& parts, std::int64_t first_row,
              std::int64_t rows, std::size_t turn) {
    const auto shares = std::ssize(parts);
    for (std::int64_t share = 0; share < shares; ++share) {
        const Range own = plan::part_of(rows, shares, share);
        if (own.size() == 0) {
            continue;
        }
        SumJob job;
        job.reducer = parts[(static_cast<std::size_t>(share) + turn) % parts.size()];
        job.first_row = static_cast<std::int32_t>(first_row + own.first);
        job.rows = static_cast<std::int32_t>(own.size());
        for (const std::int32_t part : parts) {
            if (part != job.reducer) {
                job.others.push_back(part);
            }
        }
        const auto reducer = static_cast<std::size_t>(job.reducer);
        job.slices_offset = reduction.slices_lines[reducer];
        job.result_offset = reduction.result_lines[reducer];
        reduction.slices_lines[reducer] += std::ssize(job.others) * job.rows;
        reduction.result_lines[reducer] += job.rows;
        reduction.jobs_of_part[reducer].push_back(reduction.jobs.size());
        reduction.jobs.push_back(std::move(job));
    }
}

} // namespace

Reduction find_reduction(const Partition& partition) {
    Reduction reduction;
    const auto parts = static_cast<std::size_t>(partition.split().parts());
    reduction.jobs_of_part.resize(parts);
    reduction.slices_lines.resize(parts);
    reduction.result_lines.resize(parts);
    const Problem& problem = partition.problem();
    const std::int64_t rows = problem.matrix->block_rows();
    const std::size_t least = problem.types.sums_are_results() ? 2 : 1;
    std::size_t turn = 0;
    for (std::int64_t first = 0; first < rows;) {
        const std::vector<std::int32_t>& contributors = partition.contributors(first);
        const std::int64_t last = partition.end_of_run(first);
        for (std::int64_t row = first; contributors.empty() && row < last; ++row) {
            reduction.empty_rows.push_back(static_cast<std::int32_t>(row));
        }
        if (contributors.size() >= least) {
            add_jobs(reduction, contributors, first, last - first, turn++);
        }
        first = last;
    }
    return reduction;
}

} // namespace tessera::sparse
