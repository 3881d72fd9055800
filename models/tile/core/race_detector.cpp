// SPDX-License-Identifier: MIT
#include "models/tile/core/race_detector.h"

#include "base/error.h"

#include <algorithm>

namespace tessera::tile {

RaceDetector::RaceDetector(const isa::MemoryView& memory, std::size_t workers,
                           std::size_t listed_races)
    : base_(memory.base), listed_races_(listed_races), launch_cycle_(workers, 0),
      slots_(memory.span_bytes / 4, 0), words_(1), reads_(1) {}

void RaceDetector::start_phase() {
    forget_words();
    seen_.clear();
    races_.clear();
    races_found_ = 0;
    unused_reads_ = 0;
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
    return first.context < 0 && second_context >= 0 &&
           first.cycle <= launch_cycle_[static_cast<std::size_t>(second_context)];
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
    const Cycles launch = context < 0 ? 0 : launch_cycle_[static_cast<std::size_t>(context)];
    if (own == word.writes.end()) {
        word.writes.push_back({touch, touch, {}, value, 0, launch});
        return;
    }
    if (own->value != value) {
        own->varied |= own->value ^ value;
        own->other = own->last;
    }
    own->last = touch;
    own->value = value;
    own->launch = launch;
}

/// The last writes of all contexts, each of which may be the last of all, are to leave one value.
void RaceDetector::check_written(const Word& word) {
    if (word.writes.size() < 2) {
        return;
    }
    std::vector<const Writes*> order;
    for (const Writes& writes : word.writes) {
        order.push_back(&writes);
    }
    std::stable_sort(order.begin(), order.end(), [](const Writes* a, const Writes* b) {
        return a->last.cycle < b->last.cycle;
    });
    const auto ordered_last = [](const Writes& first, const Writes& second) {
        return first.last.context < 0 && first.last.cycle <= second.launch;
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
        report(race);
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

void RaceDetector::use(ReadId id) {
    Read& read = reads_[id];
    if (read.is_used) {
        return;
    }
    read.is_used = true;
    for (const Race& race : read.pending) {
        --unused_reads_;
        report(race);
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
    return {address,  first.context, second.context, first.cycle,  second.cycle,
            first.pc, second.pc,     first_writes,   second_writes};
}

void RaceDetector::report(const Race& race) {
    ++races_found_;
    if (races_.size() < listed_races_ &&
        seen_.emplace(race.first_pc, race.second_pc, race.first_context, race.second_context)
            .second) {
        races_.push_back(race);
    }
}

} // namespace tessera::tile
