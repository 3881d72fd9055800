// SPDX-License-Identifier: MIT
// The ports of a chip in cycles of its clock: pure functions over the spec.
//
//   a copy alone = latency + max(bytes of its requests / rate, bytes of its busiest tile / lane)
//
// Source: docs/evidence.md#streaming-memory, docs/evidence.md#host-link
#pragma once

#include "base/units.h"
#include "models/spec/machine_spec.h"

#include <algorithm>
#include <cmath>

namespace tessera::timing {

struct PortTiming {
    double read_bytes_per_cycle = 1; ///< into tiles
    double write_bytes_per_cycle = 1;
    Cycles latency_cycles = 0;
    Bytes request_bytes = 4;
    bool shared_rate = false; ///< reads and writes take turns
    Bytes lane_bytes = 4;     ///< a cycle of a tile's lane, each way

    /// What a piece of `bytes` costs the port.
    [[nodiscard]] Bytes requested_bytes(Bytes bytes) const {
        return (bytes + request_bytes - 1) / request_bytes * request_bytes;
    }
    /// Cycles for which a copy holds the port.
    [[nodiscard]] Cycles service_cycles(bool read, Bytes requested, Bytes busiest_tile) const {
        const double rate = read ? read_bytes_per_cycle : write_bytes_per_cycle;
        const auto port = static_cast<Cycles>(std::ceil(static_cast<double>(requested) / rate));
        return std::max(port, (busiest_tile + lane_bytes - 1) / lane_bytes);
    }
};

[[nodiscard]] inline double bytes_per_cycle(const spec::MachineSpec& machine, double gbytes_per_s) {
    return gbytes_per_s * 1e9 / machine.chip.clock_hz;
}

[[nodiscard]] inline Cycles cycles_of_us(const spec::MachineSpec& machine, double microseconds) {
    return std::llround(microseconds * 1e-6 * machine.chip.clock_hz);
}

[[nodiscard]] inline PortTiming streaming_port(const spec::MachineSpec& machine) {
    const auto& streaming = machine.streaming;
    const double share =
        streaming.machine_gbytes_per_s / static_cast<double>(streaming.chips_sharing);
    return {bytes_per_cycle(machine, std::min(streaming.read_gbytes_per_s, share)),
            bytes_per_cycle(machine, std::min(streaming.write_gbytes_per_s, share)),
            cycles_of_us(machine, streaming.latency_us),
            streaming.request_bytes,
            streaming.shared_rate,
            4 * machine.exchange.lane_items()};
}

[[nodiscard]] inline PortTiming host_port(const spec::MachineSpec& machine) {
    const auto& host = machine.host;
    return {bytes_per_cycle(machine, host.read_gbytes_per_s),
            bytes_per_cycle(machine, host.write_gbytes_per_s),
            cycles_of_us(machine, host.latency_us),
            host.request_bytes,
            false,
            4 * machine.exchange.lane_items()};
}

} // namespace tessera::timing
