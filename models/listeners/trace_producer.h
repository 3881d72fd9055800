// SPDX-License-Identifier: MIT
// Turns the events of a run into those of a trace: the critical path as the machine's track, own
// work and wait of each traced tile, one span a worker launch of each traced context, the links,
// and the two counters.
#pragma once

#include "base/units.h"
#include "models/events/events.h"
#include "models/listeners/background.h"
#include "models/program/program.h"
#include "traces/event.h"

#include <span>
#include <unordered_map>
#include <vector>

namespace tessera::listeners {

class TraceProducer final : public events::Listener {
public:
    /// Interns the names of all steps and symbols in `names`. `sink` outlives the producer.
    TraceProducer(const program::Program& program, std::int64_t tiles, traces::TraceSink& sink,
                  traces::NameTable& names);

    void segment(const events::Segment& segment) override;
    void released(const events::Release& release) override;
    void moved(const events::Moved& moved) override;
    void copy_begun(const events::Flight& flight) override;
    void copy_ended(const events::Flight& flight) override;
    [[nodiscard]] bool wants_contexts(TileId tile) const override {
        return sink_.wants(traces::worker_track(tile, 0));
    }

private:
    /// A step's name, and the word of its role.
    struct Label {
        traces::NameId name = traces::kUnnamed;
        traces::NameId role = traces::kUnnamed;
    };
    /// A change of the number of tiles that compute.
    struct Change {
        Cycles cycle = 0;
        int by = 0;
    };
    [[nodiscard]] Label label_of(const events::Span& span) const;
    void tile_span(TileId tile, traces::Kind kind, traces::NameId name, Cycles begin, Cycles end);
    void wait(TileId tile, Cycles begin, Cycles end);
    void contexts(const events::Segment& segment);
    void take(TileId tile, const events::Span& span);
    void machine_span(const events::PathSpan& part);
    void slowest_span(const events::PathSpan& part);
    void active_tiles();
    void sample(traces::Counter counter, Cycles cycle, std::int64_t value);

    traces::TraceSink& sink_;
    std::vector<Label> compute_sets_;
    std::vector<Label> exchanges_;
    std::vector<Label> streams_;
    Label control_;
    Label told_;
    std::unordered_map<Address, traces::NameId> name_of_entry_;
    std::vector<Cycles> arrived_;      ///< by tile: how far its track goes
    std::vector<Change> changes_;      ///< since the last release
    std::vector<events::Moved> moved_; ///< by exchange, its last execution
    /// What all tiles together have done of a step.
    struct Execution {
        TileId slowest_tile = 0;
        Cycles slowest_cycles = -1;
        Cycles tile_cycles = 0; ///< of all tiles
        events::Work work;      ///< of all tiles; the bound is that of the busiest
    };
    std::vector<Execution> executions_; ///< by step since the last release
    std::int64_t first_step_ = 0;       ///< of executions_
    Background background_;
};

} // namespace tessera::listeners
