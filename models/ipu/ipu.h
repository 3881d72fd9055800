// SPDX-License-Identifier: MIT
// One chip: the wiring of its units, the host threads that compute tiles ahead, and what is done at
// a release, in its order.
//
//     tile_0 .. tile_N --barrier--> sync_unit ----at_release--> chip
//       |  |  |  |     <--wake-----
//       |  |  |  +-----alarm----> alarm
//       |  |  |        <--wake-----
//       |  |  +--------streams--> stream_ports ---at_copy-----> chip
//       |  |           <--wake-----
//       |  +-----------fabric---> exchange_fabric
//       +--------------witness--------------------------------> chip --> listeners
//
// Ports: outer_barrier, by zone, asked for meetings of the zone's groups where it is bound; links, told of
//   link exchanges; is the LinkUser of the links. Nothing else is shared with another chip.
// Timing mode counts rounds of a repeat that leave all tiles as they were: the round is told again in
//   slow motion, the release comes again when they are over, and the last round runs. Where copies alone
//   stop tiles, the end of one of them takes the place of the release.
// Timing: of the units. At a release the listeners hear of it, the fabric moves the words of the
//   exchange that opens, the host threads compute every tile's way to its next stop; then the tiles
//   go on. What stops the run stops the tiles that it concerns; the others wait for them for ever.
// Source: docs/models/ipu.md
#pragma once

#include "base/for_each.h"
#include "models/exchange/exchange_fabric.h"
#include "models/ipu/core/chip_memory.h"
#include "models/ipu/core/round_record.h"
#include "models/ipu/run_options.h"
#include "models/memory/stream_ports.h"
#include "models/ports/ports.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"
#include "models/sync/sync_unit.h"
#include "models/tile/alarm.h"
#include "models/tile/tile.h"

#include <systemc>

#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace tessera::ipu {

class Ipu : public sc_core::sc_module,
            public ports::Witness,
            public ports::AtRelease,
            public ports::AtCopy,
            public ports::LinkUser {
public:
    sc_core::sc_port<ports::OuterBarrier, 0, sc_core::SC_ZERO_OR_MORE_BOUND>
        outer_barrier; ///< by zone
    sc_core::sc_port<ports::Links, 1, sc_core::SC_ZERO_OR_MORE_BOUND> links;

    /// Loads all images. `spec`, `program` and the listeners outlive the chip.
    /// @throws ProgramError if an image or the control program does not fit the machine.
    Ipu(const sc_core::sc_module_name& name, const spec::MachineSpec& spec,
        const program::Program& program, RunOptions options);
    ~Ipu() override;

    /// After sc_start: rethrows what stopped the run. @throws ProgramError, NotModelled
    void check_finished() const;
    /// The cycle of what stopped the run; nothing where that ended.
    [[nodiscard]] std::optional<Cycles> failed_at() const {
        return failure_ != nullptr ? std::optional(failed_at_) : std::nullopt;
    }
    /// When the program ended.
    [[nodiscard]] Cycles finished_at() const { return *finished_at_; }
    [[nodiscard]] bool has_finished() const { return finished_at_.has_value(); }
    /// Whom an outer barrier wakes.
    [[nodiscard]] ports::Sleeper& barrier() { return sync_unit_; }
    /// Steps that tile 0 has behind it.
    [[nodiscard]] std::int64_t steps() const { return tiles_.front().walk().steps(); }

    [[nodiscard]] ChipMemory& memory() { return memory_; }
    /// The known words in timing mode; null otherwise.
    [[nodiscard]] program::KnownWords* known_words();
    /// The facts of timing mode; nothing otherwise.
    [[nodiscard]] std::optional<TimingFacts> timing() const;
    [[nodiscard]] const memory::RemoteMemory& remote_memory() const {
        return stream_ports_.remote_memory();
    }

    void segment(const events::Segment& segment) override;
    void failed(std::int64_t tile, std::exception_ptr failure) override;
    Cycles at_release(const events::Meeting& meeting, TileId last, Cycles last_arrival) override;
    void copy_begun(const events::Flight& flight) override;
    void copy_ended(const events::Flight& flight) override;
    void links_over(std::span<const TileId> tiles) override;
    void linked(const events::Linked& linked) override;

private:
    struct HostThreads;
    /// A repeat as it was at the first release of its round.
    struct RepeatMark {
        std::vector<program::ControlCursor::Place> position;
        std::size_t level = 0; ///< of the repeat in it
        Cycles cycle = 0;
        std::int64_t steps = 0;
        std::int64_t known_copies = 0;
        tile::KnownFacts facts;
        std::unique_ptr<RoundRecord> record; ///< of the round since, if it is as the one before
    };

    /// A repeat without barriers as it was at the end of the copy that begins its round.
    struct CopyMark {
        tile::TileWalk::Pause pause;
        Cycles cycle = 0;
        std::int64_t steps = 0;
        std::int64_t known_copies = 0;
        RoundRecord round; ///< copies since
    };

    void start_of_simulation() override;
    void check_program() const;
    void make_tiles();
    void choose_audited();
    /// Every tile's way to its next stop, on the host threads.
    void compute_ahead();
    [[nodiscard]] tile::WalkFacts facts();
    void tell(const std::function<void(events::Listener&)>& event);
    [[nodiscard]] tile::KnownFacts known_facts() const;
    /// At a release: the cycles of rounds that need not be run; 0: there are none.
    Cycles count_rounds();
    Cycles skip_rounds(const program::Step& repeat, RepeatMark& mark, std::int64_t rounds);
    /// At the end of a copy for which `waiting` wait: whether nothing else happens before they go on.
    [[nodiscard]] bool is_alone(const events::Flight& flight,
                                const std::vector<TileId>& waiting) const;
    /// Counts rounds of a repeat without barriers, where all of `waiting` pause in it.
    void count_copy_rounds(const std::vector<TileId>& waiting);
    void open(const events::Meeting& meeting);
    void check_known(const program::TileValue& value) const;
    void check_undisturbed(std::uint32_t exchange) const;
    /// What `tile` did in [begin, end), and others that it waited for; appended to path_.
    void follow(TileId tile, Cycles begin, Cycles end);

    const spec::MachineSpec& spec_;
    const program::Program& program_;
    RunOptions options_;
    std::unique_ptr<HostThreads> host_threads_;
    ForEach for_each_;
    ChipMemory memory_;
    exchange::ExchangeFabric fabric_;
    sync::SyncUnit sync_unit_;
    memory::StreamPorts stream_ports_;
    tile::Alarm alarm_;
    tile::CodeCache code_;
    struct Timing;
    std::unique_ptr<Timing> timing_;
    tile::WalkFacts facts_;
    std::deque<tile::Tile> tiles_;

    Cycles released_at_ = 0;
    std::vector<events::PathSpan> path_;
    std::map<const program::Step*, RepeatMark> repeats_;
    std::set<const program::Step*> uneven_repeats_; ///< that do other things in some rounds
    std::optional<CopyMark> copy_mark_;
    bool counts_rounds_ = false;
    bool comes_again_ = false; ///< the release, behind rounds that were skipped
    std::int64_t skipped_phases_ = 0;
    std::int64_t skipped_unknown_addresses_ = 0;
    std::optional<Cycles> finished_at_;
    std::exception_ptr failure_;
    Cycles failed_at_ = 0;
    std::int64_t failed_tile_ = 0;
};

} // namespace tessera::ipu
