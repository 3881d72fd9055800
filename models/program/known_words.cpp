// SPDX-License-Identifier: MIT
#include "models/program/known_words.h"

#include <algorithm>

namespace tessera::program {

namespace word_bits {
namespace {

/// Calls `body(index of 64 bits, mask)` for what [first, first + count) covers; until it is true.
template <class Body> bool for_masks(std::uint32_t first, std::uint32_t count, const Body& body) {
    while (count > 0) {
        const std::uint32_t shift = first % 64;
        const std::uint32_t here = std::min(count, 64 - shift);
        const std::uint64_t ones = here == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << here) - 1;
        if (body(first / 64, ones << shift)) {
            return true;
        }
        first += here;
        count -= here;
    }
    return false;
}

} // namespace

void fill(std::uint64_t* bits, std::uint32_t first, std::uint32_t count, bool value) {
    for_masks(first, count, [&](std::uint32_t index, std::uint64_t mask) {
        bits[index] = value ? bits[index] | mask : bits[index] & ~mask;
        return false;
    });
}

bool any(const std::uint64_t* bits, std::uint32_t first, std::uint32_t count) {
    return for_masks(first, count, [&](std::uint32_t index, std::uint64_t mask) {
        return (bits[index] & mask) != 0;
    });
}

} // namespace word_bits

KnownWords::KnownWords(TileId tiles, Address base, Bytes tile_bytes)
    : base_(base), words_(static_cast<std::uint32_t>(tile_bytes / 4)),
      stride_((words_ + std::size_t{63}) / 64), pages_(stride_ * sizeof(std::uint64_t) * tiles),
      shared_(tiles) {}

bool KnownWords::is_known(TileId tile, Address address) {
    return word_bits::get(of_tile(tile), range(address, 4).first);
}

void KnownWords::learn(TileId tile, Address address, Bytes bytes) {
    const WordRange words = range(address, bytes);
    word_bits::fill(of_tile(tile), words.first, words.count, true);
}

void KnownWords::forget(TileId tile, Address address, Bytes bytes) {
    const WordRange words = range(address, bytes);
    if (word_bits::any(of_tile(tile), words.first, words.count)) {
        word_bits::fill(of_tile(tile), words.first, words.count, false);
        changed(tile, words);
    }
}

bool KnownWords::copy(TileId from, Address from_address, TileId to, Address to_address,
                      Bytes bytes) {
    const WordRange source = range(from_address, bytes);
    if (!word_bits::any(of_tile(from), source.first, source.count)) {
        forget(to, to_address, bytes);
        return false;
    }
    const WordRange target = range(to_address, bytes);
    for (std::uint32_t word = 0; word < source.count; ++word) {
        const bool known = word_bits::get(of_tile(from), source.first + word);
        word_bits::fill(of_tile(to), target.first + word, 1, known);
    }
    changed(to, target);
    return true;
}

void KnownWords::share(TileId tile, Address address, Bytes bytes, const void* identity) {
    shared_[tile].push_back(
        {range(address, bytes), reinterpret_cast<std::uintptr_t>(identity)});
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
