// SPDX-License-Identifier: MIT
#include "models/program/known_words.h"

#include <algorithm>
#include <bit>

namespace tessera::program {

namespace {

/// Ascending, each word once.
std::vector<WordRange> merged(std::vector<WordRange> ranges) {
    std::ranges::sort(ranges, {}, &WordRange::first);
    std::vector<WordRange> made;
    for (const WordRange& range : ranges) {
        if (!made.empty() && range.first <= made.back().first + made.back().count) {
            const std::uint32_t end =
                std::max(made.back().first + made.back().count, range.first + range.count);
            made.back().count = end - made.back().first;
        } else {
            made.push_back(range);
        }
    }
    return made;
}

} // namespace

void ChangeLog::add(WordRange words) {
    constexpr std::size_t kMost = 4096;
    if (ranges_.size() > fence_) {
        WordRange& last = ranges_.back();
        if (words.first >= last.first && words.first <= last.first + last.count) {
            last.count = std::max(last.count, words.first + words.count - last.first);
            return;
        }
    }
    ranges_.push_back(words);
    if (ranges_.size() > kMost) {
        shorten();
    }
}

void ChangeLog::shorten() {
    const auto fence = ranges_.begin() + static_cast<std::ptrdiff_t>(fence_);
    const auto last = merged({fence, ranges_.end()});
    const std::size_t before = ranges_.size();
    ranges_.erase(fence, ranges_.end());
    ranges_.insert(ranges_.end(), last.begin(), last.end());
    if (ranges_.size() > before / 2) {
        ranges_.clear();
        fence_ = 0;
        ++epoch_;
    }
}

ChangeLog::Mark ChangeLog::mark() {
    fence_ = ranges_.size();
    return {fence_, epoch_};
}

std::optional<std::vector<WordRange>> ChangeLog::since(const Mark& mark) const {
    if (mark.epoch != epoch_) {
        return std::nullopt;
    }
    return merged({ranges_.begin() + static_cast<std::ptrdiff_t>(mark.at), ranges_.end()});
}

WordRange TileWords::inside(WordRange words) const {
    const std::uint32_t first = std::max(words.first, stretch_.first);
    const std::uint32_t end = std::min(words.first + words.count, stretch_.first + stretch_.count);
    return {first, end > first ? end - first : 0};
}

void TileWords::widen(WordRange words) {
    if (stretch_.count == 0) {
        stretch_ = words;
        return;
    }
    const std::uint32_t first = std::min(words.first, stretch_.first);
    const std::uint32_t end = std::max(words.first + words.count, stretch_.first + stretch_.count);
    stretch_ = {first, end - first};
}

std::vector<std::uint64_t> TileWords::kept() const {
    std::vector<std::uint64_t> kept((stretch_.first + stretch_.count + 63) / 64);
    for (std::size_t i = stretch_.first / 64; i < kept.size(); ++i) {
        kept[i] = bits_[i];
    }
    return kept;
}

void TileWords::restore(const std::vector<std::uint64_t>& kept) {
    const std::size_t end = (stretch_.first + stretch_.count + 63) / 64; // wider since, perhaps
    for (std::size_t i = stretch_.first / 64; i < end; ++i) {
        bits_[i] = i < kept.size() ? kept[i] : 0;
    }
}

void TileWords::set(WordRange words) {
    if (log_ != nullptr) {
        log_->add(words);
    }
    widen(words);
    word_bits::fill(bits_, words.first, words.count, true);
}

void TileWords::clear(WordRange words) {
    const WordRange here = inside(words);
    if (log_ != nullptr && word_bits::any(bits_, here.first, here.count)) {
        log_->add(here);
    }
    word_bits::fill(bits_, here.first, here.count, false);
}

bool TileWords::any(WordRange words) const {
    const WordRange here = inside(words);
    return word_bits::any(bits_, here.first, here.count);
}

bool TileWords::all(WordRange words) const {
    return inside(words) == words && word_bits::all(bits_, words.first, words.count);
}

std::uint32_t TileWords::alike(WordRange words) const {
    const WordRange here = inside(words);
    if (here.count == 0) {
        return words.count;
    }
    if (here.first != words.first) {
        return here.first - words.first;
    }
    const bool known = word_bits::get(bits_, here.first);
    std::uint32_t alike = 0;
    word_bits::for_masks(here.first, here.count, [&](std::uint32_t index, std::uint64_t mask) {
        const std::uint64_t others = (known ? ~bits_[index] : bits_[index]) & mask;
        const std::uint64_t before =
            others == 0 ? mask : mask & ((others & (~others + 1)) - 1); // below the lowest of them
        alike += static_cast<std::uint32_t>(std::popcount(before));
        return others != 0;
    });
    return alike;
}

KnownWords::KnownWords(TileId tiles, Address base, Bytes tile_bytes)
    : base_(base), words_(static_cast<std::uint32_t>(tile_bytes / 4)),
      pages_((words_ + std::size_t{63}) / 64 * sizeof(std::uint64_t) * tiles), shared_(tiles),
      rounds_(tiles) {
    auto* const bits = reinterpret_cast<std::uint64_t*>(pages_.begin());
    const std::size_t stride = (words_ + std::size_t{63}) / 64;
    tiles_.reserve(tiles);
    for (std::size_t tile = 0; tile < tiles; ++tile) {
        tiles_.emplace_back(bits + tile * stride);
    }
}

void KnownWords::note_changes() {
    logs_.resize(tiles_.size());
    for (std::size_t tile = 0; tile < tiles_.size(); ++tile) {
        tiles_[tile].note_in(logs_[tile]);
    }
}

bool KnownWords::is_known(TileId tile, Address address) {
    return tiles_[tile].get(range(address, 4).first);
}

void KnownWords::learn(TileId tile, Address address, Bytes bytes) {
    tiles_[tile].set(range(address, bytes));
}

void KnownWords::forget(TileId tile, Address address, Bytes bytes) {
    const WordRange words = range(address, bytes);
    if (tiles_[tile].any(words)) {
        tiles_[tile].clear(words);
        changed(tile, words);
    }
}

void KnownWords::write(TileId tile, Address address, Bytes bytes) {
    learn(tile, address, bytes);
    changed(tile, range(address, bytes));
}

bool KnownWords::copy(TileId from, Address from_address, TileId to, Address to_address,
                      Bytes bytes) {
    const WordRange source = range(from_address, bytes);
    if (!tiles_[from].any(source)) {
        forget(to, to_address, bytes);
        return false;
    }
    const WordRange target = range(to_address, bytes);
    for (std::uint32_t word = 0; word < source.count;) {
        const std::uint32_t first = source.first + word;
        const std::uint32_t alike = tiles_[from].alike({first, source.count - word});
        if (tiles_[from].get(first)) {
            tiles_[to].set({target.first + word, alike}); // with other values, perhaps
        } else {
            tiles_[to].clear({target.first + word, alike});
        }
        word += alike;
    }
    changed(to, target);
    return true;
}

void KnownWords::share(TileId tile, Address address, Bytes bytes, const void* identity) {
    shared_[tile].push_back({range(address, bytes), reinterpret_cast<std::uintptr_t>(identity)});
}

void KnownWords::changed(TileId tile, WordRange words) {
    auto& shared = shared_[tile];
    shared.erase(std::remove_if(shared.begin(), shared.end(),
                                [&](const SharedWords& one) {
                                    return words.first < one.words.first + one.words.count &&
                                           one.words.first < words.first + words.count;
                                }),
                 shared.end());
}

} // namespace tessera::program
