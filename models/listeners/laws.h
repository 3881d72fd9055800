// SPDX-License-Identifier: MIT
// What must hold after every run, whatever ran: nothing is lost on the way, no cycle is counted
// twice or not at all.
#pragma once

#include "models/listeners/account.h"
#include "models/program/program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::listeners {

/// Every exchange delivered what its transfers sent: their bytes once for each receiver, as often
/// as it ran. `records` are by exchange. @throws ProgramError naming the exchange and both numbers
void check_bytes(const program::Program& program, std::span<const StepRecord> records);

/// Every stream copy delivered its rows as often as it ran. `records` are by copy. @throws
/// ProgramError naming the copy and both numbers
void check_streams(const program::Program& program, std::span<const StepRecord> records);

/// Every link exchange sent and delivered its messages as often as it ran. `records` are by exchange.
/// @throws ProgramError naming the exchange and both numbers
void check_links(const program::Program& program, std::span<const StepRecord> records);

/// compute + exchange + sync + stream + link + idle = `cycles`, for every tile. @throws ProgramError
/// naming the first tile of which that is not so, with its six numbers
void check_cycles(Cycles cycles, std::span<const CyclesByKind> tiles);

/// Holds a run to all of them. While it hears it, also that spans of a tile
/// follow each other without a gap, and
/// that the critical path does from release to release. @throws ProgramError where that breaks.
class Laws final : public events::Listener {
public:
    /// `account` hears the same run before it; all outlive the object.
    Laws(const program::Program& program, const Account& account);

    void segment(const events::Segment& segment) override;
    void released(const events::Release& release) override;

    /// After the run. @throws ProgramError
    void check() const;

private:
    const program::Program& program_;
    const Account& account_;
    Cycles released_at_ = 0;
    std::vector<Cycles> arrived_; ///< by tile: how far it has come
};

} // namespace tessera::listeners
