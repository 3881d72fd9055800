// SPDX-License-Identifier: MIT
#include "kernels/job/job.h"

#include "kernels/job/chips_job.h"
#include "kernels/job/micro_job.h"
#include "kernels/job/pipeline_job.h"

namespace tessera::job {

std::unique_ptr<Job> make_job(const workload::Workload& workload) {
    if (const auto* matmul = std::get_if<workload::MatmulWorkload>(&workload.kind)) {
        return pipeline_job(source_of(*matmul));
    }
    if (const auto* spmm = std::get_if<workload::SpmmWorkload>(&workload.kind)) {
        return pipeline_job(source_of(*spmm));
    }
    if (const auto* top_k = std::get_if<workload::TopKWorkload>(&workload.kind)) {
        return pipeline_job(source_of(*top_k));
    }
    if (const auto* pipeline = std::get_if<workload::PipelineWorkload>(&workload.kind)) {
        return pipeline_job(source_of(*pipeline));
    }
    if (auto job = make_chips_job(workload)) {
        return job;
    }
    return make_micro_job(workload);
}

} // namespace tessera::job
