// SPDX-License-Identifier: MIT
// Workloads of several chips as jobs: their answer is right when every tensor of every chip holds the
// expected bits.
#pragma once

#include "kernels/job/job.h"

#include <memory>

namespace tessera::job {

/// A job for one of them, null for other workloads.
[[nodiscard]] std::unique_ptr<Job> make_chips_job(const workload::Workload& workload);

} // namespace tessera::job
