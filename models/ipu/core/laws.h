// SPDX-License-Identifier: MIT
// What must hold after every run, whatever ran: nothing is lost on the way, no cycle is counted
// twice or not at all.
#pragma once

#include "models/ipu/core/account.h"
#include "models/program/program.h"

#include <span>

namespace tessera::ipu {

/// Every exchange delivered what its transfers sent: their bytes once for each receiver, as often
/// as it ran. `records` are by exchange. @throws ProgramError naming the exchange and both numbers
void check_bytes(const program::Program& program, std::span<const StepRecord> records);

/// Every stream copy delivered its rows as often as it ran. `records` are by copy. @throws
/// ProgramError naming the copy and both numbers
void check_streams(const program::Program& program, std::span<const StepRecord> records);

/// compute + exchange + sync + stream + idle = `cycles`, for every tile. @throws ProgramError
/// naming the first tile of which that is not so, with its five numbers
void check_cycles(Cycles cycles, std::span<const CyclesByKind> tiles);

/// All of them.
void check_laws(const program::Program& program, const Account& account);

} // namespace tessera::ipu
