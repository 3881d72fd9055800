// SPDX-License-Identifier: MIT
// Micro-workloads: programs that show one thing that the machine does between computations. Each
// describes its own keys.
#pragma once

#include <cstdint>

namespace tessera::workload {

/// The chip's internal barrier, by itself.
struct SyncWorkload {
    std::int64_t repeats = 1;

    template <class Description> static void describe(Description& d) {
        constexpr const char* kSource = "docs/workloads.md";
        d.fixed("schema_version", 1).required().says("version of this file's format").from(kSource);
        d.fixed("kind", "sync").required().says("what is done").from(kSource);
        d.field("repeats", &SyncWorkload::repeats)
            .unit("barriers")
            .range(1, 1'000'000)
            .says("how often")
            .from(kSource);
    }
};

} // namespace tessera::workload
