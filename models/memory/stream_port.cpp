// SPDX-License-Identifier: MIT
#include "models/memory/stream_port.h"

#include "base/error.h"

namespace tessera::memory {

StreamPort::StreamPort(const sc_core::sc_module_name& name, timing::LinkTiming timing,
                       const sc_core::sc_time& cycle_period)
    : sc_module(name), out_end("out_end"), link_(timing), cycle_period_(cycle_period) {
    SC_HAS_PROCESS(StreamPort);
    SC_METHOD(on_end);
    sensitive << ev_end_;
    dont_initialize();
}

StreamTimes StreamPort::begin(const StreamDemand& demand) {
    return link_.begin(now(), demand);
}

void StreamPort::tell_at(Cycles cycle) {
    TESSERA_ASSERT(cycle >= now());
    ev_end_.notify(sc_core::sc_time::from_value(
        cycle_period_.value() * static_cast<sc_core::sc_time::value_type>(cycle - now())));
}

void StreamPort::on_end() {
    out_end->stream_ended();
}

Cycles StreamPort::now() const {
    return static_cast<Cycles>(sc_core::sc_time_stamp().value() / cycle_period_.value());
}

} // namespace tessera::memory
