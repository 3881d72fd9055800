// SPDX-License-Identifier: MIT
// Timing mode: sections of a supervisor's way that do the same are run once. Tiles that share a list of
// buckets look through the same ones, but no two of them through all in one order, so that their phases
// differ. Their passes through the loop over the buckets do not.
//
// A section begins behind a taken branch of the supervisor that goes back, into other code or to where a
// register says, if no worker has been launched that no sync has waited for. It ends where the next one
// begins. What it does depends only on the registers that its contexts read before they write them, on the known words that it reads before
// it writes them, and on the slot in which it begins. The slot decides about cycles alone: these are found
// again from the issues of the workers (tile_sections.cpp). Words are compared range by range; a range may
// have some more words than were read.
//
// May be called on several threads; the result of a phase is the same with and without sections.
#pragma once

#include "base/for_each.h"
#include "base/units.h"
#include "models/isa/entry_registers.h"
#include "models/isa/jump_log.h"
#include "models/isa/shadow.h"
#include "models/program/known_words.h"
#include "models/tile/core/supervisor_registers.h"
#include "models/tile/core/tile_core.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tessera::tile {

/// What a context has in $m0..$m11; registers that are not known are 0 here.
struct SectionRegisters {
    std::uint32_t unknown = 0;
    std::array<std::uint32_t, 12> main{};

    [[nodiscard]] static SectionRegisters of(const isa::Context& context);
    /// Gives the context those in `which`.
    void give(isa::Context& context, std::uint16_t which) const;
    /// Whether the context has the same in those in `which`.
    [[nodiscard]] bool are_in(const isa::Context& context, std::uint16_t which) const;
};

/// What is recorded of a section.
struct SectionRecord {
    const isa::MicroOperation* first = nullptr;
    std::uint32_t code = 0;                    ///< of the tile, from TileClasses::code_number()
    const isa::MicroOperation* next = nullptr; ///< behind the section
    std::size_t program_after = 0;             ///< number of the one that `next` belongs to

    // before
    std::vector<SectionRegisters> registers; ///< of the supervisor and of all workers
    std::vector<std::uint16_t> needed;       ///< of those, what has to be the same
    std::optional<SupervisorRegisters> control;
    isa::ShadowMemory::FirstReads reads;

    // after
    std::vector<SectionRegisters> registers_after;
    std::vector<std::uint16_t> written; ///< of those
    std::optional<SupervisorRegisters> control_after;
    std::vector<program::WordRange> lost;
    std::vector<program::WordRange> stored;
    std::vector<std::uint32_t> stored_values; ///< of the words in `stored`, in their order
    isa::JumpLog::Since jumps;                ///< of the supervisor
    isa::JumpLog::Since worker_jumps;
    std::int64_t launches = 0;
    std::int64_t busiest_issues = 0;
    std::int64_t worker_issues = 0;
    std::array<std::int64_t, events::kMostWorkers> issues_of{}; ///< of each worker
    UnevenLaunch uneven; ///< its number counts from the begin of the section

    // The supervisor's operations in their order, and the issues of the workers that they launch.
    enum Step : std::uint32_t {
        Plain,
        Taken,
        Loads
    }; ///< the lower bits; the others: the operation
    static constexpr unsigned kStepBits = 2;
    std::vector<std::uint32_t> steps;
    std::vector<std::uint32_t> issues;
    /// A moment at which nothing is under way.
    struct Rest {
        std::uint32_t steps = 0; ///< up to there
        Cycles cycles = 0;
    };
    std::vector<Rest> rests;
    Cycles begin = 0;  ///< when it was recorded
    Cycles cycles = 0; ///< that it took then
};

struct Section : SectionRecord {
    /// A round of slots has at most so many.
    static constexpr Cycles kMostSlots = 12;

    explicit Section(const SectionRecord& record) : SectionRecord(record) {}
    /// What it takes in the host's memory.
    [[nodiscard]] std::size_t bytes() const;

    /// By the slot in which a section begins, where that is known; 0: not yet.
    mutable std::array<std::atomic<Cycles>, kMostSlots> cycles_by_slot{};
};

class SectionClasses {
public:
    SectionClasses();
    /// Phases have sections from the first one on, and no section is judged.
    struct All {};
    explicit SectionClasses(All) : SectionClasses() { all_ = true; }

    /// Sections of phases with one stub that begin at one operation.
    struct Site {
        std::atomic<std::int64_t> begun = 0;
        std::atomic<std::int64_t> alike = 0; ///< of them, that did what others did
        /// Whether it is worth while to look for sections here.
        [[nodiscard]] bool is_worth_it() const;
    };
    /// The site stays where it is.
    [[nodiscard]] Site& site_of(const isa::MicroOperation* first, Address stub);

    /// The section with this hash for which `is_same(section)`; null if there is none. It stays where
    /// it is up to between_steps().
    template <class IsSame>
    [[nodiscard]] const Section* find(std::uint64_t hash, const IsSame& is_same) {
        Shard& shard = shards_[hash % kShards];
        const std::shared_lock lock(shard.mutex);
        const auto [begin, end] = shard.sections.equal_range(hash);
        for (auto one = begin; one != end; ++one) {
            if (is_same(*one->second)) {
                return one->second.get();
            }
        }
        return nullptr;
    }
    void add(std::uint64_t hash, std::unique_ptr<const Section> section);

    /// isa::entry_registers().
    [[nodiscard]] isa::EntryRegisters registers_of(const isa::DecodedProgram& program,
                                                   std::size_t index);

    /// To be called while no phase is under way. Forgets all sections if they take more of the host's
    /// memory.
    void between_steps(std::size_t most_bytes, const ForEach& for_each = one_after_another);

    [[nodiscard]] bool compares_all() const { return all_; }
    /// How many sections did what others did.
    [[nodiscard]] std::int64_t alike() const;

private:
    static constexpr std::size_t kShards = 64;
    struct Shard {
        std::shared_mutex mutex;
        std::unordered_multimap<std::uint64_t, std::unique_ptr<const Section>> sections;
    };

    std::uint64_t number_; ///< no other has it
    bool all_ = false;
    std::array<Shard, kShards> shards_;
    std::atomic<std::size_t> bytes_ = 0;
    mutable std::mutex mutex_; ///< of the maps that follow
    std::map<std::pair<const isa::MicroOperation*, Address>, std::unique_ptr<Site>> sites_;
    std::unordered_map<const isa::MicroOperation*, isa::EntryRegisters> registers_;
};

} // namespace tessera::tile
