// SPDX-License-Identifier: MIT
// Timing mode: which words of tile memory are known, and which of those are constants that tiles
// share. A known word stands in tile memory; tensor data are unknown and stand nowhere.
#pragma once

#include "base/units.h"
#include "base/zero_pages.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::program {

/// One bit a 32-bit word of a tile's memory.
namespace word_bits {

inline bool get(const std::uint64_t* bits, std::uint32_t word) {
    return ((bits[word / 64] >> (word % 64)) & 1U) != 0;
}
inline void set(std::uint64_t* bits, std::uint32_t word) {
    bits[word / 64] |= std::uint64_t{1} << (word % 64);
}
inline void clear(std::uint64_t* bits, std::uint32_t word) {
    bits[word / 64] &= ~(std::uint64_t{1} << (word % 64));
}
/// Sets or clears words [first, first + count).
void fill(std::uint64_t* bits, std::uint32_t first, std::uint32_t count, bool value);
/// Whether one of words [first, first + count) is set.
[[nodiscard]] bool any(const std::uint64_t* bits, std::uint32_t first, std::uint32_t count);

} // namespace word_bits

/// Neighbouring words.
struct WordRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;

    friend bool operator==(const WordRange&, const WordRange&) = default;
};

/// Words that do not change, with one identity wherever their bytes are the same object.
struct SharedWords {
    WordRange words;
    std::uint64_t identity = 0;
};

/// Of all tiles of a chip. Addresses are inside tile memory; what is asked for in bytes is whole
/// words.
class KnownWords {
public:
    KnownWords(TileId tiles, Address base, Bytes tile_bytes);

    /// One bit a word, from the base of memory on.
    [[nodiscard]] std::uint64_t* of_tile(TileId tile) {
        return reinterpret_cast<std::uint64_t*>(pages_.begin()) + tile * stride_;
    }
    [[nodiscard]] std::uint32_t words_of_tile() const { return words_; }

    [[nodiscard]] bool is_known(TileId tile, Address address);
    void learn(TileId tile, Address address, Bytes bytes);
    void forget(TileId tile, Address address, Bytes bytes);
    /// What [address, address + bytes) of a tile holds comes to another address of another tile;
    /// whether any of it is known.
    bool copy(TileId from, Address from_address, TileId to, Address to_address, Bytes bytes);

    void share(TileId tile, Address address, Bytes bytes, const void* identity);
    [[nodiscard]] const std::vector<SharedWords>& shared(TileId tile) const {
        return shared_[tile];
    }
    /// The words change: what was shared among them no longer is.
    void changed(TileId tile, WordRange words);

private:
    [[nodiscard]] WordRange range(Address address, Bytes bytes) const {
        return {(address - base_) / 4, static_cast<std::uint32_t>(bytes / 4)};
    }

    Address base_;
    std::uint32_t words_;
    std::size_t stride_; ///< of 64 bits
    ZeroPages pages_;
    std::vector<std::vector<SharedWords>> shared_; ///< by tile
};

} // namespace tessera::program
