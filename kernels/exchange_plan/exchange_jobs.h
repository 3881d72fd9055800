// SPDX-License-Identifier: MIT
// The messages of an exchange, ready for scheduling: transfers joined where they continue each
// other, with the offsets of their receivers.
#pragma once

#include "base/units.h"
#include "models/program/program.h"
#include "models/timing/exchange_bound.h"
#include "models/timing/exchange_latency.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::exchange_plan {

/// One tile that takes a message. In a wide message both members of a pair are listed; both go by
/// the mux offset of the early member, the one with the smaller offset, which alone sets a mux.
struct Receiver {
    TileId tile = 0;
    Address address = 0;
    std::int32_t mux_offset = 0;   ///< T of this tile
    std::int16_t early_offset = 0; ///< T of the early member of its pair; of use to wide messages
    std::uint8_t direction = 0;    ///< of the bus; the format value of a wide message

    [[nodiscard]] Cycles offset(bool wide) const { return wide ? early_offset : mux_offset; }
    [[nodiscard]] bool late() const { return early_offset < mux_offset; }
};

/// One message from one tile to all its receivers at once.
struct Job {
    TileId source = 0;
    Address address = 0;
    std::uint32_t words = 0;
    std::uint32_t first_receiver = 0;
    std::uint32_t receivers = 0;
    bool paired = false; ///< asks for double width
    bool wide = false;   ///< and may have it

    [[nodiscard]] std::int64_t items(bool as_wide) const { return as_wide ? words / 2 : words; }
    [[nodiscard]] static Bytes item_bytes(bool as_wide) { return as_wide ? 8 : 4; }
};

struct JobList {
    timing::LaneTiming lane;
    std::vector<Job> jobs;
    std::vector<Receiver> receivers; ///< of the first job, then of the second, ...

    explicit JobList(const timing::LaneTiming& of_chip) : lane(of_chip) {}

    /// That the message takes on a lane.
    [[nodiscard]] Cycles events(const Job& job, bool as_wide) const {
        return lane.events(job.items(as_wide));
    }

    [[nodiscard]] std::span<const Receiver> of(const Job& job) const {
        return {receivers.data() + job.first_receiver, job.receivers};
    }
    /// Direction and width of the message as its send says it.
    [[nodiscard]] unsigned ctl(const Job& job, bool as_wide) const;
};

[[nodiscard]] JobList make_jobs(const timing::ExchangeTiming& timing,
                                std::span<const program::Transfer> transfers,
                                std::span<const timing::TransferRun> runs);

} // namespace tessera::exchange_plan
