// SPDX-License-Identifier: MIT
#include "models/tile/core/worker_classes.h"

#include "models/isa/decoded_program.h"
#include "models/isa/engine.h"
#include "models/isa/jump_log.h"
#include "models/isa/shadow.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace tessera::tile {
namespace {

/// Workers of a site that are run before the first is compared. Behind kSettled of them, when recipes
/// have been made, their stretches are counted: to compare a worker takes as long as to run some.
constexpr std::int64_t kFirst = 512;
constexpr std::int64_t kSettled = 384;
constexpr std::int64_t kLong = 2; ///< stretches of a worker in the mean, at least
/// Workers that are compared before a site is judged, and which part of them has to be alike.
constexpr std::int64_t kJudged = 1024;
constexpr std::int64_t kOneIn = 3;

std::uint64_t next_number() {
    static std::atomic<std::uint64_t> last = 0;
    return ++last;
}

/// The code that a launched worker begins in, among its programs; none if it begins in no code.
std::optional<std::size_t> program_of(const isa::Context& worker) {
    for (std::size_t number = 0; number < worker.programs.size(); ++number) {
        if (worker.programs[number]->holds(worker.target)) {
            return number;
        }
    }
    return std::nullopt;
}

} // namespace

std::size_t WorkerClasses::StartHash::operator()(const Start& start) const {
    std::uint64_t hash = static_cast<std::uint64_t>(start.worker);
    const auto add = [&hash](std::uint32_t value) {
        hash = (hash ^ value) * 0x9e3779b97f4a7c15U;
        hash ^= hash >> 32U;
    };
    add(start.unknown);
    add(start.vertex_base);
    for (const std::uint32_t value : start.main) {
        add(value);
    }
    return hash;
}

std::size_t WorkerClasses::Result::bytes() const {
    return sizeof(Result) + gone.size() * sizeof(isa::StretchDraft::Gone) +
           (lost.size() + stored.size()) * sizeof(program::WordRange) +
           stored_values.size() * sizeof(std::uint32_t);
}

WorkerClasses::WorkerClasses() : number_(next_number()) {}

WorkerClasses::Site& WorkerClasses::site_of(const Launch& launch) {
    // Launches of a phase mostly follow each other.
    struct Lately {
        std::uint64_t of = 0; ///< number of the classes
        Launch launch;
        Site* site = nullptr;
    };
    thread_local Lately lately;
    if (lately.of != number_ || lately.launch != launch) {
        const std::unique_lock lock(mutex_);
        auto& site = sites_[launch];
        if (site == nullptr) {
            site = std::make_unique<Site>();
        }
        lately = {number_, launch, site.get()};
    }
    return *lately.site;
}

/// None if it does not say what the worker does.
std::optional<WorkerClasses::Start> WorkerClasses::start_of(const isa::Context& worker) {
    if (worker.by_round != 0 || worker.shadow->has_rounds()) {
        return std::nullopt;
    }
    Start start{worker.number, worker.unknown, worker.main[12], worker.main[13], {}};
    for (unsigned number = 0; number < kRegisters; ++number) {
        start.main[number] = ((worker.unknown >> number) & 1U) != 0 ? 0 : worker.main[number];
    }
    return start;
}

const WorkerClasses::Result* WorkerClasses::find(Site& site, const Start& start,
                                                 isa::Context& worker) {
    const std::shared_lock lock(site.mutex);
    const auto root = site.roots.find(start);
    if (root == site.roots.end()) {
        return nullptr;
    }
    isa::ShadowMemory& shadow = *worker.shadow;
    const std::byte* const bytes = worker.memory->bytes;
    // A worker that begins like others reads what they read, as long as it finds the same.
    return site.trie.find(root->second, [&](const isa::ShadowRead& read) -> std::uint64_t {
        if (read.kind == isa::ShadowRead::Kind::AreKnown) {
            return shadow.are_known({read.word, read.count}) ? 1 : 0;
        }
        const bool known = shadow.read(read.word * 4);
        std::uint32_t value = 0;
        std::memcpy(&value, bytes + std::size_t{read.word} * 4, sizeof value);
        return isa::shadow_value(known, value);
    });
}

void WorkerClasses::take_over(const Result& result, isa::Context& worker) {
    isa::ShadowMemory& shadow = *worker.shadow;
    static_cast<void>(isa::shadow_stretches().enter(worker));
    for (const program::WordRange& range : result.lost) {
        shadow.lose(range);
    }
    const std::uint32_t* value = result.stored_values.data();
    for (const program::WordRange& range : result.stored) {
        std::memcpy(worker.memory->bytes + std::size_t{range.first} * 4, value,
                    std::size_t{range.count} * 4);
        value += range.count;
        for (std::uint32_t word = 0; word < range.count; ++word) {
            shadow.store((range.first + word) * 4, true);
        }
    }
    std::copy(result.main.begin(), result.main.end(), worker.main);
    worker.unknown = result.unknown;
    for (const isa::StretchDraft::Gone& one : result.gone) {
        worker.jumps[one.jump] += one.times;
    }
    worker.issues = result.issues;
    worker.taken = false;
    worker.exited = true;
}

void WorkerClasses::follow(Site& site, const Start& start, isa::Context& worker,
                           isa::StretchRecipes& recipes) {
    isa::ShadowMemory& shadow = *worker.shadow;
    const std::optional<std::size_t> program = program_of(worker);
    if (!program) {
        recipes.run(worker); // a fault
        return;
    }
    thread_local std::vector<std::int64_t> before;
    const std::size_t jumps = worker.programs[*program]->jumps.size();
    const std::int64_t* const times = worker.jump_log->times(*program);
    before.assign(times, times + jumps);
    const std::int64_t entries = worker.jump_log->entries();
    const std::int64_t unknown_addresses = shadow.unknown_addresses;
    shadow.follow_worker();
    try {
        recipes.run(worker);
    } catch (const isa::ExecutionFault&) {
        static_cast<void>(shadow.worker_followed());
        throw;
    }
    isa::ShadowMemory::Followed followed = shadow.worker_followed();
    // A jump into other code is an entry.
    if (worker.jump_log->entries() != entries + 1 || worker.by_round != 0 ||
        shadow.unknown_addresses != unknown_addresses) {
        return;
    }
    Result result;
    result.issues = worker.issues;
    result.unknown = worker.unknown;
    for (unsigned number = 0; number < kRegisters; ++number) {
        result.main[number] = ((worker.unknown >> number) & 1U) != 0 ? 0 : worker.main[number];
    }
    for (std::size_t jump = 0; jump < jumps; ++jump) {
        if (times[jump] != before[jump]) {
            result.gone.push_back({static_cast<std::uint32_t>(jump), times[jump] - before[jump]});
        }
    }
    result.lost = std::move(followed.lost);
    result.stored = std::move(followed.stored);
    for (const program::WordRange& range : result.stored) {
        const std::size_t end = result.stored_values.size();
        result.stored_values.resize(end + range.count);
        std::memcpy(&result.stored_values[end], worker.memory->bytes + std::size_t{range.first} * 4,
                    std::size_t{range.count} * 4);
    }
    const std::unique_lock lock(site.mutex);
    std::uint32_t& root = site.roots.try_emplace(start, ReadTrie<Result>::kNone).first->second;
    site.trie.add(root, followed.reads, std::move(result));
}

void WorkerClasses::run(isa::Context& worker, isa::StretchRecipes& recipes, const Launch& launch) {
    Site& site = site_of(launch);
    if (site.is_alone.load(std::memory_order_relaxed)) {
        recipes.run(worker);
        return;
    }
    const std::int64_t workers = site.workers.load(std::memory_order_relaxed);
    if (workers < kFirst && !compares_all_) {
        const std::uint32_t stretches = recipes.run(worker);
        site.workers.fetch_add(1, std::memory_order_relaxed);
        if (workers >= kSettled) {
            site.stretches.fetch_add(stretches, std::memory_order_relaxed);
        }
        return;
    }
    const bool is_long =
        site.stretches.load(std::memory_order_relaxed) >= kLong * (kFirst - kSettled);
    const std::optional<Start> start = is_long || compares_all_ ? start_of(worker) : std::nullopt;
    if (!start) {
        recipes.run(worker);
        return;
    }
    const Result* const result = find(site, *start, worker);
    site.compared.fetch_add(1, std::memory_order_relaxed);
    if (result == nullptr) {
        follow(site, *start, worker, recipes);
    } else if (const auto code = static_cast<std::int64_t>(worker.program->operations.size());
               result->issues + code > worker.issue_limit) {
        recipes.run(worker); // it meets its limit instruction by instruction
    } else {
        take_over(*result, worker);
        site.alike.fetch_add(1, std::memory_order_relaxed);
    }
}

void WorkerClasses::between_steps(std::size_t most_bytes) {
    const std::unique_lock lock(mutex_);
    std::size_t bytes = 0;
    for (const auto& [launch, site] : sites_) {
        const bool is_short =
            site->workers >= kFirst && site->stretches < kLong * (kFirst - kSettled);
        const bool is_rare = site->compared >= kJudged && site->alike * kOneIn < site->compared;
        if (!compares_all_ && (is_short || is_rare)) {
            site->is_alone = true;
            site->roots.clear();
            site->trie.clear();
        }
        bytes += site->trie.bytes() + site->roots.size() * sizeof(Start);
    }
    if (bytes > most_bytes) {
        for (const auto& [launch, site] : sites_) {
            site->roots.clear();
            site->trie.clear();
        }
    }
}

std::int64_t WorkerClasses::alike() const {
    const std::unique_lock lock(mutex_);
    std::int64_t all = 0;
    for (const auto& [launch, site] : sites_) {
        all += site->alike;
    }
    return all;
}

} // namespace tessera::tile
