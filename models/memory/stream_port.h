// SPDX-License-Identifier: MIT
// A link out of the chip on the SystemC timeline: streaming memory, or the host.
//
//   begin(demand) -> when its data will be there;   tell_at(cycle) --> out_end->stream_ended()
//
// Ports: out_end, told at the cycle that tell_at() names.
// Timing: core/stream_link.h. Not modelled: what is behind the link besides its rate and latency.
// Source: docs/evidence.md#streaming-memory, docs/evidence.md#host-link
#pragma once

#include "models/memory/core/stream_link.h"

#include <systemc>

namespace tessera::memory {

/// Who waits for a stream.
class StreamEnd : public virtual sc_core::sc_interface {
public:
    virtual void stream_ended() = 0;
};

class StreamPort : public sc_core::sc_module {
public:
    sc_core::sc_port<StreamEnd> out_end;

    StreamPort(const sc_core::sc_module_name& name, timing::LinkTiming timing,
               const sc_core::sc_time& cycle_period);

    /// A copy begins in this cycle.
    StreamTimes begin(const StreamDemand& demand);
    /// Somebody waits for `cycle`, which is not past. One at a time.
    void tell_at(Cycles cycle);

    [[nodiscard]] const timing::LinkTiming& timing() const { return link_.timing(); }

private:
    void on_end();
    [[nodiscard]] Cycles now() const;

    StreamLink link_;
    sc_core::sc_time cycle_period_;
    sc_core::sc_event ev_end_;
};

} // namespace tessera::memory
