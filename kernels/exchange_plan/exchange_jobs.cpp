// SPDX-License-Identifier: MIT
#include "kernels/exchange_plan/exchange_jobs.h"

#include "models/isa/exchange_word.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>

namespace tessera::exchange_plan {

namespace {

/// That one host thread takes: fewer are not worth the handing out.
constexpr std::size_t kRunsAtATime = 4096;

} // namespace

unsigned JobList::ctl(const Job& job, bool as_wide) const {
    const bool several = job.receivers > (as_wide ? 2U : 1U);
    return (several ? isa::kDirections : receivers[job.first_receiver].direction) |
           (as_wide ? isa::kWideItems : 0U);
}

JobList make_jobs(const timing::ExchangeTiming& timing,
                  std::span<const program::Transfer> transfers,
                  std::span<const timing::TransferRun> runs) {
    const TileId pair_bit = timing.grid().pair_bit();
    std::vector<std::uint32_t> first_receiver(runs.size() + 1);
    for (std::size_t i = 0; i < runs.size(); ++i)
        first_receiver[i + 1] =
            first_receiver[i] +
            static_cast<std::uint32_t>(transfers[runs[i].first].destinations.size());
    JobList list{timing.lane()};
    list.jobs.resize(runs.size());
    list.receivers.resize(first_receiver.back());
    const auto make = [&](std::size_t i) {
        const auto& run = runs[i];
        const auto& transfer = transfers[run.first];
        const auto from = transfer.source_tile;
        list.jobs[i] = {from,
                        transfer.source_address,
                        static_cast<std::uint32_t>(run.bytes / 4),
                        first_receiver[i],
                        first_receiver[i + 1] - first_receiver[i],
                        transfer.paired,
                        run.wide};
        auto receiver = list.receivers.begin() + first_receiver[i];
        for (const auto& to : transfer.destinations) {
            const auto way = timing.way(from, to.tile);
            const auto own = way.mux_offset;
            const auto early =
                run.wide ? std::min(own, timing.mux_offset(from, to.tile ^ pair_bit)) : own;
            *receiver++ = {to.tile, to.address, static_cast<std::int32_t>(own),
                           static_cast<std::int16_t>(early),
                           static_cast<std::uint8_t>(way.direction)};
        }
    };
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, runs.size(), kRunsAtATime),
                      [&](const auto& part) {
                          for (auto i = part.begin(); i != part.end(); ++i)
                              make(i);
                      });
    return list;
}

} // namespace tessera::exchange_plan
