// SPDX-License-Identifier: MIT
// The barriers.
#pragma once

#include "base/units.h"

namespace tessera::spec {

struct SyncSpec {
    Cycles internal_cycles = 126;
    Cycles external_cycles = 600;
    double hop_ns = 15;

    template <class Description> static void describe(Description& d) {
        d.field("internal_cycles", &SyncSpec::internal_cycles)
            .unit("cycles")
            .range(0, 100000)
            .says("from the last arrival to the last release, one chip")
            .from("docs/evidence.md#sync")
            .used_by({"barriers", "exchanges", "decisions"});
        d.field("external_cycles", &SyncSpec::external_cycles)
            .unit("cycles")
            .range(0, 10000000)
            .says("the barrier between chips, as one of them sees it when all are there")
            .from("docs/evidence.md#sync")
            .used_by({"barriers between chips"});
        d.field("hop_ns", &SyncSpec::hop_ns)
            .unit("ns")
            .range(0, 1000)
            .says(
                "each way, for each board from the first of the domain to the farthest that meets")
            .from("docs/evidence.md#links")
            .unused_with("system.chips", {1})
            .used_by({"barriers between chips"});
    }
};

} // namespace tessera::spec
