// SPDX-License-Identifier: MIT
// The links between chips in cycles of a chip's clock: pure functions over the spec.
//
//   a link is held for ticks(payload + overhead) / kTicksPerCycle cycles by each packet
//
// Source: docs/evidence.md#links
#pragma once

#include "base/ceil_div.h"
#include "base/units.h"
#include "models/spec/machine_spec.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tessera::timing {

/// Every time is rounded to whole cycles once, here; a link's rate is kept in ticks, parts of a cycle,
/// so that the packets of a busy link follow each other at its rate.
struct LinkTiming {
    static constexpr std::int64_t kTicksPerCycle = std::int64_t{1} << 20U;

    Cycles rail_hop_cycles = 1; ///< from a packet's last byte on the link to the next chip
    Cycles rung_hop_cycles = 1; ///< over a rung, and over each edge where all chips are joined
    Cycles turn_cycles = 0;
    Cycles block_cycles = 0;
    Bytes payload_bytes = 4; ///< the most that a packet carries
    Bytes overhead_bytes = 0;
    Bytes lane_bytes = 4;            ///< a cycle of a context, each way
    std::int64_t buffer_packets = 0; ///< of a link's far end, and of a context's block; 0: endless
    std::int64_t contexts = 1;
    std::int64_t tiles_per_context = 1;
    std::int64_t ticks_per_byte = kTicksPerCycle; ///< of one link

    [[nodiscard]] std::int64_t context_of(std::int64_t tile) const {
        return tile / tiles_per_context;
    }
    [[nodiscard]] std::int64_t packets(Bytes message) const {
        return ceil_div(message, payload_bytes);
    }
    /// Bytes of a message and of the overheads of its packets.
    [[nodiscard]] Bytes with_overhead(Bytes message) const {
        return message + packets(message) * overhead_bytes;
    }
    [[nodiscard]] std::int64_t ticks(Bytes bytes) const { return bytes * ticks_per_byte; }
    [[nodiscard]] Cycles lane_cycles(Bytes bytes) const { return ceil_div(bytes, lane_bytes); }
};

[[nodiscard]] inline LinkTiming link_timing(const spec::MachineSpec& machine) {
    const auto& links = machine.system.links;
    const double hz = machine.chip.clock_hz;
    const auto cycles = [hz](double ns) {
        return static_cast<Cycles>(std::llround(ns * 1e-9 * hz));
    };
    LinkTiming timing;
    timing.rail_hop_cycles = cycles(links.hop_ns);
    timing.rung_hop_cycles = cycles(links.rung_hop_ns);
    timing.turn_cycles = links.turn_cycles;
    timing.block_cycles = links.block_cycles;
    timing.payload_bytes = links.payload_bytes;
    timing.overhead_bytes = links.overhead_bytes;
    timing.buffer_packets = links.buffer_packets;
    timing.tiles_per_context = ceil_div(machine.chip.tiles, links.contexts);
    timing.contexts = ceil_div(machine.chip.tiles, timing.tiles_per_context);
    timing.ticks_per_byte = std::max<std::int64_t>(
        1, std::llround(LinkTiming::kTicksPerCycle * hz / (links.gbytes_per_s * 1e9)));
    return timing;
}

} // namespace tessera::timing
