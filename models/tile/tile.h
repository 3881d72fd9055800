// SPDX-License-Identifier: MIT
// A tile on the SystemC timeline: what its core computes, ended at the right cycle.
//
//   start(wait) --wait--> phase opens --outcome().cycles--> out_end->compute_ended(tile)
//
// Ports: out_end, told once a phase. A tile without an image has no core and is never started.
// Timing: end = start + wait_cycles + outcome().cycles; no other delay.
// Not modelled: anything between the two ends of a phase; between two syncs no tile can see
// another, so the
//   core runs the whole phase in one call, on any host thread, before SystemC asks.
// Source: docs/evidence.md#instruction-set
#pragma once

#include "models/spec/machine_spec.h"
#include "models/tile/core/tile_core.h"

#include <systemc>

#include <cstddef>
#include <exception>
#include <memory>
#include <vector>

namespace tessera::tile {

/// Who waits for the tiles of a compute phase.
class ComputeEnd : public virtual sc_core::sc_interface {
public:
    /// Called in the cycle in which `tile` ends its phase.
    virtual void compute_ended(TileId tile) = 0;
};

class Tile : public sc_core::sc_module {
public:
    sc_core::sc_port<ComputeEnd> out_end;

    Tile(const sc_core::sc_module_name& name, TileId tile, const sc_core::sc_time& cycle_period);

    /// Gives the tile a core over `memory` (TileCore's conditions) and writes the image.
    /// @throws ProgramError if a segment is outside memory.
    void load(const spec::MachineSpec& spec, const program::Image& image, CodeCache& code,
              std::byte* memory);

    /// The host's part of a phase: runs the core from `stub` to its end. One call at a time for one
    /// tile; different tiles may run on different host threads. Throws nothing: see failure().
    void compute(Address stub, bool wants_spans);

    /// SystemC's part: the phase opens after `wait_cycles`.
    void start(Cycles wait_cycles);

    [[nodiscard]] bool has_core() const { return core_ != nullptr; }
    [[nodiscard]] const ComputeOutcome& outcome() const { return outcome_; }
    [[nodiscard]] const std::vector<ContextSpan>& spans() const { return spans_; }
    /// What compute() ran into, or null.
    [[nodiscard]] const std::exception_ptr& failure() const { return failure_; }

private:
    void on_start();
    void on_end();
    [[nodiscard]] sc_core::sc_time time_of(Cycles cycles) const;

    TileId tile_;
    sc_core::sc_time cycle_period_;
    std::unique_ptr<TileCore> core_;
    ComputeOutcome outcome_;
    std::vector<ContextSpan> spans_;
    std::exception_ptr failure_;
    sc_core::sc_event ev_start_;
    sc_core::sc_event ev_end_;
};

} // namespace tessera::tile
