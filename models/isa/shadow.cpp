// SPDX-License-Identifier: MIT
#include "models/isa/shadow.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <tuple>

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

} // namespace

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
    const std::size_t size = (words + std::size_t{63}) / 64;
    if (size != settled_.size()) {
        touched_.assign((size + 63) / 64, 0);
        settled_.assign(size, 0);
        lost_.assign(size, 0);
        stored_.assign(size, 0);
        asked_.assign(size, 0);
    }
    for_each_bit(touched_, [this](std::size_t index) {
        settled_[index] = 0;
        lost_[index] = 0;
        stored_[index] = 0;
        asked_[index] = 0;
    });
    std::fill(touched_.begin(), touched_.end(), 0);
    reads_.clear();
    watching = false;
    gathering = false;
    silent = false;
    passes_watched = 0;
}

void ShadowMemory::first_read(std::uint32_t word) {
    if (silent) {
        return;
    }
    for (const SharedWords& one : *shared_) {
        if (word - one.words.first < one.words.count) {
            // What this phase has stored among them stays what it is: known, and settled.
            touch(one.words);
            word_bits::fill(settled_.data(), one.words.first, one.words.count, true);
            reads_.push_back({ShadowRead::Kind::Shared, one.words.first, one.identity});
            return;
        }
    }
    touch(word);
    word_bits::set(settled_.data(), word);
    std::uint32_t value = 0;
    std::memcpy(&value, bytes_ + std::size_t{word} * 4, sizeof value);
    reads_.push_back({ShadowRead::Kind::Word, word, shadow_value(known_->get(word), value)});
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
        if (!word_bits::get(settled_.data(), word)) {
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
    const auto any = [&](const std::vector<std::uint64_t>& bits) {
        return word_bits::any(bits.data(), words.first, words.count);
    };
    if (any(stored_) || any(lost_)) {
        return false;
    }
    if (word_bits::all(asked_.data(), words.first, words.count)) {
        return true;
    }
    const bool known = known_->all(words);
    reads_.push_back({ShadowRead::Kind::AreKnown, words.first, known ? 1U : 0U, words.count});
    if (known) {
        touch(words);
        word_bits::fill(asked_.data(), words.first, words.count, true);
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
    // Stores that move together and stand behind each other are one.
    struct Moving {
        std::int64_t stride = 0; ///< words a pass
        std::int64_t first = 0;  ///< word, of the next pass
        std::int64_t count = 0;
    };
    thread_local std::vector<Moving> stores;
    stores.clear();
    for (std::size_t i = 0; i < trail.size(); ++i) {
        if (trail[i].writes) {
            const std::int64_t stride = (static_cast<std::int64_t>(trail[i].offset) -
                                         static_cast<std::int64_t>(first_trail[i].offset)) /
                                        4;
            stores.push_back({stride, trail[i].offset / 4 + stride, trail[i].access_bytes / 4});
        }
    }
    std::sort(stores.begin(), stores.end(), [](const Moving& left, const Moving& right) {
        return std::tie(left.stride, left.first) < std::tie(right.stride, right.first);
    });
    for (std::size_t i = 0; i < stores.size();) {
        Moving all = stores[i];
        while (++i < stores.size() && stores[i].stride == all.stride &&
               stores[i].first == all.first + all.count) {
            all.count += stores[i].count;
        }
        const auto words = static_cast<std::uint32_t>(all.count);
        if (std::abs(all.stride) == all.count) {
            const std::int64_t lowest = std::min(all.first, all.first + all.stride * (passes - 1));
            lose(WordRange{static_cast<std::uint32_t>(lowest), words * passes});
            continue;
        }
        for (std::int64_t pass = 0; pass < (all.stride == 0 ? 1 : passes); ++pass) {
            lose(WordRange{static_cast<std::uint32_t>(all.first + all.stride * pass), words});
        }
    }
}

void ShadowMemory::lose(WordRange range) {
    // Sums are stored over and over: what this phase has lost is lost.
    if (word_bits::all(lost_.data(), range.first, range.count)) {
        return;
    }
    touch(range);
    word_bits::for_masks(range.first, range.count, [this](std::uint32_t index, std::uint64_t mask) {
        settled_[index] |= mask;
        lost_[index] |= mask;
        stored_[index] &= ~mask;
        return false;
    });
    known_->clear(range);
}

std::vector<WordRange> ShadowMemory::ranges(const std::vector<std::uint64_t>& bits) const {
    std::vector<WordRange> found;
    for_each_bit(touched_, [&](std::size_t index) {
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
