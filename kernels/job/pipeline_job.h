// SPDX-License-Identifier: MIT
// A pipeline as a job. Every step is compared with its family's reference on the inputs that stood
// on the tiles when it ran, each time that it ends.
#pragma once

#include "kernels/job/job.h"
#include "kernels/workload/pipeline_workload.h"

namespace tessera::job {

[[nodiscard]] std::unique_ptr<Job> make_job(const workload::PipelineWorkload& workload);

} // namespace tessera::job
