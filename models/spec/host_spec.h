// SPDX-License-Identifier: MIT
// The link to the host, or to the gateway that holds the host's data.
#pragma once

#include "base/units.h"

namespace tessera::spec {

struct HostSpec {
    double read_gbytes_per_s = 20.2;
    double write_gbytes_per_s = 5.5;
    double latency_us = 9.0;
    Bytes request_bytes = 4;

    template <class Description> static void describe(Description& d) {
        constexpr const char* kSource = "docs/evidence.md#host-link";
        d.field("read_gbytes_per_s", &HostSpec::read_gbytes_per_s)
            .unit("GB/s")
            .range(0.001, 100000)
            .says("from the host into one chip")
            .from(kSource)
            .used_by({"reads from the host"});
        d.field("write_gbytes_per_s", &HostSpec::write_gbytes_per_s)
            .unit("GB/s")
            .range(0.001, 100000)
            .says("from one chip to the host")
            .from(kSource)
            .used_by({"writes to the host"});
        d.field("latency_us", &HostSpec::latency_us)
            .unit("us")
            .range(0, 1e6)
            .says("what a copy of no bytes would take; also a barrier with the host")
            .from(kSource)
            .used_by({"reads from the host", "writes to the host", "barriers with the host"});
        d.field("request_bytes", &HostSpec::request_bytes)
            .unit("B")
            .range(4, 1 << 20)
            .says("least that a piece of a copy moves")
            .from(kSource)
            .used_by({"reads from the host", "writes to the host"});
    }
};

} // namespace tessera::spec
