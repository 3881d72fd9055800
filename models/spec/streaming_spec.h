// SPDX-License-Identifier: MIT
// Streaming memory: DRAM behind the gateway, which chips reach by stream copies of remote buffers.
#pragma once

#include "base/units.h"

#include <cstdint>

namespace tessera::spec {

struct StreamingSpec {
    double read_gbytes_per_s = 7.1;
    double write_gbytes_per_s = 7.1;
    bool shared_rate = false;
    double latency_us = 10.2;
    Bytes request_bytes = 64;
    double machine_gbytes_per_s = 80;
    std::int64_t chips_sharing = 1;
    Bytes capacity_bytes = 34359738368;
    Bytes copy_limit_bytes = 134217728;

    template <class Description> static void describe(Description& d) {
        constexpr const char* kSource = "docs/evidence.md#streaming-memory";
        d.field("read_gbytes_per_s", &StreamingSpec::read_gbytes_per_s)
            .unit("GB/s")
            .range(0.001, 100000)
            .says("from streaming memory into one chip")
            .from(kSource)
            .unused_with("streaming.capacity_bytes", {0})
            .used_by({"reads of streaming memory"});
        d.field("write_gbytes_per_s", &StreamingSpec::write_gbytes_per_s)
            .unit("GB/s")
            .range(0.001, 100000)
            .says("from one chip into streaming memory")
            .from(kSource)
            .unused_with("streaming.capacity_bytes", {0})
            .used_by({"writes to streaming memory"});
        d.field("shared_rate", &StreamingSpec::shared_rate)
            .says("reads and writes take turns; otherwise each has its own rate")
            .from(kSource)
            .unused_with("streaming.capacity_bytes", {0})
            .used_by({"reads of streaming memory", "writes to streaming memory"});
        d.field("latency_us", &StreamingSpec::latency_us)
            .unit("us")
            .range(0, 1e6)
            .says("what a copy of no bytes would take, its barrier with the gateway included")
            .from(kSource)
            .unused_with("streaming.capacity_bytes", {0})
            .used_by({"reads of streaming memory", "writes to streaming memory"});
        d.field("request_bytes", &StreamingSpec::request_bytes)
            .unit("B")
            .range(4, 1 << 20)
            .says("least that a request moves; a piece of a copy is whole requests")
            .from(kSource)
            .unused_with("streaming.capacity_bytes", {0})
            .used_by({"reads of streaming memory", "writes to streaming memory"});
        d.field("machine_gbytes_per_s", &StreamingSpec::machine_gbytes_per_s)
            .unit("GB/s")
            .range(0.001, 100000)
            .says("each way, of the memory that the chips of a machine share")
            .from(kSource)
            .unused_with("streaming.capacity_bytes", {0})
            .used_by({"reads of streaming memory", "writes to streaming memory"});
        d.field("chips_sharing", &StreamingSpec::chips_sharing)
            .unit("chips")
            .range(1, 1024)
            .says("chips that use the memory at the same time; each has an equal part")
            .from(kSource)
            .unused_with("streaming.capacity_bytes", {0})
            .used_by({"reads of streaming memory", "writes to streaming memory"});
        d.field("capacity_bytes", &StreamingSpec::capacity_bytes)
            .unit("B")
            .range(0, std::int64_t{1} << 50)
            .says("a chip's part of streaming memory; 0: there is none")
            .from(kSource)
            .used_by({"reads of streaming memory", "writes to streaming memory"});
        d.field("copy_limit_bytes", &StreamingSpec::copy_limit_bytes)
            .unit("B")
            .range(4, std::int64_t{1} << 40)
            .says("the most that one copy moves")
            .from(kSource)
            .unused_with("streaming.capacity_bytes", {0})
            .used_by({"reads of streaming memory", "writes to streaming memory"});
    }
};

} // namespace tessera::spec
