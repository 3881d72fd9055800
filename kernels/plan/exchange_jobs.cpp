// SPDX-License-Identifier: MIT
#include "kernels/plan/exchange_jobs.h"

#include "models/isa/exchange_word.h"

#include <algorithm>

namespace tessera::plan {

unsigned JobList::ctl(const Job& job, bool as_wide) const {
    const bool several = job.receivers > (as_wide ? 2U : 1U);
    return (several ? 3U : receivers[job.first_receiver].direction) |
           (as_wide ? isa::kWideItems : 0U);
}

JobList make_jobs(const timing::ExchangeTiming& timing,
                  std::span<const program::Transfer> transfers,
                  std::span<const timing::TransferRun> runs) {
    const TileId pair_bit = timing.grid().pair_bit();
    JobList list;
    list.jobs.reserve(runs.size());
    list.receivers.reserve(runs.size());
    for (const auto& run : runs) {
        const auto& transfer = transfers[run.first];
        const auto from = transfer.source_tile;
        list.jobs.push_back(
            {from, transfer.source_address, static_cast<std::uint32_t>(run.bytes / 4),
             static_cast<std::uint32_t>(list.receivers.size()),
             static_cast<std::uint32_t>(transfer.destinations.size()), transfer.paired, run.wide});
        for (const auto& to : transfer.destinations) {
            const auto way = timing.way(from, to.tile);
            const auto own = way.mux_offset;
            const auto early =
                run.wide ? std::min(own, timing.mux_offset(from, to.tile ^ pair_bit)) : own;
            list.receivers.push_back({to.tile, to.address, static_cast<std::int32_t>(own),
                                      static_cast<std::int16_t>(early),
                                      static_cast<std::uint8_t>(way.direction)});
        }
    }
    return list;
}

} // namespace tessera::plan
