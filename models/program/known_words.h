// SPDX-License-Identifier: MIT
// Timing mode: which words of tile memory are known, and which of those are constants that tiles
// share. A known word stands in tile memory; tensor data are unknown and stand nowhere.
#pragma once

#include "base/units.h"
#include "base/zero_pages.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
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
/// Sets or clears words [first, first + count).
inline void fill(std::uint64_t* bits, std::uint32_t first, std::uint32_t count, bool value) {
    for_masks(first, count, [&](std::uint32_t index, std::uint64_t mask) {
        bits[index] = value ? bits[index] | mask : bits[index] & ~mask;
        return false;
    });
}
/// Whether one of words [first, first + count) is set.
[[nodiscard]] inline bool any(const std::uint64_t* bits, std::uint32_t first, std::uint32_t count) {
    return for_masks(first, count, [&](std::uint32_t index, std::uint64_t mask) {
        return (bits[index] & mask) != 0;
    });
}
/// Whether all of them are.
[[nodiscard]] inline bool all(const std::uint64_t* bits, std::uint32_t first, std::uint32_t count) {
    return !for_masks(first, count, [&](std::uint32_t index, std::uint64_t mask) {
        return (bits[index] & mask) != mask;
    });
}

} // namespace word_bits

/// Neighbouring words.
struct WordRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;

    friend bool operator==(const WordRange&, const WordRange&) = default;
};

/// Which words may have changed: what is known of them, or their value.
class ChangeLog {
public:
    /// A place in the log: what follows it can be asked for.
    struct Mark {
        std::size_t at = 0;
        std::uint64_t epoch = 0;
    };

    void add(WordRange words);
    [[nodiscard]] Mark mark();
    /// Ascending, each word once; nothing where the log has become too long since.
    [[nodiscard]] std::optional<std::vector<WordRange>> since(const Mark& mark) const;

private:
    void shorten();

    std::vector<WordRange> ranges_;
    std::size_t fence_ = 0; ///< of the last mark
    std::uint64_t epoch_ = 0;
};

/// The known words of one tile. Nothing is known outside a stretch, so that the bits of what is
/// never known cost nothing.
class TileWords {
public:
    TileWords() = default;
    explicit TileWords(std::uint64_t* bits) : bits_(bits) {}

    [[nodiscard]] bool get(std::uint32_t word) const {
        return word - stretch_.first < stretch_.count && word_bits::get(bits_, word);
    }
    /// Changes are noted from now on; outlives the words.
    void note_in(ChangeLog& log) { log_ = &log; }

    void set(std::uint32_t word) {
        if (log_ != nullptr) {
            log_->add({word, 1});
        }
        if (word - stretch_.first >= stretch_.count) {
            widen({word, 1});
        }
        word_bits::set(bits_, word);
    }
    void clear(std::uint32_t word) {
        if (get(word)) {
            if (log_ != nullptr) {
                log_->add({word, 1});
            }
            word_bits::clear(bits_, word);
        }
    }
    void set(WordRange words);
    void clear(WordRange words);
    [[nodiscard]] bool any(WordRange words) const;
    [[nodiscard]] bool all(WordRange words) const;
    /// How many of the words, one at least, are known if the first is, or unknown if it is.
    [[nodiscard]] std::uint32_t alike(WordRange words) const;

    /// As they are, and as they were then.
    [[nodiscard]] std::vector<std::uint64_t> kept() const;
    void restore(const std::vector<std::uint64_t>& kept);

private:
    void widen(WordRange words);
    [[nodiscard]] WordRange inside(WordRange words) const;

    std::uint64_t* bits_ = nullptr; ///< from the base of memory on
    WordRange stretch_;
    ChangeLog* log_ = nullptr; ///< null: nobody asks
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

    [[nodiscard]] TileWords& of_tile(TileId tile) { return tiles_[tile]; }
    /// From now on changes are noted.
    void note_changes();
    /// After note_changes().
    [[nodiscard]] ChangeLog& changes(TileId tile) { return logs_[tile]; }
    [[nodiscard]] std::uint32_t words_of_tile() const { return words_; }

    [[nodiscard]] bool is_known(TileId tile, Address address);
    [[nodiscard]] bool is_any_known(TileId tile, Address address, Bytes bytes) const {
        return tiles_[tile].any(range(address, bytes));
    }
    [[nodiscard]] bool is_all_known(TileId tile, Address address, Bytes bytes) const {
        return tiles_[tile].all(range(address, bytes));
    }
    void learn(TileId tile, Address address, Bytes bytes);
    void forget(TileId tile, Address address, Bytes bytes);
    /// The words get values that are known; the same tile's words may be shared before.
    void write(TileId tile, Address address, Bytes bytes);
    /// What [address, address + bytes) of a tile holds comes to another address of another tile;
    /// whether any of it is known.
    bool copy(TileId from, Address from_address, TileId to, Address to_address, Bytes bytes);

    void share(TileId tile, Address address, Bytes bytes, const void* identity);
    [[nodiscard]] const std::vector<SharedWords>& shared(TileId tile) const {
        return shared_[tile];
    }
    /// A word that has the round of a repeat.
    void add_round(TileId tile, Address address) {
        rounds_[tile].push_back(range(address, 4).first);
    }
    [[nodiscard]] const std::vector<std::uint32_t>& rounds(TileId tile) const {
        return rounds_[tile];
    }
    /// The words change: what was shared among them no longer is.
    void changed(TileId tile, WordRange words);

private:
    [[nodiscard]] WordRange range(Address address, Bytes bytes) const {
        return {(address - base_) / 4, static_cast<std::uint32_t>(bytes / 4)};
    }

    Address base_;
    std::uint32_t words_;
    ZeroPages pages_; ///< of bits
    std::vector<TileWords> tiles_;
    std::vector<std::vector<SharedWords>> shared_;   ///< by tile
    std::vector<std::vector<std::uint32_t>> rounds_; ///< by tile, words
    std::vector<ChangeLog> logs_;                    ///< by tile
};

} // namespace tessera::program
