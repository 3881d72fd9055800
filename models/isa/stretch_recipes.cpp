// SPDX-License-Identifier: MIT
#include "models/isa/stretch_recipes.h"

#include "models/isa/decoded_program.h"
#include "models/isa/engine.h"
#include "models/isa/shadow.h"
#include "models/isa/stretch_recorder.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <mutex>
#include <utility>

namespace tessera::isa {
namespace {

constexpr std::uint32_t kMostRefused = 2; ///< recorded stretches that made no recipe
constexpr std::uint32_t kJudged = 4096;   ///< stretches before a start is judged
/// To record a stretch takes as long as to run some dozens, so that a start that is met a few times only
/// is never recorded.
constexpr std::uint32_t kFirst = 24;  ///< stretches that are run before one is recorded
constexpr std::uint32_t kBetween = 4; ///< of those that miss, one in so many is recorded then
/// Threads that count into one word wait for each other, so that a thread counts for itself for a while.
constexpr std::uint32_t kTogether = 64;

/// Counts one more, at once or with those that come.
void count(std::atomic<std::uint64_t>& counter, std::uint32_t& uncounted, bool at_once) {
    ++uncounted;
    if (at_once || uncounted >= kTogether) {
        counter.fetch_add(uncounted, std::memory_order_relaxed);
        uncounted = 0;
    }
}

std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

} // namespace

StretchRecipes::StretchRecipes() : number_(next_number()) {}

StretchRecipes::Lately& StretchRecipes::look_up(const Start& start) {
    // The map is slow and shared.
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
        place = {number_, start, known.get(), 0, 0};
    }
    return place;
}

/// Whether recipes meet one in two at least.
bool StretchRecipes::is_worth_a_look(const Known& known) {
    const std::uint64_t met = known.met.load(std::memory_order_relaxed);
    const std::uint64_t missed = known.missed.load(std::memory_order_relaxed);
    return met + missed < kJudged || met >= missed;
}

bool StretchRecipes::is_worth_a_recipe(const Known& known) const {
    const std::uint32_t count = known.count.load(std::memory_order_relaxed);
    if (records_all_) {
        return count < kMostRecipes;
    }
    const std::uint64_t missed = known.missed.load(std::memory_order_relaxed);
    return count < kMostRecipes && known.refused.load(std::memory_order_relaxed) < kMostRefused &&
           missed >= kFirst && missed % kBetween == 0 &&
           (missed < kJudged || known.met.load(std::memory_order_relaxed) >= missed);
}

std::uint32_t StretchRecipes::run(Context& worker) {
    std::uint32_t ran = 0;
    const StretchEngine& engine = shadow_stretches();
    const MicroOperation* op = engine.enter(worker);
    while (op != nullptr) {
        Lately& lately = look_up({op, worker.number});
        Known& known = *lately.known;
        if (is_worth_a_look(known)) {
            const std::span<const Candidate> all = known.candidates();
            const auto met = std::find_if(all.begin(), all.end(), [&](const Candidate& candidate) {
                return worker.main[candidate.mark.number] == candidate.mark.value &&
                       candidate.recipe->apply(worker);
            });
            if (met != all.end()) {
                count(known.met, lately.met, known.met.load(std::memory_order_relaxed) < kJudged);
                worker.shadow->forget_counted_pass();
                op = met->recipe->next();
                continue;
            }
        }
        ++ran;
        const bool records =
            is_worth_a_recipe(known) && op->code != static_cast<std::uint16_t>(Internal::Continue);
        // Each miss counts at once as long as `missed` decides what is recorded.
        count(known.missed, lately.missed,
              is_worth_a_look(known) || known.missed.load(std::memory_order_relaxed) < kJudged);
        if (records) {
            worker.shadow->forget_counted_pass();
        }
        op = records ? record(worker, op) : engine.run(worker, op);
    }
    return ran;
}

std::int64_t StretchRecipes::met() const {
    const std::unique_lock lock(starts_);
    std::int64_t all = 0;
    for (const auto& [start, known] : known_) {
        all += static_cast<std::int64_t>(known->met.load(std::memory_order_relaxed));
    }
    return all;
}

/// Gives where the next stretch begins.
const MicroOperation* StretchRecipes::record(Context& worker, const MicroOperation* first) {
    RecordedStretch recorded = record_stretch(worker, first);
    const std::unique_lock lock(mutex_);
    Known& known = *look_up({first, worker.number}).known;
    const std::uint32_t count = known.count.load(std::memory_order_relaxed);
    // A sum takes somewhat longer than an instruction of the shadow engine.
    if (recorded.recipe == nullptr || count == kMostRecipes ||
        (!records_all_ && 2 * recorded.instructions < 3 * recorded.sums)) {
        known.refused.fetch_add(1, std::memory_order_relaxed);
        return recorded.next;
    }
    if (known.recipes == nullptr) {
        known.recipes = std::make_unique<std::array<Candidate, kMostRecipes>>();
    }
    const StretchDraft::Pinned mark = recorded.recipe->mark();
    (*known.recipes)[count] = {mark, std::move(recorded.recipe)};
    known.count.store(count + 1, std::memory_order_release);
    return recorded.next;
}

} // namespace tessera::isa
