// SPDX-License-Identifier: MIT
// Transfers made ready for scheduling: checked, merged where they continue each other, and ordered.
#pragma once

#include "base/units.h"
#include "kernels/plan/exchange_schedule.h"
#include "models/program/program.h"
#include "models/spec/machine_spec.h"
#include "models/timing/exchange_latency.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tessera::plan {

/// One or several transfers in sequence that together are one message.
struct Job {
    const program::Transfer* transfer = nullptr; ///< the first of them
    Bytes bytes = 0;                             ///< of all of them
    bool wide = false;                           ///< asks for double width and may have it
};

/// Throws ProgramError as plan_exchange says.
void check_transfers(const spec::MachineSpec& machine, const std::string& name,
                     std::span<const program::Transfer> transfers);

/// Whether a message of `bytes` bytes to `transfer`'s receivers can be wide.
[[nodiscard]] bool pairable_bytes(const spec::MachineSpec& machine,
                                  const program::Transfer& transfer, Bytes bytes);

[[nodiscard]] std::vector<Job> make_jobs(const spec::MachineSpec& machine,
                                         std::span<const program::Transfer> transfers);

/// The job's message with its receivers, which are written to `receivers`.
[[nodiscard]] Message make_message(const timing::ExchangeTiming& timing, const Job& job, bool wide,
                                   std::vector<Receiver>& receivers);

/// An order of jobs in which groups of tiles that all send to each other (or to another group) go
/// together, groups that share receivers go one after another, and senders of one group go in tile
/// order. Tiles of one column are neighbours in that order, so the mux offsets of successive
/// senders differ little and hardly any receiver waits between two messages.
[[nodiscard]] std::vector<std::uint32_t> grouped_order(std::span<const Job> jobs,
                                                       std::int64_t tiles);

/// An order in rounds: each tile sends at most one job and receives at most one in a round. Nearly
/// without holes when all jobs are about as long, as in an all-to-all.
[[nodiscard]] std::vector<std::uint32_t> round_order(std::span<const Job> jobs, std::int64_t tiles);

} // namespace tessera::plan
