// SPDX-License-Identifier: MIT
#include "kernels/job/job.h"

#include "kernels/job/micro_job.h"
#include "kernels/job/pipeline_job.h"
#include "kernels/job/product_job.h"

namespace tessera::job {

std::unique_ptr<Job> make_job(const workload::Workload& workload) {
    if (const auto* matmul = std::get_if<workload::MatmulWorkload>(&workload.kind)) {
        return make_job(*matmul);
    }
    if (const auto* spmm = std::get_if<workload::SpmmWorkload>(&workload.kind)) {
        return make_job(*spmm);
    }
    if (const auto* pipeline = std::get_if<workload::PipelineWorkload>(&workload.kind)) {
        return make_job(*pipeline);
    }
    return make_micro_job(workload);
}

} // namespace tessera::job
