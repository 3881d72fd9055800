// SPDX-License-Identifier: MIT
// One chip: its tiles, the exchange fabric and the sync unit, and the control program that drives
// them.
//
//              control program
//        start  |     | arrive  | start
//               v     v         v
//     tile_0 .. tile_N  sync_unit  exchange_fabric
//        ended  |     | released| ended
//               +-----+---------+--> next step
//
// Ports: none outside; the units' ends come in through ComputeEnd, SyncRelease and ExchangeEnd.
// Timing: compute step = control.step_cycles + slowest stub; exchange step = sync.internal_cycles +
//   exchange.prologue_cycles + longest row (other fabrics: core/fabric.h); sync step = sync.internal_cycles.
// Not modelled: overlap of a tile's next compute set with a slower tile's last one
// (docs/models/ipu.md). Source: docs/evidence.md#sync, docs/evidence.md#exchange-rows
#pragma once

#include "models/exchange/exchange_fabric.h"
#include "models/ipu/core/account.h"
#include "models/ipu/core/chip_memory.h"
#include "models/ipu/core/control_cursor.h"
#include "models/ipu/core/trace_producer.h"
#include "models/ipu/run_options.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"
#include "models/sync/sync_unit.h"
#include "models/tile/tile.h"

#include <systemc>

#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tessera::ipu {

class Ipu : public sc_core::sc_module,
            public tile::ComputeEnd,
            public exchange::ExchangeEnd,
            public sync::SyncRelease {
public:
    /// Loads all images. `spec` and `program` outlive the chip.
    /// @throws ProgramError if an image or the control program does not fit the machine.
    Ipu(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
        const program::Program& program, RunOptions options);
    ~Ipu() override;

    /// After sc_start: rethrows what stopped the run. @throws ProgramError, NotModelled
    void check_finished() const;

    [[nodiscard]] ChipMemory& memory() { return memory_; }
    [[nodiscard]] const Account& account() const { return account_; }

    void compute_ended(TileId tile) override;
    void exchange_ended() override;
    void released() override;

private:
    struct HostThreads;

    void check_program() const;
    void make_tiles();
    void prepare_exchanges();
    void on_control();
    void advance();
    void begin_compute(std::uint32_t index);
    void run_tiles(const program::ComputeSet& set);
    void throw_first_failure() const;
    void record_compute(std::uint32_t index);
    void begin_sync();
    void begin_exchange(std::uint32_t index);
    /// Returns the bytes received.
    Bytes move_data(const exchange::FabricOutcome& outcome);
    void record_exchange(std::uint32_t index, Bytes bytes);
    [[nodiscard]] sc_core::sc_time time_of(Cycles cycles) const;

    const spec::MachineSpec& spec_;
    const program::Program& program_;
    RunOptions options_;
    sc_core::sc_time cycle_period_;
    std::unique_ptr<HostThreads> host_threads_;
    ChipMemory memory_;
    tile::CodeCache code_;
    std::deque<tile::Tile> tiles_;
    exchange::ExchangeFabric fabric_;
    sync::SyncUnit sync_unit_;
    ControlCursor control_;
    Account account_;
    std::optional<TraceProducer> trace_;

    std::vector<TileId> active_;    ///< of the running compute phase
    std::vector<TileShare> shares_; ///< of the running phase
    std::size_t running_ = 0;       ///< tiles whose end is still to come
    std::optional<std::uint32_t> exchange_after_sync_;
    std::int64_t steps_done_ = 0;
    std::int64_t steps_total_ = 0;
    bool finished_ = false;
    std::exception_ptr failure_;
    sc_core::sc_event ev_phase_ended_;
};

} // namespace tessera::ipu
