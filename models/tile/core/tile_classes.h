// SPDX-License-Identifier: MIT
// Timing mode: phases of tiles that do the same are run once. What a phase does follows from its
// code and from the known words that it reads first; a trie over those finds the tiles that do as
// another did.
//
//   find(start, tile) -> the outcome of a tile that read the same, or how far nobody went before
//   add(...)          -> a phase that was run, with what it read
//
// May be called on several threads. What is found never depends on who was first: equal reads have
// equal outcomes.
#pragma once

#include "base/units.h"
#include "models/isa/shadow.h"
#include "models/program/known_words.h"
#include "models/tile/core/supervisor_registers.h"
#include "models/tile/core/tile_core.h"

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <shared_mutex>
#include <span>
#include <vector>

namespace tessera::isa {
struct DecodedProgram;
}

namespace tessera::tile {

/// What a tile's phase came to.
struct PhaseResult {
    ComputeOutcome outcome;
    std::vector<ContextSpan> contexts;
    std::uint32_t registers = 0;              ///< the supervisor's behind it, by number
    std::vector<program::WordRange> lost;     ///< words that are unknown since
    std::vector<program::WordRange> stored;   ///< and those that are known
    std::vector<std::uint32_t> stored_values; ///< of all those words
    std::int64_t unknown_addresses = 0;       ///< loads and stores
    bool knows_rounds = false;                ///< what it did may be another in another round

    [[nodiscard]] bool operator==(const PhaseResult& other) const;
};

class TileClasses {
public:
    /// What a phase starts from besides memory; each by a number of this class.
    struct Start {
        Address stub = 0;
        Address stack_end = 0;
        std::uint32_t code = 0;
        std::uint32_t registers = 0;

        auto operator<=>(const Start&) const = default;
    };
    /// A tile as reads find it.
    struct View {
        const std::byte* memory = nullptr;
        const program::TileWords* known = nullptr;
        const std::vector<program::SharedWords>* shared = nullptr;
        TileId tile = 0;
        std::span<const program::Vertex> vertices = {};
    };
    /// How far find() came.
    struct Found {
        const PhaseResult* result = nullptr; ///< null: the phase has to be run
        std::uint32_t node = 0;              ///< where it ends
        std::vector<isa::ShadowRead> path;   ///< reads up to there
    };

    TileClasses();

    [[nodiscard]] Found find(const Start& start, const View& tile);
    /// Of a phase that was run where find() ended at `found`. If another thread was faster, its
    /// outcome is held against this one.
    void add(const Found& found, const std::vector<isa::ShadowRead>& reads, PhaseResult result);

    /// One number for equal things.
    [[nodiscard]] std::uint32_t code_number(const std::vector<const isa::DecodedProgram*>& code);
    [[nodiscard]] std::uint32_t registers_number(const SupervisorRegisters& registers);
    [[nodiscard]] const SupervisorRegisters& registers(std::uint32_t number) const;

    /// Phases of tiles that there were, and those that were run: one for each class.
    [[nodiscard]] std::int64_t phases() const { return phases_; }
    [[nodiscard]] std::int64_t classes() const;

private:
    static constexpr std::uint32_t kNone = 0xffffffff;
    struct Edge {
        std::uint64_t value = 0;
        std::uint32_t node = kNone;
    };
    /// A phase either ends here or reads something next.
    struct Node {
        bool reads = false;
        isa::ShadowRead::Kind kind = isa::ShadowRead::Kind::Word;
        std::uint32_t word = 0;
        std::vector<Edge> edges;
        std::unique_ptr<const PhaseResult> result;
    };
    [[nodiscard]] static std::uint32_t child(const Node& node, std::uint64_t value);
    [[nodiscard]] static std::uint64_t value_of(const Node& node, const View& tile);

    mutable std::shared_mutex mutex_;
    std::deque<Node> nodes_;
    std::map<Start, std::uint32_t> roots_;
    std::vector<std::vector<const isa::DecodedProgram*>> codes_;
    std::deque<SupervisorRegisters> registers_;
    std::atomic<std::int64_t> phases_ = 0;
    std::int64_t classes_ = 0;
};

} // namespace tessera::tile
