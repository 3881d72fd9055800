// SPDX-License-Identifier: MIT
// Timing mode: if workers of several tiles do the same in a launch, one of them is run. Tiles that share
// a list of buckets do so: each looks through the same ones, and no two through all of them in one
// order, so that their phases differ. What a worker does depends only on its code, on the registers that
// it finds, and on the known words that it reads before it writes them (models/isa/shadow.h).
//
// A site is a launch in the code of a phase. Workers are compared where few of them go by recipes
// (models/isa/stretch_recipes.h) and many do the same. May be called on several threads; the result is
// that of StretchRecipes::run.
#pragma once

#include "base/units.h"
#include "models/isa/context.h"
#include "models/isa/stretch_recipes.h"
#include "models/program/known_words.h"
#include "models/tile/core/read_trie.h"

#include <array>
#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace tessera::tile {

class WorkerClasses {
public:
    WorkerClasses();
    /// Compares all workers, however short they are and however few are alike.
    struct All {};
    explicit WorkerClasses(All) : WorkerClasses() { compares_all_ = true; }

    struct Launch {
        Address stub = 0;       ///< of the phase
        Address entry = 0;      ///< of the worker
        std::uint32_t code = 0; ///< of the tile, from TileClasses::code_number()

        auto operator<=>(const Launch&) const = default;
    };
    /// Runs a launched worker to its exit, as `recipes` does, or takes over what another did.
    /// @throws isa::ExecutionFault
    void run(isa::Context& worker, isa::StretchRecipes& recipes, const Launch& launch);

    /// To be called while no phase is under way. Judges which sites are worth it, and forgets what has
    /// been found if it takes more of the host's memory.
    void between_steps(std::size_t most_bytes);

    /// How many workers took over what another did.
    [[nodiscard]] std::int64_t alike() const;

private:
    static constexpr unsigned kRegisters = 12; ///< $m0..$m11

    /// What a worker finds, besides memory: registers that are not known are 0 here.
    struct Start {
        std::int32_t worker = 0;
        std::uint32_t unknown = 0;
        Address worker_base = 0;
        Address vertex_base = 0;
        std::array<std::uint32_t, kRegisters> main{};

        friend bool operator==(const Start&, const Start&) = default;
    };
    struct StartHash {
        std::size_t operator()(const Start& start) const;
    };
    /// What a worker leaves.
    struct Result {
        std::int64_t issues = 0;
        std::uint32_t unknown = 0;
        std::array<std::uint32_t, kRegisters> main{}; ///< as in Start
        std::vector<isa::StretchDraft::Gone> gone;
        std::vector<program::WordRange> lost;
        std::vector<program::WordRange> stored;
        std::vector<std::uint32_t> stored_values; ///< of the words in `stored`, in their order

        friend bool operator==(const Result&, const Result&) = default;
        [[nodiscard]] std::size_t bytes() const;
    };
    struct Site {
        std::shared_mutex mutex; ///< of roots and trie
        std::unordered_map<Start, std::uint32_t, StartHash> roots;
        ReadTrie<Result> trie;
        std::atomic<std::int64_t> workers = 0;
        std::atomic<std::int64_t> stretches = 0; ///< of them, that went by no recipe
        std::atomic<std::int64_t> compared = 0;  ///< workers
        std::atomic<std::int64_t> alike = 0;
        std::atomic<bool> is_alone = false; ///< no worker is compared
    };

    [[nodiscard]] Site& site_of(const Launch& launch);
    [[nodiscard]] static std::optional<Start> start_of(const isa::Context& worker);
    [[nodiscard]] static const Result* find(Site& site, const Start& start, isa::Context& worker);
    static void take_over(const Result& result, isa::Context& worker);
    static void follow(Site& site, const Start& start, isa::Context& worker,
                       isa::StretchRecipes& recipes);

    std::uint64_t number_; ///< no other has it
    bool compares_all_ = false;
    mutable std::mutex mutex_;
    std::map<Launch, std::unique_ptr<Site>> sites_;
};

} // namespace tessera::tile
