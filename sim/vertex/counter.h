// SPDX-License-Identifier: MIT
// Counts what the lock-step tile says of a bench: issues, stalls, lines of code, instructions; and
// tells how far the run is.
#pragma once

#include "base/activity.h"
#include "models/tile/core/lockstep.h"
#include "sim/vertex/call_watch.h"
#include "sim/vertex/run.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

namespace tessera::vertex {

/// @throws ConfigError where the instruction needs a symbol that no source defines
void check_defined(const Bench& bench, Address address);

/// Counts by address; what the addresses mean is found out once at the end.
class Counter final : public tile::LockstepObserver {
public:
    Counter(const Bench& bench, const tile::LockstepTile& tile, Cycles round, bool keep_log,
            Cycles expected)
        : bench_(bench), round_(round), keep_log_(keep_log), expected_(expected),
          registers_(
              [&tile](int context) -> const isa::Context& { return tile.context(context); }) {}

    void issue(const tile::IssueRecord& record) override;
    void stall(const tile::StallRecord& record) override;
    /// Records of the next phase stand behind those of the phases before it.
    void begin_phase(const BenchPhase& phase, Cycles begin);
    /// The launch of each run of a worker in this phase.
    [[nodiscard]] const std::vector<std::size_t>& launch_of_run() const { return launch_of_run_; }
    [[nodiscard]] const CallWatch& watch() const { return watch_; }

    void finish(PointResult& result) const;

private:
    void tell_progress(Cycles cycle);
    bool is_sync(Address address);
    [[nodiscard]] Placement placement(const Activity& workers) const;
    void count_instruction(PointResult& result, Address address, std::int64_t times,
                           bool of_worker) const;

    struct Issues {
        std::int64_t instructions = 0;
        std::int64_t turns = 0;    ///< less, where steps of the matrix unit share some
        std::uint32_t workers = 0; ///< a bit for each that ran it
    };

    const Bench& bench_;
    Cycles round_;
    bool keep_log_;
    Cycles expected_; ///< of all phases; 0 where that is not known
    Cycles told_ = 0;
    tessera::Activity following_{"slot by slot, cycle"};
    std::map<std::pair<bool, Address>, Issues> issues_;
    std::map<Address, Cycles> line_stalls_;
    std::map<Address, Cycles> unaligned_; ///< by bundle that was branched to
    std::array<std::array<Cycles, tile::kStallReasonWords.size()>, 2> stalls_{};
    Cycles phase_begin_ = 0;
    std::map<Address, bool> is_sync_; ///< of instructions of the supervisor
    std::size_t launches_ = 0;        ///< of the phase
    bool is_open_ = false;            ///< the last launch goes on
    std::vector<std::size_t> launch_of_run_;
    CallWatch watch_;
    CallWatch::Registers registers_;
    std::shared_ptr<tile::LockstepLog> log_ = std::make_shared<tile::LockstepLog>();
};

} // namespace tessera::vertex
