// SPDX-License-Identifier: MIT
// Finds accesses of two contexts to one 32-bit word that nothing orders, one of them a write: for each word the last
// write, the last read of the supervisor and the last reads of two workers since the last sync.
#pragma once

#include "models/tile/core/observation.h"

#include <array>
#include <cstdint>
#include <set>
#include <tuple>
#include <vector>

namespace tessera::tile {

class RaceDetector {
public:
    RaceDetector(Address base, std::uint32_t span_bytes, std::size_t workers,
                 std::size_t listed_races);

    /// Forgets the races and accesses of the last phase.
    void start_phase();
    /// What the supervisor did up to `cycle` is ordered before what this worker does.
    void launched(int worker, Cycles cycle);
    /// All that was done before is ordered before all that follows.
    void synchronised() { ++epoch_; }
    void touched(int context, Cycles cycle, Address pc, const isa::MemoryAccess& access);

    [[nodiscard]] const std::vector<Race>& races() const { return races_; }
    [[nodiscard]] std::int64_t racing_accesses() const { return racing_accesses_; }

private:
    static constexpr std::int16_t kNobody = -2;

    struct Touch {
        Cycles cycle = 0;
        Address pc = 0;
        std::int16_t context = kNobody;
    };
    struct Word {
        std::uint64_t epoch = 0;
        Touch write;
        Touch supervisor_read;
        std::array<Touch, 2> worker_reads; ///< of different workers, the later first
    };

    void touch_word(std::size_t index, const Touch& touch, bool writes);
    [[nodiscard]] bool ordered(const Touch& first, const Touch& second) const;
    void report(std::size_t index, const Touch& first, bool first_writes, const Touch& second,
                bool second_writes);

    Address base_;
    std::size_t listed_races_;
    std::uint64_t epoch_ = 1;
    std::vector<Cycles> launch_cycle_; ///< of each worker
    std::vector<Word> words_;
    std::set<std::tuple<Address, Address, int, int>> seen_; ///< pairs of instructions and contexts
    std::vector<Race> races_;
    std::int64_t racing_accesses_ = 0;
};

} // namespace tessera::tile
