// SPDX-License-Identifier: MIT
// One chip: its tiles, the exchange fabric, the sync unit, the links to streaming memory and host,
// and the control program that drives them.
//
//              control program
//        start  |     | arrive     | start          | begin
//               v     v            v                v
//     tile_0 .. tile_N  sync_unit  exchange_fabric  streaming_memory, host
//        ended  |     | released   | ended          | ended
//               +-----+------------+----------------+--> next step
//
// Ports: none outside; the units' ends come in through ComputeEnd, SyncRelease, ExchangeEnd and
//   StreamEnd.
// Timing: compute step = control.step_cycles + slowest stub; exchange step = sync.internal_cycles +
//   exchange.prologue_cycles + longest row (other fabrics: exchange/core/fabric.h); sync step = the
//   zone's barrier; repeat, call, while, if: docs/models/ipu.md.
// Not modelled: overlap of a tile's next compute set with a slower tile's last one
// (docs/models/ipu.md). Source: docs/evidence.md#sync, docs/evidence.md#exchange-rows
#pragma once

#include "models/exchange/exchange_fabric.h"
#include "models/ipu/core/account.h"
#include "models/ipu/core/chip_memory.h"
#include "models/ipu/core/control_cursor.h"
#include "models/ipu/core/stream_copies.h"
#include "models/ipu/core/trace_producer.h"
#include "models/ipu/run_options.h"
#include "models/memory/core/remote_memory.h"
#include "models/memory/stream_port.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"
#include "models/sync/sync_unit.h"
#include "models/tile/tile.h"

#include <systemc>

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tessera::ipu {

class Ipu : public sc_core::sc_module,
            public tile::ComputeEnd,
            public exchange::ExchangeEnd,
            public sync::SyncRelease,
            public memory::StreamEnd {
public:
    /// Loads all images. `spec` and `program` outlive the chip.
    /// @throws ProgramError if an image or the control program does not fit the machine.
    Ipu(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
        const program::Program& program, RunOptions options);
    ~Ipu() override;

    /// After sc_start: rethrows what stopped the run. @throws ProgramError, NotModelled
    void check_finished() const;

    [[nodiscard]] ChipMemory& memory() { return memory_; }
    [[nodiscard]] const memory::RemoteMemory& remote_memory() const { return remote_memory_; }
    [[nodiscard]] const Account& account() const { return account_; }

    void compute_ended(TileId tile) override;
    void exchange_ended() override;
    void released() override;
    void stream_ended() override;

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
    void begin(const program::Step& step);
    /// The control program's own instructions since the last step.
    void begin_control();
    /// A barrier, then `next`, which may be empty.
    void begin_sync(program::SyncZone zone, std::function<void()> next);
    /// Tells every tile the word at `value`, then `next`.
    void learn(const program::TileValue& value, std::function<void(std::uint32_t)> next);
    void decide(const program::Step& step);
    /// The trace of a phase in which all tiles did the same from `begin` until now.
    void record_for_all(traces::Kind kind, const char* name, Cycles begin);
    void begin_exchange(std::uint32_t index);
    void begin_stream_step(const program::Step& step);
    Flight start_copy(std::uint32_t copy, std::int64_t row);
    void start_background(const Flight& flight);
    void wait_for_copy(std::uint32_t copy);
    /// The machine waits until the copy is over, then its bytes move.
    void wait_until_end(const Flight& flight);
    [[nodiscard]] memory::StreamPort& port_of(std::uint32_t copy);
    [[nodiscard]] std::uint32_t word_at(const program::TileValue& value) const;
    void check_exchange(std::uint32_t index) const;
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
    memory::RemoteMemory remote_memory_;
    StreamCopies copies_;
    memory::StreamPort streaming_memory_;
    memory::StreamPort host_;
    ControlCursor control_;
    Account account_;
    std::optional<TraceProducer> trace_;

    std::vector<TileId> active_;     ///< of the running compute phase
    std::vector<TileShare> shares_;  ///< of the running phase
    std::size_t running_ = 0;        ///< tiles whose end is still to come
    std::function<void()> next_;     ///< what the running phase leads to; empty: the next step
    std::optional<Visit> postponed_; ///< met, but control_cost_ comes first
    const program::Step* running_step_ =
        nullptr;              ///< a compute set or exchange whose end is to be told
    Cycles control_cost_ = 0; ///< of the control program, not yet spent
    std::int64_t steps_done_ = 0;
    std::int64_t steps_total_ = 0;
    bool finished_ = false;
    std::exception_ptr failure_;
    sc_core::sc_event ev_phase_ended_;
};

} // namespace tessera::ipu
