// SPDX-License-Identifier: MIT
// Where the cycles of a run went: the machine's phases, and for every tile five numbers that sum to
// the run.
//
// Law: compute + exchange + sync + stream + idle = cycles, for every tile.
#pragma once

#include "base/units.h"
#include "models/program/program.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::ipu {

/// Cycles by kind: of the machine's phases (idle is 0) or of one tile.
struct CyclesByKind {
    Cycles compute = 0;
    Cycles exchange = 0;
    Cycles sync = 0;
    Cycles stream = 0;
    Cycles idle = 0;

    [[nodiscard]] Cycles sum() const { return compute + exchange + sync + stream + idle; }
};

/// What one active tile spent of a phase.
struct TileShare {
    TileId tile = 0;
    Cycles cycles = 0; ///< with the tile's part of the control cost
};

/// One compute set, exchange or stream copy over all its executions.
struct StepRecord {
    std::string name;
    program::Role role = program::Role::Work;
    std::int64_t executions = 0;
    Cycles cycles = 0;       ///< sum over executions of the slowest tile
    Cycles bound_cycles = 0; ///< fewest cycles in which the busiest tile can do its issues or words
    Bytes bytes = 0;         ///< delivered by an exchange or a stream copy
    Bytes sent_bytes = 0;    ///< put on lanes; a multicast counts once each time it is sent
    std::int64_t active_tiles = 0;
    TileId slowest_tile = 0;         ///< of the last execution; the lowest number of equals
    std::vector<Cycles> tile_cycles; ///< by tile, sum over executions
    std::int64_t worker_issues = 0;  ///< compute sets only, all tiles
    std::int64_t worker_bundles = 0; ///< compute sets only, all tiles
    std::int64_t supervisor_instructions = 0; ///< compute sets only, all tiles
    Cycles transfer_cycles = 0; ///< stream copies only: from start to end, waited for or not
};

class Account {
public:
    Account(const program::Program& program, std::int64_t tiles);

    /// A compute or exchange phase that lasted `cycles`, at least as long as every share; tiles
    /// without a share (ascending) idled. Returns the step's record, for the caller to add what
    /// only it knows.
    StepRecord& compute_phase(std::uint32_t compute_set, Cycles cycles,
                              std::span<const TileShare> shares);
    StepRecord& exchange_phase(std::uint32_t exchange, Cycles cycles,
                               std::span<const TileShare> shares);
    /// The machine waits for a stream copy.
    StepRecord& stream_phase(std::uint32_t copy, Cycles cycles, std::span<const TileShare> shares);
    /// The bytes of a stream copy have arrived.
    void stream_arrived(std::uint32_t copy, Bytes bytes) { streams_.at(copy).bytes += bytes; }
    /// Where `tile` has nothing else to do until `end`, it streams.
    void streams_until(TileId tile, Cycles end);
    /// By tile; past or 0: it does not stream.
    [[nodiscard]] std::span<const Cycles> streaming_until() const { return streaming_until_; }
    /// A barrier in which every tile takes part.
    void sync_phase(Cycles cycles);
    /// The control program's own instructions, which every supervisor executes.
    void control_phase(Cycles cycles);
    /// One word from one tile to all of them, for a decision of the control program.
    void broadcast_phase(Cycles cycles);

    /// Cycles of control and broadcast phases: in phases().compute and .exchange, but of no step.
    [[nodiscard]] Cycles control_cycles() const { return control_cycles_; }
    [[nodiscard]] Cycles cycles() const { return phases_.sum(); }
    [[nodiscard]] const CyclesByKind& phases() const { return phases_; }
    [[nodiscard]] const std::vector<CyclesByKind>& tiles() const { return tiles_; }
    [[nodiscard]] const std::vector<StepRecord>& compute_sets() const { return compute_sets_; }
    [[nodiscard]] const std::vector<StepRecord>& exchanges() const { return exchanges_; }
    [[nodiscard]] const std::vector<StepRecord>& streams() const { return streams_; }

private:
    void all_tiles(Cycles CyclesByKind::*kind, Cycles cycles);
    void add(StepRecord& record, Cycles cycles, std::span<const TileShare> shares,
             Cycles CyclesByKind::*kind);
    /// Idle cycles in [begin, end) in which tiles stream.
    void stream_while_idle(Cycles begin, Cycles end, std::span<const TileShare> shares);

    CyclesByKind phases_;
    Cycles control_cycles_ = 0;
    std::vector<CyclesByKind> tiles_;
    std::vector<StepRecord> compute_sets_;
    std::vector<StepRecord> exchanges_;
    std::vector<StepRecord> streams_;
    std::vector<Cycles> streaming_until_;
    Cycles streaming_until_most_ = 0;
};

} // namespace tessera::ipu
