// SPDX-License-Identifier: MIT
// A tile: walks the control program by itself and meets others where that says so.
//
//   compute --> barrier: arrive .. released --> row of its own --> compute --> ...
//           --> stream ports: arrive .. ended -->
//
// Ports: is the Sleeper that others wake; barrier, fabric, streams (what it meets), alarm (when it
//   gets somewhere), witness (who is told what it did and why it stopped).
// Timing: it is where core/tile_walk.h says, in that cycle. It is woken twice a superstep: at the
//   release, and where it comes to next. Its first way begins with the run.
// Not modelled: anything between two stops; until the next one no other tile can see this one, so
//   the walk is computed ahead, in one call and on any host thread.
// Source: docs/models/ipu.md
#pragma once

#include "models/ports/ports.h"
#include "models/tile/core/tile_walk.h"

#include <systemc>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tessera::tile {

class Tile : public sc_core::sc_module, public ports::Sleeper {
public:
    sc_core::sc_port<ports::Barrier> barrier;
    sc_core::sc_port<ports::Fabric> fabric;
    sc_core::sc_port<ports::Streams, 1, sc_core::SC_ZERO_OR_MORE_BOUND> streams;
    sc_core::sc_port<ports::Alarm> alarm;
    sc_core::sc_port<ports::Witness> witness;

    /// `facts` outlive the tile.
    Tile(const sc_core::sc_module_name& name, const WalkFacts& facts, TileId tile);

    /// Gives the tile a core over `memory` (TileCore's conditions) and writes the image.
    /// @throws ProgramError if a segment is outside memory.
    void load(const program::Image& image, CodeCache& code, std::span<std::byte> memory);
    /// Timing mode: TileCore::set_audited(). Behind load().
    void set_audited(bool audited) { walk_.set_audited(audited); }
    void want_contexts(bool wanted) { walk_.want_contexts(wanted); }

    /// The host's part, on any host thread: computes the way to the next stop, if what the tile
    /// waits for has come. A tile that nobody does that for does it itself.
    /// `together`: with all others, who may pause at the same rounds.
    void compute_ahead(bool together = false);
    /// TileWalk::resume(), on any host thread.
    void resume(bool skips) { walk_.resume(skips); }
    /// TileWalk::skip_rounds().
    void skip_rounds(const program::Step& repeat, std::int64_t rounds, std::int64_t steps) {
        walk_.skip_rounds(repeat, rounds, steps);
    }
    /// TileWalk::end_round(), on any host thread.
    bool end_round(const program::Step& repeat) { return walk_.end_round(repeat); }
    /// TileWalk::forget_round(), on any host thread.
    void forget_round(const program::Step& repeat) { walk_.forget_round(repeat); }
    /// Whether it waits for that copy.
    [[nodiscard]] bool waits_for(std::uint32_t copy) const { return awaited_ == copy && !ahead_; }

    /// What it waited for has come: it goes on to where it meets or waits for others.
    void wake() override;
    /// Its part of a link exchange is over: the way on, on any host thread, before wake().
    void link_over() { compute_ahead(); }

    [[nodiscard]] const TileWalk& walk() const { return walk_; }

private:
    /// Acts on the stop that the tile has come to. Whether it goes on in this cycle.
    bool act();
    void tell();
    void fail();

    TileWalk walk_;
    bool begun_ = false;
    bool ahead_ = false;                   ///< the way to the next stop has been computed
    std::optional<std::uint32_t> awaited_; ///< the copy whose end it waits for
    std::size_t spans_told_ = 0;
    std::size_t contexts_told_ = 0;
    Cycles told_until_ = 0;
};

} // namespace tessera::tile
