// SPDX-License-Identifier: MIT
// A port out of the chip as copies see it: one queue each way, or one for both.
//
//   copy 0  | requests ......... | latency |
//   copy 1        waits          | requests ... | latency |
//
// Timing: a copy holds its queue for PortTiming::service_cycles, in the order of the starts; its
// data is there latency_cycles later. So copies that follow each other closely show the latency
// once. Not modelled: requests of several copies interleaved (docs/deviations.md).
// Source: docs/evidence.md#streaming-memory, docs/evidence.md#host-link
#pragma once

#include "base/units.h"
#include "models/timing/port_timing.h"

#include <algorithm>

namespace tessera::memory {

/// What a copy asks of a port.
struct StreamDemand {
    bool read = true;          ///< into tiles
    Bytes requested_bytes = 0; ///< whole requests
    Bytes busiest_tile_bytes = 0;
};

struct StreamTimes {
    Cycles service_begin = 0; ///< holds the port from here
    Cycles service_end = 0;   ///< to here
    Cycles end = 0;           ///< the data is there
};

class StreamPort {
public:
    explicit StreamPort(timing::PortTiming timing) : timing_(timing) {}

    /// A copy that begins at `now`; `now` never goes back.
    StreamTimes begin(Cycles now, const StreamDemand& demand) {
        Cycles& free = demand.read || timing_.shared_rate ? read_free_ : write_free_;
        StreamTimes times;
        times.service_begin = std::max(now, free);
        times.service_end =
            times.service_begin +
            timing_.service_cycles(demand.read, demand.requested_bytes, demand.busiest_tile_bytes);
        times.end = times.service_end + timing_.latency_cycles;
        free = times.service_end;
        return times;
    }

    [[nodiscard]] const timing::PortTiming& timing() const { return timing_; }

private:
    timing::PortTiming timing_;
    Cycles read_free_ = 0; ///< of both where they take turns
    Cycles write_free_ = 0;
};

} // namespace tessera::memory
