// SPDX-License-Identifier: MIT
// The recipes of a chip in timing mode: run() does what a launched worker does, stretch by stretch, by
// a recipe of one that went the same way if there is one. Results are those of the shadow engine,
// whichever recipes there are. May be called on several threads.
#pragma once

#include "models/isa/stretch_recipe.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_map>

namespace tessera::isa {

class StretchRecipes {
public:
    StretchRecipes();
    /// Makes a recipe of every stretch that meets none, even if it saves no time.
    struct All {};
    explicit StretchRecipes(All) : StretchRecipes() { records_all_ = true; }

    /// Runs a launched worker to its exit, as the shadow engine's run_worker. The code has no wait
    /// loops, the running vertex scatters nowhere. Gives how many stretches went by no recipe.
    /// @throws ExecutionFault
    std::uint32_t run(Context& worker);
    /// How many stretches went by a recipe; of a start that is met often, about.
    [[nodiscard]] std::int64_t met() const;

private:
    /// Where a stretch begins, of which worker.
    struct Start {
        const MicroOperation* operation = nullptr;
        std::int32_t worker = 0;

        friend bool operator==(const Start&, const Start&) = default;
    };
    struct StartHash {
        std::size_t operator()(const Start& start) const {
            return std::hash<const void*>()(start.operation) * 31 +
                   static_cast<std::size_t>(start.worker);
        }
    };
    struct Candidate {
        StretchDraft::Pinned mark;
        std::unique_ptr<const StretchRecipe> recipe;
    };
    static constexpr std::uint32_t kMostRecipes = 64; ///< of a start
    /// A start has recipes. They only come, one by one, so that they are read without a lock.
    struct Known {
        std::unique_ptr<std::array<Candidate, kMostRecipes>> recipes;
        std::atomic<std::uint32_t> count = 0;   ///< of the recipes that there are
        std::atomic<std::uint64_t> met = 0;     ///< stretches that went the way of a recipe, about
        std::atomic<std::uint64_t> missed = 0;  ///< the others
        std::atomic<std::uint32_t> refused = 0; ///< of those, recorded ones that made no recipe

        [[nodiscard]] std::span<const Candidate> candidates() const {
            const std::uint32_t all = count.load(std::memory_order_acquire);
            return all == 0 ? std::span<const Candidate>() : std::span(recipes->data(), all);
        }
    };
    /// A start that a thread has met lately.
    struct Lately {
        std::uint64_t of = 0; ///< number of the recipes
        Start start;
        Known* known = nullptr;
        std::uint32_t met = 0; ///< stretches that are not counted yet
        std::uint32_t missed = 0;
    };
    /// Of this start, made if there is none; what is known stays where it is.
    [[nodiscard]] Lately& look_up(const Start& start);
    [[nodiscard]] static bool is_worth_a_look(const Known& known);
    [[nodiscard]] bool is_worth_a_recipe(const Known& known) const;
    const MicroOperation* record(Context& worker, const MicroOperation* first);

    std::uint64_t number_; ///< no other has it
    bool records_all_ = false;
    std::mutex mutex_;          ///< of who adds a recipe
    mutable std::mutex starts_; ///< of known_
    std::unordered_map<Start, std::unique_ptr<Known>, StartHash> known_;
};

} // namespace tessera::isa
