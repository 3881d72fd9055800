// SPDX-License-Identifier: MIT
// Pipelines as jobs, products among them: each step is checked on the inputs that it met.
#pragma once

#include "kernels/job/given_tensors.h"
#include "kernels/job/job.h"

namespace tessera::job {

[[nodiscard]] std::unique_ptr<Job> pipeline_job(Source source);

} // namespace tessera::job
