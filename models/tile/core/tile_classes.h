// SPDX-License-Identifier: MIT
// Timing mode: if several tiles do the same in a phase, the phase is run once. What a phase does
// depends only on its code and on the known words (words of memory whose values timing mode has)
// that it reads before it writes them. A trie over these reads finds a tile that did the same.
//
//   find(start, tile) -> the result of a tile that read the same
//   add(...)          -> adds the result of a phase that was run, with its reads
//
// May be called on several threads. Neither results nor the number of phases that were run depend on
// which thread was first: equal reads have equal results, and starts are judged while none runs.
#pragma once

#include "base/units.h"
#include "models/isa/shadow.h"
#include "models/program/known_words.h"
#include "models/tile/core/read_trie.h"
#include "models/tile/core/supervisor_registers.h"
#include "models/tile/core/tile_core.h"

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <shared_mutex>
#include <span>
#include <vector>

namespace tessera::isa {
struct DecodedProgram;
}

namespace tessera::tile {

/// The result of a tile's phase.
struct PhaseResult {
    ComputeOutcome outcome;
    std::vector<ContextSpan> contexts;
    std::uint32_t registers = 0; ///< those of the supervisor after it, by registers_number()
    std::vector<program::WordRange> lost;     ///< words that are unknown after the phase
    std::vector<program::WordRange> stored;   ///< words that the phase stored and that are known
    std::vector<std::uint32_t> stored_values; ///< values of the words in `stored`, in their order
    std::int64_t unknown_addresses = 0;       ///< number of loads and stores at unknown addresses
    /// Whether the phase has used the number of a repeat's round (iteration), so that it may do
    /// something else in another round.
    bool knows_rounds = false;

    [[nodiscard]] bool operator==(const PhaseResult& other) const;
    /// What it takes in the host's memory.
    [[nodiscard]] std::size_t bytes() const;
};

class TileClasses {
public:
    /// The state, besides memory, in which a phase starts.
    struct Start {
        Address stub = 0;
        Address stack_end = 0;
        std::uint32_t code = 0;      ///< from code_number()
        std::uint32_t registers = 0; ///< from registers_number()

        auto operator<=>(const Start&) const = default;
    };
    /// The state of a tile from which find() takes the values of reads.
    struct View {
        const std::byte* memory = nullptr;
        const program::TileWords* known = nullptr;
        const std::vector<program::SharedWords>* shared = nullptr;
        TileId tile = 0;
        std::span<const program::Vertex> vertices = {};
    };
    /// What is known of a start.
    struct Root {
        std::uint32_t node = ReadTrie<PhaseResult>::kNone;
        std::atomic<std::int64_t> phases = 0;
        std::atomic<std::int64_t> alike = 0; ///< of them, that had the reads of one before
        /// Of the phases that were run: where a section (section_classes.h) might have begun.
        std::atomic<std::int64_t> sections = 0;
        bool is_alone = false;         ///< none is searched for
        bool goes_by_sections = false; ///< none is added
    };
    /// The result of find().
    struct Found {
        const PhaseResult* result = nullptr; ///< null: the phase has to be run
        Root* root = nullptr;                ///< of the start
        /// Whether the result of the phase is added, so that its reads are to be noted. It is not where
        /// phases are hardly ever alike, and consist of sections that may be.
        bool keeps = true;
    };

    TileClasses();

    /// Searches for a phase with the same start and the same reads.
    [[nodiscard]] Found find(const Start& start, const View& tile);
    /// Adds the result of a phase that was run because find() returned `found` without a result, and
    /// that might have begun so many sections. If another thread has added the same reads before,
    /// asserts that both results are equal.
    void add(const Found& found, const std::vector<isa::ShadowRead>& reads, PhaseResult result,
             std::int64_t sections = 0);

    /// To be called while no phase is under way. Phases of a start that are hardly ever alike are run
    /// from now on without a search, or without being added.
    void judge();
    /// The same, and forgets all classes if they take more of the host's memory: words that come anew
    /// in each round are never met again.
    void between_steps(std::size_t most_bytes);

    /// These return the same number for equal arguments.
    [[nodiscard]] std::uint32_t code_number(const std::vector<const isa::DecodedProgram*>& code);
    [[nodiscard]] std::uint32_t registers_number(const SupervisorRegisters& registers);
    /// Returns the registers that have this number.
    [[nodiscard]] const SupervisorRegisters& registers(std::uint32_t number) const;

    /// Returns the number of phases that find() was called for.
    [[nodiscard]] std::int64_t phases() const { return phases_; }
    /// Returns the number of classes: of distinct paths of reads that have a result, and of phases that
    /// were run without a search.
    [[nodiscard]] std::int64_t classes() const;

private:
    [[nodiscard]] static std::uint64_t value_of(const isa::ShadowRead& read, const View& tile);

    mutable std::shared_mutex mutex_;
    ReadTrie<PhaseResult> trie_;
    std::map<Start, Root> roots_;
    std::vector<Root*> to_judge_; ///< that have had so many phases that they can be
    std::vector<std::vector<const isa::DecodedProgram*>> codes_;
    std::deque<SupervisorRegisters> registers_;
    std::atomic<std::int64_t> phases_ = 0;
    std::atomic<std::int64_t> classes_ = 0;
};

} // namespace tessera::tile
