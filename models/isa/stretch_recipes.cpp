// SPDX-License-Identifier: MIT
#include "models/isa/stretch_recipes.h"

#include "models/isa/decoded_program.h"
#include "models/isa/engine.h"
#include "models/isa/stretch_recorder.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <utility>

namespace tessera::isa {
namespace {

constexpr std::uint32_t kMostRecipes = 64; ///< of a start
constexpr std::uint32_t kMostRefused = 2;  ///< recorded stretches that made no recipe
constexpr std::uint32_t kJudged = 4096;    ///< stretches before a start is judged
/// To record a stretch takes as long as to run some dozens, so that a start that is met a few times only
/// is never recorded.
constexpr std::uint32_t kFirst = 24;  ///< stretches that are run before one is recorded
constexpr std::uint32_t kBetween = 4; ///< of those that miss, one in so many is recorded then

std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

} // namespace

StretchRecipes::StretchRecipes() : number_(next_number()) {}

StretchRecipes::Known& StretchRecipes::known_of(const Start& start) {
    // Each thread looks among the starts that it met lately, as the map is slow and shared.
    struct Lately {
        std::uint64_t of = 0; ///< number of the recipes
        Start start;
        Known* known = nullptr;
    };
    constexpr std::size_t kPlaces = 1024;
    thread_local std::array<Lately, kPlaces> lately;
    const auto address = reinterpret_cast<std::uintptr_t>(start.operation);
    Lately& place =
        lately[(address / sizeof(MicroOperation) * 8 + static_cast<std::size_t>(start.worker)) %
               kPlaces];
    if (place.of != number_ || !(place.start == start)) {
        const std::unique_lock change(starts_);
        auto& known = known_[start];
        if (known == nullptr) {
            known = std::make_unique<Known>();
        }
        place = {number_, start, known.get()};
    }
    return *place.known;
}

/// Whether recipes meet one in two at least.
bool StretchRecipes::is_worth_a_look(const Known& known) {
    const std::uint32_t met = known.met.load(std::memory_order_relaxed);
    const std::uint32_t missed = known.missed.load(std::memory_order_relaxed);
    return !known.recipes.empty() && (met + missed < kJudged || met >= missed);
}

bool StretchRecipes::is_worth_a_recipe(const Known& known) const {
    if (records_all_) {
        return known.recipes.size() < kMostRecipes;
    }
    const std::uint32_t missed = known.missed.load(std::memory_order_relaxed);
    return known.recipes.size() < kMostRecipes && known.refused < kMostRefused &&
           missed >= kFirst && missed % kBetween == 0 &&
           (missed < kJudged || known.met.load(std::memory_order_relaxed) >= missed);
}

void StretchRecipes::run(Context& worker) {
    const StretchEngine& engine = shadow_stretches();
    const MicroOperation* op = engine.enter(worker);
    std::shared_lock lock(mutex_);
    while (op != nullptr) {
        Known& known = known_of({op, worker.number});
        if (is_worth_a_look(known)) {
            const auto met = std::find_if(
                known.recipes.begin(), known.recipes.end(), [&](const Candidate& candidate) {
                    return worker.main[candidate.mark.number] == candidate.mark.value &&
                           candidate.recipe->apply(worker);
                });
            if (met != known.recipes.end()) {
                known.met.fetch_add(1, std::memory_order_relaxed);
                op = met->recipe->next();
                continue;
            }
        }
        const bool records =
            is_worth_a_recipe(known) && op->code != static_cast<std::uint16_t>(Internal::Continue);
        known.missed.fetch_add(1, std::memory_order_relaxed);
        if (records) {
            lock.unlock();
            op = record(worker, op);
            lock.lock();
        } else {
            op = engine.run(worker, op);
        }
    }
}

std::int64_t StretchRecipes::met() const {
    const std::unique_lock lock(starts_);
    std::int64_t all = 0;
    for (const auto& [start, known] : known_) {
        all += known->met.load(std::memory_order_relaxed);
    }
    return all;
}

/// Gives where the next stretch begins.
const MicroOperation* StretchRecipes::record(Context& worker, const MicroOperation* first) {
    RecordedStretch recorded = record_stretch(worker, first);
    const std::unique_lock lock(mutex_);
    Known& known = known_of({first, worker.number});
    // A sum takes somewhat longer than an instruction of the shadow engine.
    if (recorded.recipe == nullptr ||
        (!records_all_ && 2 * recorded.instructions < 3 * recorded.recipe->sums())) {
        ++known.refused;
    } else {
        const StretchRecipe::Mark mark = recorded.recipe->mark();
        known.recipes.push_back({mark, std::move(recorded.recipe)});
    }
    return recorded.next;
}

} // namespace tessera::isa
