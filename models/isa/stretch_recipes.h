// SPDX-License-Identifier: MIT
// The recipes of a chip in timing mode: run() does what a launched worker does, stretch by stretch, by
// a recipe of one that went the same way if there is one. Results are those of the shadow engine,
// whichever recipes there are. May be called on several threads.
#pragma once

#include "models/isa/stretch_recipe.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

namespace tessera::isa {

class StretchRecipes {
public:
    StretchRecipes();
    /// Makes a recipe of every stretch that meets none, even if it saves no time.
    struct All {};
    explicit StretchRecipes(All) : StretchRecipes() { records_all_ = true; }

    /// Runs a launched worker to its exit, as the shadow engine's run_worker. The code has no wait
    /// loops, the running vertex scatters nowhere. @throws ExecutionFault
    void run(Context& worker);
    /// How many stretches went by a recipe.
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
        StretchRecipe::Mark mark;
        std::unique_ptr<const StretchRecipe> recipe;
    };
    /// What is known of a start.
    struct Known {
        std::vector<Candidate> recipes;
        std::atomic<std::uint32_t> met = 0;    ///< stretches that went the way of a recipe
        std::atomic<std::uint32_t> missed = 0; ///< the others
        std::uint32_t refused = 0;             ///< of those, recorded ones that made no recipe
    };
    /// Of this start, made if there is none; it stays where it is.
    [[nodiscard]] Known& known_of(const Start& start);
    [[nodiscard]] static bool is_worth_a_look(const Known& known);
    [[nodiscard]] bool is_worth_a_recipe(const Known& known) const;
    const MicroOperation* record(Context& worker, const MicroOperation* first);

    std::uint64_t number_; ///< no other has it
    bool records_all_ = false;
    std::shared_mutex mutex_;   ///< of the recipes of a start
    mutable std::mutex starts_; ///< of known_
    std::unordered_map<Start, std::unique_ptr<Known>, StartHash> known_;
};

} // namespace tessera::isa
