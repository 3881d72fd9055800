// SPDX-License-Identifier: MIT
// What timing mode knows of a tile: which words of memory and which main registers are known. The
// shadow engine (engine.h) runs the main lane alone, on what is known; the aux lane holds tensor
// data, which it never sees.
//
// - A known word stands in tile memory; an unknown one has no value.
// - An unknown value as address, condition, repeat count or `put` operand is NotModelled.
// - A repeat whose body only moves addresses by constants takes constant time (affine_body.h): its
//   first two passes and its last are executed.
#pragma once

#include "base/units.h"
#include "models/program/known_words.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::isa {

/// Why a WaitLoop ends a run in timing mode.
inline constexpr const char* kWaitsInTimingMode =
    "a context waits here until another one writes a word of memory; timing mode, which runs one "
    "context after the other, does not follow that";

/// What an operation does to main registers, as bits of $m0..$m11.
struct ShadowRule {
    std::uint16_t used = 0;    ///< must be known: addresses, conditions, counts, launches
    std::uint16_t sources = 0; ///< of what it computes or stores: unknown if one of them is
    std::uint16_t written = 0;
    std::uint16_t loaded = 0; ///< of those, from memory
};

namespace word_bits = program::word_bits;
using program::SharedWords;
using program::WordRange;

/// What a phase learned first: a word, constants that several tiles share, or the tile's number.
struct ShadowRead {
    enum class Kind : std::uint8_t { Word, Shared, TileNumber };
    Kind kind = Kind::Word;
    std::uint32_t word = 0; ///< of shared ones, the first
    std::uint64_t value = 0;

    friend bool operator==(const ShadowRead&, const ShadowRead&) = default;
};

/// The value of a word in a ShadowRead.
[[nodiscard]] constexpr std::uint64_t shadow_value(bool known, std::uint32_t value) {
    return known ? (std::uint64_t{1} << 32U) | value : 0;
}

/// Of one host thread: what the running phase of a tile reads and writes.
class ShadowMemory {
public:
    /// Before a phase of a tile whose memory has `words` words; `known` are their bits,
    /// `shared` those that did not change.
    void begin(std::uint32_t words, const std::byte* bytes, program::TileWords& known,
               const std::vector<SharedWords>* shared);

    /// Whether the word is known, when a main register takes it.
    bool read(std::uint32_t offset) {
        const std::uint32_t word = offset / 4;
        if (!word_bits::get(settled_.data(), word)) {
            first_read(word);
        }
        return known_->get(word);
    }
    /// A main register's word is stored.
    void store(std::uint32_t offset, bool known) {
        const std::uint32_t word = offset / 4;
        word_bits::set(settled_.data(), word);
        if (known) {
            known_->set(word);
            word_bits::set(stored_.data(), word);
            word_bits::clear(lost_.data(), word);
        } else {
            lose(word);
        }
    }
    /// Tensor data of 4 or 8 bytes are stored.
    void store_data(std::uint32_t offset, unsigned store_bytes) {
        lose(offset / 4);
        if (store_bytes > 4) {
            lose(offset / 4 + 1);
        }
    }
    void read_tile_number(std::uint32_t number);

    [[nodiscard]] const std::vector<ShadowRead>& reads() const { return reads_; }
    /// Words that are unknown since, and those that are known; ascending.
    [[nodiscard]] std::vector<WordRange> lost() const { return ranges(lost_); }
    [[nodiscard]] std::vector<WordRange> stored() const { return ranges(stored_); }

    // A repeat whose addresses move by constants.

    /// The first pass begins.
    void watch_pass() {
        watching = true;
        passes_watched = 0;
        trail.clear();
    }
    /// The accesses of one pass, in their order.
    struct Access {
        std::uint32_t offset = 0;
        std::uint8_t access_bytes = 0;
        bool writes = false;
    };
    bool watching = false;
    std::vector<Access> trail;
    std::vector<Access> first_trail; ///< of the first pass, while the second runs
    std::array<std::uint32_t, 20> first_registers{};
    unsigned passes_watched = 0;
    /// Whether `passes` more passes would stay where no address wraps around.
    [[nodiscard]] bool straight(std::uint32_t passes) const;
    /// The stores of `passes` passes behind the second one.
    void skip_stores(std::uint32_t passes);

    bool loaded_unknown = false; ///< by the running operation
    bool stores_unknown = false;
    bool every_pass = false; ///< an audit: repeats are executed pass by pass

private:
    void first_read(std::uint32_t word);
    void lose(std::uint32_t word) {
        word_bits::set(settled_.data(), word);
        word_bits::set(lost_.data(), word);
        word_bits::clear(stored_.data(), word);
        known_->clear(word);
    }
    void lose(WordRange range);
    [[nodiscard]] std::vector<WordRange> ranges(const std::vector<std::uint64_t>& bits) const;

    const std::byte* bytes_ = nullptr;
    program::TileWords* known_ = nullptr;
    const std::vector<SharedWords>* shared_ = nullptr;
    std::vector<std::uint64_t> settled_; ///< read before, or written in this phase
    std::vector<std::uint64_t> lost_;
    std::vector<std::uint64_t> stored_;
    std::vector<ShadowRead> reads_;
};

} // namespace tessera::isa
