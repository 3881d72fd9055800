// SPDX-License-Identifier: MIT
// Micro-workloads as jobs: their answer is right when every tensor they name holds the expected
// bits.
#pragma once

#include "kernels/job/job.h"

namespace tessera::job {

/// `workload` holds one of the micro-workloads.
[[nodiscard]] std::unique_ptr<Job> make_micro_job(const workload::Workload& workload);

} // namespace tessera::job
