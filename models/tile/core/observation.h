// SPDX-License-Identifier: MIT
// Records of the lock-step model of a tile: each issue, each clock in which a context waited and why,
// races and memory conflicts. Plain data; cycles count from the start of the phase.
#pragma once

#include "base/units.h"
#include "models/isa/context.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera::tile {

/// Why a context does not issue; there is no "other".
enum class StallReason : std::uint8_t {
    MultiCycle,      ///< worker: the instruction before takes further issues
    UnalignedBundle, ///< worker: a branch was taken to a bundle at an address of 4 modulo 8
    Launch,          ///< worker: from its launch to its first issue
    Dependency,      ///< supervisor: a register that the instruction reads is not there yet
    Branch,          ///< supervisor: behind a taken branch or the return from the phase
    WeightAddress,   ///< supervisor: a weight load behind a write of its address
    Slot,            ///< supervisor: a worker holds the slot
    Sync,            ///< supervisor: workers have not exited
};
inline constexpr std::array<std::string_view, 8> kStallReasonWords = {
    "multi_cycle", "unaligned_bundle", "launch", "dependency",
    "branch",      "weight_address",   "slot",   "sync"};
[[nodiscard]] constexpr std::string_view word(StallReason reason) {
    return kStallReasonWords[static_cast<std::size_t>(reason)];
}

/// An instruction or bundle that issued.
struct IssueRecord {
    int context = -1;    ///< worker number, or -1 for the supervisor
    Cycles cycle = 0;    ///< of its issue
    Address address = 0; ///< of the instruction, or of the first half of the bundle
    std::int32_t issues =
        1; ///< turns of the context that it takes, without a branch's penalty; 0 of a step of the
           ///< matrix unit that shares the turn of the one before
};

/// Cycles [begin, begin + cycles) in which a context waited.
struct StallRecord {
    int context = -1;
    Cycles begin = 0;
    Cycles cycles = 0; ///< whole turns for a worker, except at launch
    StallReason reason = StallReason::MultiCycle;
    Address address = 0; ///< of the instruction that takes or awaits the time
};

/// Two contexts met in a 32-bit word that one of them wrote, with no sync between them, and their
/// order matters.
struct Race {
    Address address = 0; ///< of the word
    int first_context = -1;
    int second_context = -1;
    Cycles first_cycle = 0;
    Cycles second_cycle = 0;
    Address first_pc = 0;
    Address second_pc = 0;
    bool first_writes = false;
    bool second_writes = false;
    Address used_pc = 0; ///< of the instruction that uses the value read; 0 of two writes
};

/// An access that the machine's memory rules forbid.
struct Conflict {
    isa::ConflictKind kind = isa::ConflictKind::Fetch;
    int context = -1;
    Cycles cycle = 0;
    Address pc = 0;
    Address address = 0;
};

/// Takes the records of a run as they arise.
///
/// Contract:
/// - Issues come in order of time. Stalls of one context come in order of time and do not overlap.
/// - Issues (a cycle each) and stalls of the supervisor cover the phase without a gap.
/// - Launch, issues (a round each; steps may share one) and other stalls of a worker cover the time
///   from its launch to a turn after its exit without a gap.
class LockstepObserver {
public:
    LockstepObserver() = default;
    virtual ~LockstepObserver() = default;
    LockstepObserver(const LockstepObserver&) = delete;
    LockstepObserver& operator=(const LockstepObserver&) = delete;

    virtual void issue(const IssueRecord& record) = 0;
    virtual void stall(const StallRecord& record) = 0;
};

/// Keeps all records.
class LockstepLog final : public LockstepObserver {
public:
    void issue(const IssueRecord& record) override { issues.push_back(record); }
    void stall(const StallRecord& record) override { stalls.push_back(record); }

    std::vector<IssueRecord> issues;
    std::vector<StallRecord> stalls;
};

} // namespace tessera::tile
