// SPDX-License-Identifier: MIT
#include "models/isa/shadow.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <tuple>
#include <utility>

namespace tessera::isa {
namespace {

/// Calls `visit(number)` for each bit that is set, ascending.
template <class Visit>
void for_each_bit(const std::vector<std::uint64_t>& bits, const Visit& visit) {
    for (std::size_t index = 0; index < bits.size(); ++index) {
        for (std::uint64_t left = bits[index]; left != 0; left &= left - 1) {
            visit(index * 64 + static_cast<std::size_t>(std::countr_zero(left)));
        }
    }
}

/// A store that moves from pass to pass.
struct MovingStore {
    std::int64_t stride = 0; ///< words a pass
    std::int64_t first = 0;  ///< word, of the next pass
    std::int64_t count = 0;
};

/// The words of `passes` passes; of this thread up to the next call. Stores that move together and stand
/// behind each other are one.
const std::vector<WordRange>& ranges_of(std::vector<MovingStore>& stores, std::uint32_t passes) {
    thread_local std::vector<WordRange> ranges;
    ranges.clear();
    std::sort(stores.begin(), stores.end(), [](const MovingStore& left, const MovingStore& right) {
        return std::tie(left.stride, left.first) < std::tie(right.stride, right.first);
    });
    for (std::size_t i = 0; i < stores.size();) {
        MovingStore all = stores[i];
        while (++i < stores.size() && stores[i].stride == all.stride &&
               stores[i].first == all.first + all.count) {
            all.count += stores[i].count;
        }
        const auto words = static_cast<std::uint32_t>(all.count);
        if (std::abs(all.stride) == all.count) {
            const std::int64_t lowest = std::min(all.first, all.first + all.stride * (passes - 1));
            ranges.push_back({static_cast<std::uint32_t>(lowest), words * passes});
            continue;
        }
        for (std::int64_t pass = 0; pass < (all.stride == 0 ? 1 : passes); ++pass) {
            ranges.push_back({static_cast<std::uint32_t>(all.first + all.stride * pass), words});
        }
    }
    return ranges;
}

} // namespace

void ShadowMemory::Bits::clear(std::size_t words) {
    const std::size_t size = (words + 63) / 64;
    if (size != settled.size()) {
        touched.assign((size + 63) / 64, 0);
        settled.assign(size, 0);
        lost.assign(size, 0);
        stored.assign(size, 0);
        asked.assign(size, 0);
    }
    for_each_bit(touched, [this](std::size_t index) {
        settled[index] = 0;
        lost[index] = 0;
        stored[index] = 0;
        asked[index] = 0;
    });
    std::fill(touched.begin(), touched.end(), 0);
}

void ShadowMemory::begin(std::uint32_t words, Address base, const std::byte* bytes,
                         program::TileWords& known, const std::vector<SharedWords>* shared,
                         const std::vector<std::uint32_t>* rounds) {
    base_ = base;
    bytes_ = bytes;
    known_ = &known;
    shared_ = shared;
    rounds_ = rounds;
    knows_rounds_ = false;
    rounds_read_.clear();
    running_.scattered = nullptr;
    unknown_addresses = 0;
    words_ = words;
    follows_worker_ = false;
    bits_.clear(words);
    reads_.clear();
    watching = false;
    gathering = false;
    silent = false;
    passes_watched = 0;
    forget_counted_pass();
}

void ShadowMemory::first_read(std::uint32_t word) {
    if (silent) {
        return;
    }
    std::uint32_t bytes = 0;
    std::memcpy(&bytes, bytes_ + std::size_t{word} * 4, sizeof bytes);
    const ShadowRead read{ShadowRead::Kind::Word, word, shadow_value(known_->get(word), bytes)};
    if (follows_worker_) {
        worker_reads_.push_back(read);
        bits_.touch(word);
        word_bits::set(bits_.settled.data(), word);
        if (!notes_reads || word_bits::get(phase_.settled.data(), word)) {
            return;
        }
    } else if (!notes_reads) {
        bits_.touch(word);
        word_bits::set(bits_.settled.data(), word);
        return;
    }
    Bits& bits = of_phase();
    for (const SharedWords& one : *shared_) {
        if (word - one.words.first < one.words.count) {
            // What this phase has stored among them stays what it is: known, and settled.
            bits.touch(one.words);
            word_bits::fill(bits.settled.data(), one.words.first, one.words.count, true);
            reads_.push_back({ShadowRead::Kind::Shared, one.words.first, one.identity});
            return;
        }
    }
    bits.touch(word);
    word_bits::set(bits.settled.data(), word);
    reads_.push_back(read);
}

void ShadowMemory::follow_worker() {
    std::swap(bits_, phase_);
    bits_.clear(words_);
    worker_reads_.clear();
    follows_worker_ = true;
}

ShadowMemory::Followed ShadowMemory::worker_followed() {
    Followed followed{worker_reads_, lost(), stored()};
    end_following();
    return followed;
}

void ShadowMemory::end_following() {
    for_each_bit(bits_.touched, [this](std::size_t index) {
        phase_.settled[index] |= bits_.lost[index] | bits_.stored[index];
        phase_.lost[index] = (phase_.lost[index] & ~bits_.stored[index]) | bits_.lost[index];
        phase_.stored[index] = (phase_.stored[index] & ~bits_.lost[index]) | bits_.stored[index];
    });
    for (std::size_t index = 0; index < bits_.touched.size(); ++index) {
        phase_.touched[index] |= bits_.touched[index];
    }
    std::swap(bits_, phase_);
    follows_worker_ = false;
}

bool ShadowMemory::first_reads(FirstReads& found) const {
    constexpr std::uint32_t kGap = 8; // words that come along
    std::vector<WordRange>& ranges = found.ranges;
    ranges.clear();
    found.unknown.clear();
    // Adds to the last range what overlaps it, or comes close behind it.
    const auto extends = [this](WordRange& last, WordRange range) {
        const std::uint32_t end = last.first + last.count;
        if (range.first < last.first || range.first > end + kGap ||
            (range.first > end && !is_as_it_was({end, range.first - end}))) {
            return false;
        }
        last.count = std::max(end, range.first + range.count) - last.first;
        return true;
    };
    for (const ShadowRead& read : worker_reads_) {
        const bool is_word = read.kind == ShadowRead::Kind::Word;
        if (is_word && read.value == 0) {
            found.unknown.push_back(read.word);
            continue;
        }
        const WordRange range{read.word, read.count};
        if (!is_word && (read.kind != ShadowRead::Kind::AreKnown || read.value == 0 ||
                         bits_.any_written(range))) {
            return false;
        }
        if (ranges.empty() || !extends(ranges.back(), range)) {
            ranges.push_back(range);
        }
    }
    std::ranges::sort(ranges, {}, &WordRange::first);
    std::size_t kept = 0;
    for (std::size_t next = 1; next < ranges.size(); ++next) {
        if (!extends(ranges[kept], ranges[next])) {
            ranges[++kept] = ranges[next];
        }
    }
    ranges.resize(ranges.empty() ? 0 : kept + 1);
    found.values.clear();
    for (const WordRange& range : ranges) {
        const std::size_t at = found.values.size();
        found.values.resize(at + range.count);
        std::memcpy(&found.values[at], bytes_ + std::size_t{range.first} * 4,
                    std::size_t{range.count} * 4);
    }
    // A word that was written since has the value that was read.
    for (const ShadowRead& read : worker_reads_) {
        if (read.kind != ShadowRead::Kind::Word || read.value == 0 ||
            !bits_.any_written({read.word, 1})) {
            continue;
        }
        std::size_t at = 0;
        for (const WordRange& range : ranges) {
            if (read.word - range.first < range.count) {
                found.values[at + (read.word - range.first)] =
                    static_cast<std::uint32_t>(read.value);
                break;
            }
            at += range.count;
        }
    }
    return true;
}

bool ShadowMemory::read_round(std::uint32_t word) {
    if (silent || knows_rounds_ ||
        std::find(rounds_->begin(), rounds_->end(), word) == rounds_->end()) {
        return false;
    }
    if (std::find(rounds_read_.begin(), rounds_read_.end(), word) == rounds_read_.end()) {
        reads_.push_back({ShadowRead::Kind::Round, word, known_->get(word) ? 1U : 0U});
        if (!known_->get(word)) {
            return false;
        }
        rounds_read_.push_back(word);
    }
    return true;
}

void ShadowMemory::know_rounds() {
    knows_rounds_ = true;
    std::for_each(rounds_read_.begin(), rounds_read_.end(), [&](std::uint32_t word) {
        if (!word_bits::get(bits_.settled.data(), word)) {
            first_read(word);
        }
    });
}

void ShadowMemory::scatter() {
    if (std::find(reads_.begin(), reads_.end(), running_.vertex) == reads_.end()) {
        reads_.push_back(running_.vertex);
    }
    for (const program::ByteRange& range : *running_.scattered) {
        lose(WordRange{(range.address - base_) / 4, static_cast<std::uint32_t>(range.bytes / 4)});
    }
}

void ShadowMemory::read_tile_number(std::uint32_t number) {
    const bool read_before = std::any_of(reads_.begin(), reads_.end(), [](const auto& one) {
        return one.kind == ShadowRead::Kind::TileNumber;
    });
    if (!read_before) {
        reads_.push_back({ShadowRead::Kind::TileNumber, 0, number});
    }
}

bool ShadowMemory::are_known(WordRange words) {
    if (bits_.any_written(words)) {
        return false; // by the worker itself, if one is followed
    }
    if (word_bits::all(bits_.asked.data(), words.first, words.count)) {
        return true;
    }
    const auto read = [words](bool known) {
        return ShadowRead{ShadowRead::Kind::AreKnown, words.first, known ? 1U : 0U, words.count};
    };
    const auto note = [words](Bits& bits) {
        bits.touch(words);
        word_bits::fill(bits.asked.data(), words.first, words.count, true);
    };
    Bits& of_all = of_phase();
    const bool written = follows_worker_ && of_all.any_written(words);
    const bool known = !written && known_->all(words);
    if (follows_worker_) {
        worker_reads_.push_back(read(known));
        if (known) {
            note(bits_);
        }
        if (written || !notes_reads ||
            word_bits::all(of_all.asked.data(), words.first, words.count)) {
            return known;
        }
    }
    if (notes_reads) {
        reads_.push_back(read(known));
    }
    if (known) {
        note(of_all);
    }
    return known;
}

bool ShadowMemory::straight(std::uint32_t passes) const {
    constexpr std::int64_t kFar = std::int64_t{1} << 20U; // half of what a packed address holds
    for (std::size_t i = 0; i < trail.size(); ++i) {
        const std::int64_t stride = static_cast<std::int64_t>(trail[i].offset) -
                                    static_cast<std::int64_t>(first_trail[i].offset);
        if (std::abs(stride) * (std::int64_t{passes} + 1) >= kFar) {
            return false;
        }
    }
    return trail.size() == first_trail.size();
}

void ShadowMemory::skip_stores(std::uint32_t passes) {
    thread_local std::vector<MovingStore> stores;
    stores.clear();
    for (std::size_t i = 0; i < trail.size(); ++i) {
        if (trail[i].writes) {
            const std::int64_t stride = (static_cast<std::int64_t>(trail[i].offset) -
                                         static_cast<std::int64_t>(first_trail[i].offset)) /
                                        4;
            stores.push_back({stride, trail[i].offset / 4 + stride, trail[i].access_bytes / 4});
        }
    }
    for (const WordRange& range : ranges_of(stores, passes)) {
        lose(range);
    }
}

bool ShadowMemory::repeat_stores(const std::vector<std::int32_t>& strides, std::uint32_t passes) {
    thread_local std::vector<MovingStore> stores;
    stores.clear();
    for (std::size_t i = 0; i < stores_noted.size(); ++i) {
        const std::int64_t stride = strides[i] / 4;
        stores.push_back(
            {stride, stores_noted[i].offset / 4 + stride, stores_noted[i].access_bytes / 4});
    }
    const std::vector<WordRange>& ranges = ranges_of(stores, passes);
    if (std::ranges::any_of(ranges, [this](const WordRange& range) {
            return range.first >= words_ || range.count > words_ - range.first ||
                   known_->any(range);
        })) {
        return false;
    }
    for (const WordRange& range : ranges) {
        lose(range);
    }
    return true;
}

void ShadowMemory::lose(WordRange range) {
    // Sums are stored over and over: what this phase has lost is lost.
    if (word_bits::all(bits_.lost.data(), range.first, range.count)) {
        return;
    }
    bits_.touch(range);
    word_bits::for_masks(range.first, range.count, [this](std::uint32_t index, std::uint64_t mask) {
        bits_.settled[index] |= mask;
        bits_.lost[index] |= mask;
        bits_.stored[index] &= ~mask;
        return false;
    });
    known_->clear(range);
}

std::vector<WordRange> ShadowMemory::Bits::ranges(const std::vector<std::uint64_t>& bits) const {
    std::vector<WordRange> found;
    for_each_bit(touched, [&](std::size_t index) {
        for (std::uint64_t left = bits[index]; left != 0;) {
            const auto shift = static_cast<std::uint32_t>(std::countr_zero(left));
            const auto count = static_cast<std::uint32_t>(std::countr_one(left >> shift));
            const auto first = static_cast<std::uint32_t>(index * 64) + shift;
            if (!found.empty() && found.back().first + found.back().count == first) {
                found.back().count += count;
            } else {
                found.push_back({first, count});
            }
            left = shift + count >= 64 ? 0 : left & (~std::uint64_t{0} << (shift + count));
        }
    });
    return found;
}

} // namespace tessera::isa
