// SPDX-License-Identifier: MIT
#include "models/tile/core/race_detector.h"

#include "base/error.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tessera::tile {
namespace {

constexpr int kSupervisor = -1;

// Why a word orders contexts.
constexpr std::uint8_t kAwaited = 1; ///< a wait loop of this phase reads it
constexpr std::uint8_t kNamed = 2;   ///< somebody has said so

} // namespace

RaceDetector::RaceDetector(const isa::MemoryView& memory, std::size_t workers,
                           std::size_t listed_races)
    : base_(memory.base), listed_races_(listed_races), nothing_(workers + 1, -1),
      clocks_(workers + 1), words_of_memory_(memory.span_bytes / 4), words_(1), reads_(1) {}

void RaceDetector::start_phase() {
    forget_words();
    seen_.clear();
    races_.clear();
    races_found_ = 0;
    found_in_.clear();
    unused_reads_ = 0;
    for (auto& clocks : clocks_) {
        clocks.clear();
    }
    for (std::uint8_t& how : is_synchronising_) {
        how = how == kNamed ? kNamed : 0;
    }
}

void RaceDetector::launched(int worker, Cycles cycle) {
    see(worker, cycle, kSupervisor, cycle);
}

void RaceDetector::synchronise_by(Address address, Bytes bytes) {
    const auto end = static_cast<Address>(address + static_cast<Address>(bytes));
    for (Address word = address / 4 * 4; word < end; word += 4) {
        mark(word, kNamed);
    }
}

void RaceDetector::mark(Address word, std::uint8_t how) {
    is_synchronising_.resize(words_of_memory_);
    is_synchronising_[(word - base_) / 4] = how;
}

void RaceDetector::acquire(int context, Cycles cycle, Address word) {
    if (!synchronises(word)) {
        mark(word, kAwaited);
        races_found_ -= found_in_[word];
        found_in_[word] = 0;
        std::erase_if(races_, [&](const Race& race) { return race.address == word; });
    }
    const Writes* last = nullptr;
    for (const Writes& writes : words_[slot_of(word)].writes) {
        if (last == nullptr || writes.last.cycle > last->last.cycle) {
            last = &writes;
        }
    }
    if (last != nullptr && last->last.context != context) {
        see(context, cycle, last->last.context, last->last.cycle);
    }
}

/// What is ordered before a doing of a context in a cycle.
const RaceDetector::Clock& RaceDetector::seen_by(int context, Cycles cycle) const {
    const auto& clocks = clocks_[index_of(context)];
    const auto behind =
        std::upper_bound(clocks.begin(), clocks.end(), cycle,
                         [](Cycles at, const ClockFrom& from) { return at < from.cycle; });
    return behind == clocks.begin() ? nothing_ : std::prev(behind)->seen;
}

/// From `cycle` on a context comes behind what another did until then, and behind what came before
/// that.
void RaceDetector::see(int context, Cycles cycle, int other, Cycles until) {
    Clock seen = seen_by(context, cycle);
    if (seen[index_of(other)] >= until) {
        return;
    }
    const Clock& before = seen_by(other, until);
    for (std::size_t i = 0; i < seen.size(); ++i) {
        seen[i] = std::max(seen[i], before[i]);
    }
    seen[index_of(other)] = until;
    clocks_[index_of(context)].push_back({cycle, std::move(seen)});
}

void RaceDetector::synchronised() {
    for (std::size_t slot = 1; slot < used_words_; ++slot) {
        check_written(words_[slot]);
    }
    forget_words();
}

void RaceDetector::end_phase() {
    synchronised();
    std::stable_sort(races_.begin(), races_.end(),
                     [](const Race& a, const Race& b) { return a.second_cycle < b.second_cycle; });
}

void RaceDetector::forget_words() {
    for (std::size_t slot = 1; slot < used_words_; ++slot) {
        Word& word = words_[slot];
        slots_[(word.address - base_) / 4] = 0;
        for (const ReadId id : word.reads) {
            reads_[id].slot = 0;
            if (reads_[id].holders == 0) {
                free_reads_.push_back(id);
            }
        }
        word.reads.clear();
        word.writes.clear();
    }
    used_words_ = 1;
}

std::uint32_t RaceDetector::slot_of(Address address) {
    const std::size_t index = (address - base_) / 4;
    slots_.resize(words_of_memory_); // when first needed
    TESSERA_ASSERT(index < slots_.size());
    if (slots_[index] == 0) {
        if (used_words_ == words_.size()) {
            words_.emplace_back();
        }
        slots_[index] = static_cast<std::uint32_t>(used_words_++);
        words_[slots_[index]].address = address;
    }
    return slots_[index];
}

/// Whether an access since the last sync comes before what a context does now.
bool RaceDetector::ordered(const Touch& first, int second_context) const {
    if (first.context == second_context) {
        return true;
    }
    const auto& clocks = clocks_[index_of(second_context)];
    return !clocks.empty() && first.cycle <= clocks.back().seen[index_of(first.context)];
}

RaceDetector::ReadId RaceDetector::read(int context, Cycles cycle, Address pc, Address address,
                                        std::uint32_t value, std::uint32_t mask) {
    ReadId id = static_cast<ReadId>(reads_.size());
    if (free_reads_.empty()) {
        reads_.emplace_back();
    } else {
        id = free_reads_.back();
        free_reads_.pop_back();
    }
    Read& read = reads_[id];
    read.touch = {context, cycle, pc};
    read.slot = slot_of(address);
    read.address = address;
    read.value = value;
    read.mask = mask;
    read.holders = 1;
    read.is_used = false;
    read.used_pc = 0;
    read.pending.clear();
    Word& word = words_[read.slot];
    check_read(word, id);
    word.reads.push_back(id);
    return id;
}

/// Against the writes so far: all values that it might have got are to be the one that it got.
void RaceDetector::check_read(const Word& word, ReadId id) {
    const Read& read = reads_[id];
    const Writes* unordered = nullptr;
    for (const Writes& writes : word.writes) {
        if (ordered(writes.last, read.touch.context)) {
            continue;
        }
        unordered = &writes;
        const bool last_differs = ((writes.value ^ read.value) & read.mask) != 0;
        if (last_differs || (writes.varied & read.mask) != 0) {
            const Touch& write = last_differs ? writes.last : writes.other;
            conflict(id, race_of(word.address, write, true, read.touch, false));
        }
    }
    if (unordered != nullptr && !reads_own_value(word, read)) {
        conflict(id, race_of(word.address, unordered->last, true, read.touch, false));
    }
}

/// Whether it got what stood there without the writes that are not ordered before it.
bool RaceDetector::reads_own_value(const Word& word, const Read& read) const {
    std::uint32_t value = word.initial;
    Cycles latest = -1;
    bool may_be_any = false;
    for (const Writes& writes : word.writes) {
        if (ordered(writes.last, read.touch.context)) {
            if (writes.last.cycle > latest) {
                latest = writes.last.cycle;
                value = writes.value;
            }
        } else if (ordered(writes.first, read.touch.context)) {
            may_be_any = true; // one of that context's values, which check_read has compared
        }
    }
    return (latest < 0 && may_be_any) || ((value ^ read.value) & read.mask) == 0;
}

void RaceDetector::write(int context, Cycles cycle, Address pc, Address address,
                         std::uint32_t before, std::uint32_t value) {
    Word& word = words_[slot_of(address)];
    const Touch touch{context, cycle, pc};
    if (word.writes.empty()) {
        word.initial = before;
    }
    for (const ReadId id : word.reads) {
        const Read& read = reads_[id];
        if (!ordered(read.touch, context) && ((read.value ^ value) & read.mask) != 0) {
            conflict(id, race_of(address, read.touch, false, touch, true));
        }
    }
    const auto own = std::find_if(word.writes.begin(), word.writes.end(),
                                  [&](const Writes& one) { return one.last.context == context; });
    if (own == word.writes.end()) {
        word.writes.push_back({touch, touch, {}, value, 0});
        return;
    }
    if (own->value != value) {
        own->varied |= own->value ^ value;
        own->other = own->last;
    }
    own->last = touch;
    own->value = value;
}

/// The last writes of all contexts, each of which may be the last of all, are to leave one value.
void RaceDetector::check_written(const Word& word) {
    if (word.writes.size() < 2 || synchronises(word.address)) {
        return;
    }
    std::vector<const Writes*> order;
    for (const Writes& writes : word.writes) {
        order.push_back(&writes);
    }
    std::stable_sort(order.begin(), order.end(), [](const Writes* a, const Writes* b) {
        return a->last.cycle < b->last.cycle;
    });
    const auto ordered_last = [this](const Writes& first, const Writes& second) {
        const Clock& seen = seen_by(second.last.context, second.last.cycle);
        return first.last.cycle <= seen[index_of(first.last.context)];
    };
    for (std::size_t second = 1; second < order.size(); ++second) {
        for (std::size_t first = second; first-- > 0;) {
            if (order[first]->value != order[second]->value &&
                !ordered_last(*order[first], *order[second])) {
                report(race_of(word.address, order[first]->last, true, order[second]->last, true));
                break;
            }
        }
    }
}

void RaceDetector::conflict(ReadId id, const Race& race) {
    Read& read = reads_[id];
    if (read.is_used) {
        report(used_at(race, read.used_pc));
        return;
    }
    const auto other = [&](const Race& one) {
        return one.first_context == read.touch.context ? one.second_context : one.first_context;
    };
    if (std::none_of(read.pending.begin(), read.pending.end(),
                     [&](const Race& one) { return other(one) == other(race); })) {
        read.pending.push_back(race);
        ++unused_reads_;
    }
}

void RaceDetector::use(ReadId id, Address pc) {
    Read& read = reads_[id];
    if (read.is_used) {
        return;
    }
    read.is_used = true;
    read.used_pc = pc;
    for (const Race& race : read.pending) {
        --unused_reads_;
        report(used_at(race, pc));
    }
    read.pending.clear();
    if (read.slot == 0) {
        return;
    }
    // One used read of a context and value is enough: the later, which fewer launches come behind.
    for (const ReadId other : words_[read.slot].reads) {
        const Read& before = reads_[other];
        if (other != id && before.is_used && before.touch.context == read.touch.context &&
            before.value == read.value && before.mask == read.mask) {
            const bool is_older = before.touch.cycle < read.touch.cycle;
            unlist(is_older ? other : id);
            return;
        }
    }
}

void RaceDetector::release(ReadId id) {
    Read& read = reads_[id];
    if (--read.holders > 0) {
        return;
    }
    if (read.slot == 0) {
        free_reads_.push_back(id);
    } else if (!read.is_used) {
        unlist(id);
    }
}

/// Takes it off its word; it is free if nobody holds it.
void RaceDetector::unlist(ReadId id) {
    Read& read = reads_[id];
    auto& list = words_[read.slot].reads;
    list.erase(std::find(list.begin(), list.end(), id));
    read.slot = 0;
    if (read.holders == 0) {
        free_reads_.push_back(id);
    }
}

Race RaceDetector::race_of(Address address, const Touch& first, bool first_writes,
                           const Touch& second, bool second_writes) {
    Race race;
    race.address = address;
    race.first_context = first.context;
    race.second_context = second.context;
    race.first_cycle = first.cycle;
    race.second_cycle = second.cycle;
    race.first_pc = first.pc;
    race.second_pc = second.pc;
    race.first_writes = first_writes;
    race.second_writes = second_writes;
    return race;
}

Race RaceDetector::used_at(Race race, Address pc) {
    race.used_pc = pc;
    return race;
}

void RaceDetector::report(const Race& race) {
    if (synchronises(race.address)) {
        return;
    }
    ++races_found_;
    ++found_in_[race.address];
    if (races_.size() < listed_races_ &&
        seen_.emplace(race.first_pc, race.second_pc, race.first_context, race.second_context)
            .second) {
        races_.push_back(race);
    }
}

} // namespace tessera::tile
