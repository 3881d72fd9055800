// SPDX-License-Identifier: MIT
// Where the cycles of a run went: the machine's phases, which are those of its critical path, and
// for every tile six numbers that sum to the run.
//
// Law: compute + exchange + sync + stream + link + idle = cycles, for every tile.
#pragma once

#include "base/units.h"
#include "models/counts/counts.h"
#include "models/events/events.h"
#include "models/listeners/background.h"
#include "models/listeners/executions.h"
#include "models/program/program.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::listeners {

/// Cycles by kind: of the machine's phases (idle is what its chip begins later) or of one tile.
struct CyclesByKind {
    Cycles compute = 0;
    Cycles exchange = 0;
    Cycles sync = 0;
    Cycles stream = 0;
    Cycles link = 0;
    Cycles idle = 0;

    [[nodiscard]] Cycles sum() const { return compute + exchange + sync + stream + link + idle; }
};

/// What a tile had of the critical path.
struct PathShare {
    TileId tile = 0;
    Cycles cycles = 0;
    std::int64_t parts = 0; ///< into which they are divided
};

/// What a tile that takes part does on the mean, summed over executions.
struct TileMeans {
    double cycles = 0;
    double busiest_worker = 0; ///< of each launch its busiest worker
    double mean_worker = 0;
    double launches = 0;
    double fuller_lane = 0; ///< exchanges: cycles in which it moved words
};

/// The same, of all tiles together, over executions in which as many took part: whole numbers, so that
/// executions that are told as one give the mean that they give one by one.
struct TileSums {
    std::int64_t tiles = 0;
    Cycles cycles = 0;
    Cycles busiest_worker = 0;
    Cycles mean_worker = 0;
    std::int64_t launches = 0;
    Cycles fuller_lane = 0;
    TileMeans before; ///< of executions in which others took part
};

/// What the critical path did in a step, over all its executions.
struct PathWork {
    events::Work work;      ///< the launch: of all of them the most uneven
    TileId uneven_tile = 0; ///< whose it is
    Cycles lane_in = 0;     ///< exchanges: cycles in which the incoming lane moved words
    Cycles lane_out = 0;
    Cycles bound_cycles =
        0; ///< fewest cycles in which this could have been done; at most those taken
};

/// One compute set, exchange, stream copy or link exchange over all its executions.
struct StepRecord {
    std::string name;
    program::Role role = program::Role::Work;
    std::int64_t executions = 0;
    Cycles cycles = 0;         ///< of the run: the step's part of the critical path
    Cycles slowest_cycles = 0; ///< sum over executions of the slowest tile
    Cycles bound_cycles = 0; ///< fewest cycles in which the busiest tile can do its issues or words
    Bytes bytes = 0;         ///< delivered by an exchange or a stream copy
    Bytes sent_bytes = 0;    ///< put on lanes; a multicast counts once each time it is sent
    std::int64_t active_tiles = 0;      ///< of the last execution
    TileId slowest_tile = 0;            ///< of the last execution; the lowest number of equals
    std::vector<Cycles> tile_cycles;    ///< by tile, sum over executions
    counts::Counts counts;              ///< over all tiles and executions
    std::vector<Cycles> busiest_worker; ///< by tile, of each launch its busiest worker, summed
    std::vector<Cycles> mean_worker;    ///< by tile, of all launches the mean worker, summed
    TileMeans mean;
    TileSums sums;               ///< of which `mean` is made
    std::vector<PathShare> path; ///< whose `cycles` are, ascending by tile
    PathWork critical;           ///< what was done in `cycles`
    Cycles transfer_cycles =
        0; ///< stream copies and link exchanges: from start to end, waited for or not
    std::string bound_by = {}; ///< link exchanges: what their bound is of, in the last execution
};

class Account final : public events::Listener {
public:
    Account(const program::Program& program, std::int64_t tiles);

    void segment(const events::Segment& segment) override;
    void released(const events::Release& release) override;
    void moved(const events::Moved& moved) override;
    void linked(const events::Linked& linked) override;
    void copy_begun(const events::Flight& flight) override;
    void copy_ended(const events::Flight& flight) override;

    /// Cycles of the critical path that belong to no step: of the control program itself and of
    /// words that it is told. In phases().compute and .exchange.
    [[nodiscard]] Cycles control_cycles() const { return control_cycles_; }
    [[nodiscard]] Cycles cycles() const { return phases_.sum(); }
    /// The counts of all steps, with those outside steps: barriers of syncs and of sent decisions.
    [[nodiscard]] counts::Counts counts() const;
    [[nodiscard]] const CyclesByKind& phases() const { return phases_; }
    [[nodiscard]] const std::vector<CyclesByKind>& tiles() const { return tiles_; }
    /// Whose the critical path was, but for barriers; ascending by tile.
    [[nodiscard]] const std::vector<PathShare>& path() const { return path_; }
    [[nodiscard]] const std::vector<StepRecord>& compute_sets() const { return compute_sets_; }
    [[nodiscard]] const std::vector<StepRecord>& exchanges() const { return exchanges_; }
    [[nodiscard]] const std::vector<StepRecord>& streams() const { return streams_; }
    /// Link exchanges.
    [[nodiscard]] const std::vector<StepRecord>& links() const { return links_; }

private:
    struct Service {
        std::uint32_t copy = 0;
        Cycles begin = 0;
        Cycles end = 0;
    };
    void take(TileId tile, const events::Span& span);
    void take_path(StepRecord& record, const events::PathSpan& part) const;
    [[nodiscard]] StepRecord* record_of(events::Doing doing, std::uint32_t index);
    void add(const Execution& done);
    void idle(TileId tile, Cycles begin, Cycles end);

    CyclesByKind phases_;
    Cycles control_cycles_ = 0;
    std::int64_t barriers_ = 0; ///< but for the end of the program
    std::vector<CyclesByKind> tiles_;
    std::vector<Cycles> arrived_; ///< by tile: how far it has come
    std::vector<StepRecord> compute_sets_;
    std::vector<StepRecord> exchanges_;
    std::vector<StepRecord> streams_;
    std::vector<StepRecord> links_;
    std::vector<Cycles> link_bounds_; ///< by link exchange, of its last execution
    std::vector<PathShare> path_;
    std::vector<Service> services_; ///< of stream copies, since the last release
    Executions executions_;
    Background background_;
};

} // namespace tessera::listeners
