// SPDX-License-Identifier: MIT
// Turns phases into trace events: one span a phase of the machine, own work and wait of each traced
// tile, one span a worker launch of each traced context, and the two counters.
#pragma once

#include "base/units.h"
#include "models/ipu/core/account.h"
#include "models/program/program.h"
#include "models/tile/core/tile_core.h"
#include "traces/event.h"

#include <span>
#include <string>
#include <unordered_map>
#include <vector>

namespace tessera::ipu {

/// One phase of the machine.
struct Phase {
    traces::Kind kind = traces::Kind::Sync;
    traces::NameId name = traces::kUnnamed;
    traces::NameId role = traces::kUnnamed; ///< of a step of the program
    Cycles begin = 0;
    Cycles end = 0;
    Bytes bytes = 0;
    std::int64_t step = 0; ///< number of the step in order of execution
};

class TraceProducer {
public:
    /// Interns the names of all steps and symbols in `names`. `sink` outlives the producer.
    TraceProducer(const program::Program& program, std::int64_t tiles, traces::TraceSink& sink,
                  traces::NameTable& names);

    /// A step's name, and the word of its role.
    struct Label {
        traces::NameId name = traces::kUnnamed;
        traces::NameId role = traces::kUnnamed;
    };
    [[nodiscard]] Label compute_set(std::uint32_t index) const { return compute_sets_.at(index); }
    [[nodiscard]] Label exchange(std::uint32_t index) const { return exchanges_.at(index); }
    [[nodiscard]] Label stream(std::uint32_t index) const { return streams_.at(index); }
    [[nodiscard]] bool wants_contexts(TileId tile) const {
        return sink_.wants(traces::worker_track(tile, 0));
    }

    /// A phase in which the tiles of `shares` (ascending tiles) worked and all others waited, or
    /// streamed until the cycle that `streaming_until` has for them.
    void phase(const Phase& phase, std::span<const TileShare> shares,
               std::span<const Cycles> streaming_until);
    /// What a link out of the chip does.
    void link_span(traces::Track track, const Phase& phase);
    /// A barrier in which every tile takes part.
    void barrier(const Phase& phase);
    /// The contexts of one tile in a phase whose first slot was `slot0`.
    void contexts(TileId tile, Cycles slot0, std::span<const tile::ContextSpan> spans);

private:
    void machine_span(const Phase& phase, std::span<const TileShare> shares);
    void tile_spans(const Phase& phase, TileId tile, Cycles own_cycles, Cycles streaming_until);
    void tile_span(TileId tile, traces::Kind kind, traces::NameId name, Cycles begin, Cycles end);
    void sample(traces::Counter counter, Cycles cycle, std::int64_t value);

    traces::TraceSink& sink_;
    TileId tiles_;
    std::vector<Label> compute_sets_;
    std::vector<Label> exchanges_;
    std::vector<Label> streams_;
    std::unordered_map<Address, traces::NameId> name_of_entry_;
};

} // namespace tessera::ipu
