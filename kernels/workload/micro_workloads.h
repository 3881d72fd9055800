// SPDX-License-Identifier: MIT
// Micro-workloads: programs that show one thing that the machine does between computations. Each
// describes its own keys.
#pragma once

#include "kernels/workload/shared_keys.h"

#include <cstdint>

namespace tessera::workload {

/// The chip's internal barrier, by itself.
struct SyncWorkload {
    std::int64_t repeats = 1;

    template <class Description> static void describe(Description& d) {
        constexpr const char* kSource = "docs/workloads.md";
        describe_kind(d, "sync", kSource);
        describe_repeats<SyncWorkload>(d, kSource);
    }
};

} // namespace tessera::workload
