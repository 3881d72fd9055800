// SPDX-License-Identifier: MIT
// Products as jobs: their answer is right when every element is within the tolerance of the host's
// reference.
#pragma once

#include "kernels/job/job.h"

namespace tessera::job {

[[nodiscard]] std::unique_ptr<Job> make_job(const workload::MatmulWorkload& workload);
[[nodiscard]] std::unique_ptr<Job> make_job(const workload::SpmmWorkload& workload);

} // namespace tessera::job
