// SPDX-License-Identifier: MIT
// The run of docs/four_tiles.md, by hand: the plan, the machine's parameters and the rules, and
// nothing that has been simulated.
//   exchange = prologue + row events + return; the sender's row ends with its last word, a
//              receiver's row_tail_cycles behind its last arrival
//   compute  = control step + stub (tests/system/by_hand.h)
//   cycles   = sync + longest exchange + longest compute
#pragma once

#include "base/units.h"
#include "kernels/workload/workload.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"
#include "models/timing/exchange_latency.h"
#include "tests/system/by_hand.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::test {

/// `path=value` of machine parameters, as for --set.
using Overrides = std::vector<std::string>;

/// What `tessera run four_tiles --machine tiny <options>` writes to stdout.
[[nodiscard]] std::string output_of(const std::string& options, const Overrides& overrides);

/// What one tile does in the run.
struct TileSheet {
    by_hand::SupervisorPath stub;
    Cycles row_events = 0;
    Cycles exchange = 0; ///< with the prologue and the return
    Cycles compute = 0;  ///< with the control step
};

class Paper {
public:
    explicit Paper(const Overrides& overrides);

    /// The one message of the run.
    [[nodiscard]] const program::Transfer& transfer() const {
        return program.exchanges[0].transfers[0];
    }
    [[nodiscard]] std::int64_t words() const { return transfer().bytes / 4; }

    /// Events that the sender waits, so that no receiver's mux turns before its row's first event.
    [[nodiscard]] Cycles wait_events() const;
    /// What the data of worker `worker`, launched on `entry`, decides.
    [[nodiscard]] by_hand::WorkerChoices choices(TileId tile, Address entry,
                                                 std::int64_t worker) const;

    [[nodiscard]] Cycles slowest(Cycles TileSheet::*part) const;
    [[nodiscard]] Cycles sum(Cycles TileSheet::*part) const;
    [[nodiscard]] std::int64_t worker_issues(TileId tile) const;
    [[nodiscard]] std::int64_t supervisor_issues(TileId tile) const {
        return static_cast<std::int64_t>(tiles[tile].stub.path.size());
    }
    /// The tile whose row and stub take longest together; the lowest number of equals.
    [[nodiscard]] TileId critical() const;
    [[nodiscard]] Cycles idle(TileId tile) const;
    [[nodiscard]] Cycles cycles() const;

    spec::MachineSpec machine;
    workload::MatmulWorkload workload;
    program::Program program;
    timing::ExchangeTiming timing;
    std::vector<by_hand::Listing> listings; ///< one a tile
    std::vector<TileSheet> tiles;

private:
    [[nodiscard]] std::int64_t share_of(std::int64_t units, std::int64_t worker) const;
    [[nodiscard]] Cycles row_events_of(TileId tile) const;
    [[nodiscard]] TileSheet sheet(TileId tile) const;
};

} // namespace tessera::test
