// SPDX-License-Identifier: MIT
// From placed messages to what each tile does in order, and to its row.
#pragma once

#include "kernels/plan/exchange_rows.h"
#include "kernels/plan/exchange_schedule.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"
#include "models/timing/exchange_latency.h"

#include <cstdint>
#include <vector>

namespace tessera::plan {

/// Writes the rows of a schedule. The references outlive it.
class RowMaker {
public:
    RowMaker(const spec::MachineSpec& machine, const timing::ExchangeTiming& timing,
             const JobList& list, const ExchangeSchedule& schedule);

    /// Rows of all tiles that have something to do, addresses 0, ascending tiles.
    [[nodiscard]] std::vector<program::ExchangeRow> rows();

private:
    /// A message at one receiver, by its mux.
    struct Run {
        std::uint32_t mux_first = 0;
        std::uint32_t items = 0;
        TileId source = 0;
        Address address = 0;
        std::uint8_t direction = 0;
        bool wide = false;
        bool late = false;

        [[nodiscard]] std::uint32_t mux_end() const { return mux_first + items; }
    };

    void divide_by_tile();
    void add_send(const RowSend& send);
    void add_sends(TileId tile);
    void add_controls(TileId tile);
    void add_run(TileId tile, const Run& run, const Run* before, const Run* after);
    void merge_controls();

    const spec::MachineSpec& machine_;
    const timing::ExchangeTiming& timing_;
    const JobList& list_;
    const ExchangeSchedule& schedule_;
    std::uint32_t neutral_;
    // Of tile 0, then of tile 1, ...; in no order of time.
    std::vector<RowSend> all_sends_;
    std::vector<std::size_t> sends_begin_;
    std::vector<Run> all_runs_;
    std::vector<std::size_t> runs_begin_;
    // Of the tile at hand, in order of time.
    std::vector<std::uint64_t> keys_;
    std::vector<std::uint64_t> scratch_;
    std::vector<Run> runs_;
    std::vector<RowSend> sorted_sends_;
    std::vector<RowSend> row_sends_; ///< joined where they continue each other
    std::vector<RowControl> muxes_;
    std::vector<RowControl> pointers_;
    std::vector<RowControl> controls_;
};

} // namespace tessera::plan
