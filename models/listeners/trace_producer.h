// SPDX-License-Identifier: MIT
// Turns the events of a run into those of a trace: the critical path as the machine's track, own
// work and wait of each traced tile, one span a worker launch of each traced context, the links,
// a flow to every barrier from the tile that came last, and the counters.
#pragma once

#include "base/units.h"
#include "models/events/events.h"
#include "models/listeners/background.h"
#include "models/listeners/executions.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"
#include "traces/event.h"

#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tessera::listeners {

class TraceProducer final : public events::Listener {
public:
    /// Interns the names of all steps and symbols in `names`. `sink` outlives the producer. Chips of a
    /// simulation may share both: `chip` is the number of the one that this listens to.
    TraceProducer(const program::Program& program, const spec::MachineSpec& machine,
                  traces::TraceSink& sink, traces::NameTable& names, std::uint32_t chip = 0);

    void segment(const events::Segment& segment) override;
    void released(const events::Release& release) override;
    void moved(const events::Moved& moved) override;
    void linked(const events::Linked& linked) override;
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
    /// A symbol of a codelet.
    struct Entry {
        Address address = 0;
        traces::NameId name = traces::kUnnamed;
    };
    /// A change of the number of tiles that compute.
    struct Change {
        Cycles cycle = 0;
        int by = 0;
    };
    [[nodiscard]] Label label_of(const events::Span& span) const;
    void name_entries(const program::Program& program, traces::NameTable& names);
    void find_memory(const program::Program& program);
    [[nodiscard]] traces::NameId name_of(Address entry);
    void tile_span(TileId tile, traces::Kind kind, traces::NameId name, Cycles begin, Cycles end,
                   std::int64_t times);
    void wait(TileId tile, Cycles begin, Cycles end, std::int64_t times);
    void contexts(const events::Segment& segment);
    void flush(TileId tile);
    void machine_span(const events::PathSpan& part);
    void slowest_span(const events::PathSpan& part, traces::Flow flow);
    void active_tiles();
    void memory(const events::PathSpan& part);
    void words_until(Cycles cycle);
    void sample(traces::Counter counter, Cycles cycle, std::int64_t value);
    void send(traces::Span span);

    traces::TraceSink& sink_;
    std::uint32_t chip_;
    double steps_per_issue_; ///< of the matrix unit
    std::vector<Label> compute_sets_;
    std::vector<Label> exchanges_;
    std::vector<Label> streams_;
    std::vector<Label> links_;
    Label control_;
    Label told_;
    std::vector<Entry> entries_; ///< ascending; where no codelet is, unnamed
    std::unordered_map<Address, traces::NameId> name_of_entry_; ///< of those seen, and of stubs
    std::vector<Cycles> arrived_;                               ///< by tile: how far its track goes
    std::vector<traces::Span> last_; ///< by traced tile: what is not sent yet
    std::int64_t flows_;             ///< the number of the last one
    std::vector<Change> changes_;    ///< since the last release
    /// Bytes kept on the fullest tile in each compute set and exchange, and what was told last.
    std::vector<Bytes> memory_of_set_;
    std::vector<Bytes> memory_of_exchange_;
    Bytes memory_ = -1;
    std::int64_t words_ = 0;
    std::vector<std::pair<Cycles, Bytes>> arriving_; ///< not yet in words_: when, how much
    std::vector<events::Moved> moved_;               ///< by exchange, its last execution
    std::vector<events::Linked> linked_;             ///< the same by link exchange
    Executions executions_;
    Background background_;
};

} // namespace tessera::listeners
