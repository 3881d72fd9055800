// SPDX-License-Identifier: MIT
#include "models/tile/core/race_detector.h"

#include "base/error.h"

namespace tessera::tile {

RaceDetector::RaceDetector(Address base, std::uint32_t span_bytes, std::size_t workers,
                           std::size_t listed_races)
    : base_(base), listed_races_(listed_races), launch_cycle_(workers, 0), words_(span_bytes / 4) {}

void RaceDetector::start_phase() {
    synchronised();
    seen_.clear();
    races_.clear();
    racing_accesses_ = 0;
}

void RaceDetector::launched(int worker, Cycles cycle) {
    launch_cycle_[static_cast<std::size_t>(worker)] = cycle;
}

void RaceDetector::touched(int context, Cycles cycle, Address pc, const isa::MemoryAccess& access) {
    const Touch touch{cycle, pc, static_cast<std::int16_t>(context)};
    const std::size_t first = (access.address - base_) / 4;
    const std::size_t last = (access.address - base_ + access.access_bytes - 1U) / 4;
    TESSERA_ASSERT(last < words_.size());
    for (std::size_t index = first; index <= last; ++index) {
        touch_word(index, touch, access.writes);
    }
}

void RaceDetector::touch_word(std::size_t index, const Touch& touch, bool writes) {
    Word& word = words_[index];
    if (word.epoch != epoch_) {
        word = Word{};
        word.epoch = epoch_;
    }
    if (!ordered(word.write, touch)) {
        report(index, word.write, true, touch, writes);
    } else if (writes) {
        for (const Touch* read :
             {&word.supervisor_read, &word.worker_reads[0], &word.worker_reads[1]}) {
            if (!ordered(*read, touch)) {
                report(index, *read, false, touch, true);
                break;
            }
        }
    }
    if (writes) {
        word.write = touch;
    } else if (touch.context < 0) {
        word.supervisor_read = touch;
    } else {
        if (word.worker_reads[0].context != touch.context) {
            word.worker_reads[1] = word.worker_reads[0];
        }
        word.worker_reads[0] = touch;
    }
}

/// Of two accesses since the last sync, the first before the second in time.
bool RaceDetector::ordered(const Touch& first, const Touch& second) const {
    if (first.context == kNobody || first.context == second.context) {
        return true;
    }
    return first.context < 0 &&
           first.cycle <= launch_cycle_[static_cast<std::size_t>(second.context)];
}

void RaceDetector::report(std::size_t index, const Touch& first, bool first_writes,
                          const Touch& second, bool second_writes) {
    ++racing_accesses_;
    if (races_.size() < listed_races_ &&
        seen_.emplace(first.pc, second.pc, first.context, second.context).second) {
        races_.push_back({base_ + static_cast<Address>(index * 4), first.context, second.context,
                          first.cycle, second.cycle, first.pc, second.pc, first_writes,
                          second_writes});
    }
}

} // namespace tessera::tile
