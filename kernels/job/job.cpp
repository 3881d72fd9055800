// SPDX-License-Identifier: MIT
#include "kernels/job/job.h"

#include "base/error.h"
#include "kernels/job/micro_job.h"
#include "kernels/job/product_job.h"

namespace tessera::job {

std::unique_ptr<Job> make_job(const workload::Workload& workload) {
    if (const auto* matmul = std::get_if<workload::MatmulWorkload>(&workload.kind)) {
        return make_job(*matmul);
    }
    if (const auto* spmm = std::get_if<workload::SpmmWorkload>(&workload.kind)) {
        return make_job(*spmm);
    }
    if (std::holds_alternative<workload::PipelineWorkload>(workload.kind)) {
        throw NotModelled(
            "pipelines: they are read and checked, not planned; see docs/workloads.md#pipeline");
    }
    return make_micro_job(workload);
}

} // namespace tessera::job
