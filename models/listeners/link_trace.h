// SPDX-License-Identifier: MIT
// Turns what goes between chips into a trace: for each link exchange a span of what a chip sends to another
// one, a span of what comes there, and a flow from one to the other; bytes on edges by time.
#pragma once

#include "base/units.h"
#include "models/events/link_events.h"
#include "models/program/system_program.h"
#include "traces/event.h"

#include <cstdint>
#include <vector>

namespace tessera::listeners {

class LinkTrace final : public events::LinkListener {
public:
    /// Interns the names of all link exchanges in `names`. `sink` outlives the object.
    LinkTrace(const program::SystemProgram& system, traces::TraceSink& sink,
              traces::NameTable& names);

    void carried(const events::Carried& carried) override;
    /// So many bytes began to go over the edge in [begin, end): of each edge in order of time. A run ends
    /// at `run_end`.
    void edge(std::int64_t from, std::int64_t to, Cycles begin, Cycles end, Bytes bytes,
              Cycles run_end);
    /// Behind the last call of edge().
    void end_edges();

private:
    void edge_sample(Cycles cycle, Bytes bytes);

    traces::TraceSink& sink_;
    std::vector<std::vector<traces::NameId>> names_;           ///< by chip and link exchange
    std::int64_t flows_;                                       ///< the number of the last one
    traces::CounterSample sample_{traces::Counter::EdgeBytes}; ///< the last one of the edge
    Cycles edge_end_ = -1; ///< of the edge's last interval; -1: there has been none
};

} // namespace tessera::listeners
