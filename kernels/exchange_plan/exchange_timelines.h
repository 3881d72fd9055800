// SPDX-License-Identifier: MIT
// From placed messages to what each tile does in order, and to its row.
#pragma once

#include "kernels/exchange_plan/exchange_rows.h"
#include "kernels/exchange_plan/exchange_schedule.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"
#include "models/timing/exchange_latency.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tessera::exchange_plan {

/// A message at one receiver, by its mux.
struct ReceiveRun {
    std::uint32_t mux_first = 0;
    std::uint32_t items = 0;
    TileId source = 0;
    Address address = 0;
    std::uint8_t direction = 0;
    bool wide = false;
    bool late = false;

    [[nodiscard]] std::uint32_t mux_end(const timing::LaneTiming& lane) const {
        return mux_first + static_cast<std::uint32_t>(lane.events(items));
    }
};

/// What a schedule asks of each tile, in no order of time.
class Timelines {
public:
    /// The references outlive it.
    Timelines(const spec::MachineSpec& machine, const timing::ExchangeTiming& timing,
              const JobList& list, const Schedule& schedule);

    [[nodiscard]] std::span<const RowSend> sends(TileId tile) const {
        return {sends_.data() + sends_begin_[tile], sends_.data() + sends_begin_[tile + 1]};
    }
    [[nodiscard]] std::span<const ReceiveRun> runs(TileId tile) const {
        return {runs_.data() + runs_begin_[tile], runs_.data() + runs_begin_[tile + 1]};
    }
    /// Rows of all tiles that have something to do, addresses 0, ascending tiles. Tiles are shared
    /// out among host threads.
    [[nodiscard]] std::vector<program::ExchangeRow> rows() const;

private:
    void divide_sends(const JobList& list);
    void divide_runs(const JobList& list);

    const spec::MachineSpec& machine_;
    const timing::ExchangeTiming& timing_;
    const Schedule& schedule_;
    // Of tile 0, then of tile 1, ...
    std::vector<RowSend> sends_;
    std::vector<std::size_t> sends_begin_;
    std::vector<ReceiveRun> runs_;
    std::vector<std::size_t> runs_begin_;
};

} // namespace tessera::exchange_plan
