// SPDX-License-Identifier: MIT
// What timing mode knows of a tile: which words of memory and which main registers are known. The
// shadow engine (engine.h) runs the main lane alone, on what is known; the aux lane holds tensor
// data, which it never sees.
//
// - A known word stands in tile memory; an unknown one has no value.
// - An unknown value as condition, repeat count or `put` operand is NotModelled. A load from an
//   unknown address gives an unknown value; a store to one makes unknown what its vertex may write,
//   if its codelet says `.scatters`, and is NotModelled otherwise.
// - The round of a repeat is part of what a phase has read only where something follows from it:
//   a decision, a word of memory, a word that a main register loads. As address of tensor data it is
//   treated as unknown.
// - A repeat whose body only moves addresses by constants takes constant time (affine_body.h): its
//   first two passes and its last are executed.
// - So does one whose body also takes distances from a list to load tensor data: its first pass and
//   its last are executed. What the list has for the others is not part of what the phase has read.
#pragma once

#include "base/units.h"
#include "models/program/known_words.h"
#include "models/program/program.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera::isa {

struct MicroOperation;

/// What an operation does to main registers, as bits of $m0..$m11.
struct ShadowRule {
    std::uint16_t used = 0;    ///< must be known: conditions, counts, launches
    std::uint16_t address = 0; ///< say where it loads or stores
    std::uint16_t sources = 0; ///< of what it computes or stores: unknown if one of them is
    std::uint16_t written = 0;
    std::uint16_t loaded = 0; ///< of those, from memory
};

namespace word_bits = program::word_bits;
using program::SharedWords;
using program::WordRange;

/// What a phase learned first: a word, constants that several tiles share, the tile's number, that a
/// word is a known round, where a vertex may scatter, or whether all of some words are known.
struct ShadowRead {
    enum class Kind : std::uint8_t { Word, Shared, TileNumber, Round, Scatter, AreKnown };
    Kind kind = Kind::Word;
    std::uint32_t word = 0; ///< of several, the first; of Scatter, the number of the vertex
    std::uint64_t value = 0;
    std::uint32_t count = 1; ///< words, of AreKnown

    friend bool operator==(const ShadowRead&, const ShadowRead&) = default;
};

/// The value of a word in a ShadowRead.
[[nodiscard]] constexpr std::uint64_t shadow_value(bool known, std::uint32_t value) {
    return known ? (std::uint64_t{1} << 32U) | value : 0;
}

/// The reads and writes of the running phase of a tile, for one host thread.
class ShadowMemory {
public:
    /// Before a phase of a tile whose memory has `words` words from address `base` on; `known` are
    /// their bits, `shared` those that did not change, `rounds` those that have a round.
    void begin(std::uint32_t words, Address base, const std::byte* bytes, program::TileWords& known,
               const std::vector<SharedWords>* shared, const std::vector<std::uint32_t>* rounds);

    /// Whether the word is known, when a main register takes it.
    bool read(std::uint32_t offset) {
        const std::uint32_t word = offset / 4;
        loaded_by_round = false;
        if (!word_bits::get(bits_.settled.data(), word)) {
            loaded_by_round = !rounds_->empty() && read_round(word);
            if (loaded_by_round) {
                return true;
            }
            first_read(word);
        }
        return known_->get(word);
    }
    /// Whether the phase has read the rounds that it came across.
    [[nodiscard]] bool knows_rounds() const { return knows_rounds_; }
    void know_rounds();

    /// Vertex `number` of the tile runs and may store at unknown addresses in `ranges`; null: it may
    /// not.
    void run_vertex(std::uint32_t number, std::uint64_t index,
                    const std::vector<program::ByteRange>* ranges) {
        running_ = {{ShadowRead::Kind::Scatter, number, index}, ranges};
    }
    /// The vertex that runs; contexts that take turns each bring their own.
    struct Running {
        ShadowRead vertex;
        const std::vector<program::ByteRange>* scattered = nullptr;
    };
    [[nodiscard]] Running& running() { return running_; }
    [[nodiscard]] bool may_scatter() const { return running_.scattered != nullptr; }
    /// A store to an unknown address.
    void scatter();

    /// A main register's word is stored.
    void store(std::uint32_t offset, bool known) {
        if (scatters) {
            return;
        }
        const std::uint32_t word = offset / 4;
        if (known) {
            bits_.touch(word);
            word_bits::set(bits_.settled.data(), word);
            known_->set(word);
            word_bits::set(bits_.stored.data(), word);
            word_bits::clear(bits_.lost.data(), word);
        } else {
            lose(word);
        }
    }
    /// Tensor data of 4 or 8 bytes are stored.
    void store_data(std::uint32_t offset, unsigned store_bytes) {
        if (scatters) {
            return;
        }
        if (notes_stores) [[unlikely]] {
            stores_noted.push_back({offset, static_cast<std::uint8_t>(store_bytes), true});
        }
        const std::uint32_t word = offset / 4;
        bits_.touch(word); // and the next one with it, as 8 bytes are aligned
        lose_touched(word);
        if (store_bytes > 4) {
            lose_touched(word + 1);
        }
    }
    /// Tensor data are stored in a range.
    void lose(WordRange range);
    void read_tile_number(std::uint32_t number);

    [[nodiscard]] const std::vector<ShadowRead>& reads() const { return reads_; }
    /// Words that are unknown since, and those that are known; ascending.
    [[nodiscard]] std::vector<WordRange> lost() const { return bits_.ranges(bits_.lost); }
    [[nodiscard]] std::vector<WordRange> stored() const { return bits_.ranges(bits_.stored); }

    // A worker, or a section of a supervisor's way with its workers, that others may do the same as.

    /// What a worker learned first, and what it left.
    struct Followed {
        std::vector<ShadowRead> reads; ///< words, and whether several are known
        std::vector<WordRange> lost;
        std::vector<WordRange> stored;
    };
    /// From here on notes what a worker reads, beside what the phase reads with it. In a phase that may
    /// come across rounds, no worker is followed.
    void follow_worker();
    /// The worker has exited.
    [[nodiscard]] Followed worker_followed();
    /// The same where nobody asks.
    void end_following();
    /// What has been read first since follow_worker(): words with the values that they had, and words
    /// that were unknown. Words between them that are known, and that nothing has written, may come along.
    struct FirstReads {
        std::vector<WordRange> ranges; ///< ascending
        std::vector<std::uint32_t> values;
        std::vector<std::uint32_t> unknown;
    };
    /// False if more was learned than words say.
    [[nodiscard]] bool first_reads(FirstReads& reads) const;
    [[nodiscard]] bool has_rounds() const { return !rounds_->empty(); }

    // A repeat whose addresses move by constants.

    /// The first pass begins, or the first step of a context.
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

    // A loop that a branch counts down (counted_loop.h).

    /// These stood there when the branch was taken the last time, and the pass behind it began.
    struct CountedPass {
        const MicroOperation* branch = nullptr; ///< null: no pass is followed
        std::int32_t worker = 0;
        std::array<std::uint32_t, 20> registers{};
        std::uint32_t unknown = 0;
        std::int64_t issues = 0;
        std::int64_t unknown_addresses = 0;
        std::vector<std::int64_t> jumps; ///< by number in CountedLoop::jumps
    };
    CountedPass counted;
    bool notes_stores = false; ///< of tensor data
    std::vector<Access> stores_noted;
    void forget_counted_pass() {
        counted.branch = nullptr;
        notes_stores = false;
    }
    /// Of `passes` passes behind one with the stores that were noted, which move by these bytes each. False,
    /// and nothing has changed, if one of them would store where something is known.
    [[nodiscard]] bool repeat_stores(const std::vector<std::int32_t>& strides,
                                     std::uint32_t passes);

    // A repeat that loads along a list.

    bool gathering = false; ///< its first pass runs, or is silent
    bool silent = false;    ///< passes that could be skipped run: what they read is not noted
    /// Whether all of the words are known, and were so before the phase.
    [[nodiscard]] bool are_known(WordRange words);

    bool notes_reads = true;      ///< false: nobody asks what the phase reads
    bool loaded_unknown = false;  ///< by the running operation
    bool loaded_by_round = false; ///< the same
    bool stores_unknown = false;
    bool scatters = false; ///< the running operation stores where a round says; scatter() saw to it
    std::int64_t unknown_addresses = 0; ///< loads and stores of the phase
    std::int64_t unknown_before = 0;    ///< the second pass of a repeat that is watched
    bool every_pass = false;            ///< an audit: repeats are executed pass by pass

private:
    void first_read(std::uint32_t word);
    /// Whether the word was known when follow_worker() was called, and still is as it was.
    [[nodiscard]] bool is_as_it_was(WordRange words) const {
        return known_->all(words) && !bits_.any_written(words);
    }
    /// Whether the word is a known round that the phase does not know yet.
    bool read_round(std::uint32_t word);
    void lose(std::uint32_t word) {
        bits_.touch(word);
        lose_touched(word);
    }
    void lose_touched(std::uint32_t word) {
        word_bits::set(bits_.settled.data(), word);
        word_bits::set(bits_.lost.data(), word);
        word_bits::clear(bits_.stored.data(), word);
        known_->clear(word);
    }

    const std::byte* bytes_ = nullptr;
    program::TileWords* known_ = nullptr;
    const std::vector<SharedWords>* shared_ = nullptr;
    const std::vector<std::uint32_t>* rounds_ = nullptr;
    bool knows_rounds_ = false;
    std::vector<std::uint32_t> rounds_read_; ///< words
    Running running_;
    Address base_ = 0;
    /// A bit for each word.
    struct Bits {
        std::vector<std::uint64_t> touched; ///< one bit for 64 words: elsewhere no bit below is set
        std::vector<std::uint64_t> settled; ///< read before, or written
        std::vector<std::uint64_t> lost;
        std::vector<std::uint64_t> stored;
        std::vector<std::uint64_t> asked; ///< words that are part of an AreKnown

        void clear(std::size_t words);
        void touch(std::uint32_t word) { word_bits::set(touched.data(), word / 64); }
        void touch(WordRange words) {
            const std::uint32_t first = words.first / 64;
            const std::uint32_t end = (words.first + words.count + 63) / 64;
            word_bits::fill(touched.data(), first, end - first, true);
        }
        [[nodiscard]] bool any_written(WordRange words) const {
            return word_bits::any(stored.data(), words.first, words.count) ||
                   word_bits::any(lost.data(), words.first, words.count);
        }
        [[nodiscard]] std::vector<WordRange> ranges(const std::vector<std::uint64_t>& bits) const;
    };
    [[nodiscard]] Bits& of_phase() { return follows_worker_ ? phase_ : bits_; }

    std::size_t words_ = 0;
    Bits bits_;  ///< of the phase, or of the worker that is followed
    Bits phase_; ///< of the phase without it
    bool follows_worker_ = false;
    std::vector<ShadowRead> worker_reads_;
    std::vector<ShadowRead> reads_;
};

} // namespace tessera::isa
