// SPDX-License-Identifier: MIT
// Finds words of memory whose use depends on the order of two contexts that nothing orders
// (docs/models/tile.md#races): two writes that leave different values, or a read that would get
// another value in another order, if anything comes of it. Whether something does is often known
// later: until then the race is pending at the read.
#pragma once

#include "models/isa/context.h"
#include "models/tile/core/observation.h"

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace tessera::tile {

class RaceDetector {
public:
    /// A read of one word by one instruction; 0 is none.
    using ReadId = std::uint32_t;

    RaceDetector(const isa::MemoryView& memory, std::size_t workers, std::size_t listed_races);

    /// Forgets the races and accesses of the last phase, but not the reads that registers still
    /// hold.
    void start_phase();
    /// What the supervisor did up to `cycle` is ordered before what this worker does.
    void launched(int worker, Cycles cycle);
    /// The words of [address, address + bytes) order contexts, in every phase.
    void synchronise_by(Address address, Bytes bytes);
    /// Whether a word does: its accesses do not race.
    [[nodiscard]] bool synchronises(Address word) const {
        return !is_synchronising_.empty() && is_synchronising_[(word - base_) / 4] != 0;
    }
    /// A read of a word by which contexts synchronise, in this phase if it was none before. What its
    /// last writer did up to that write is ordered before what this context does from now on.
    void acquire(int context, Cycles cycle, Address word);
    /// All that was done before is ordered before all that follows.
    void synchronised();
    /// The phase is over: what races there are is known, but for reads that are still unused.
    void end_phase();

    /// A read of bits `mask` of the word at `address`, a multiple of 4, which held `value`. It is
    /// held once.
    [[nodiscard]] ReadId read(int context, Cycles cycle, Address pc, Address address,
                              std::uint32_t value, std::uint32_t mask);
    /// A write of the whole word, which held `before`.
    void write(int context, Cycles cycle, Address pc, Address address, std::uint32_t before,
               std::uint32_t value);

    void hold(ReadId id) { ++reads_[id].holders; }
    /// Nothing can come of a read any more that nobody holds.
    void release(ReadId id);
    /// Something came of it, in the instruction at `pc`.
    void use(ReadId id, Address pc);
    [[nodiscard]] bool is_used(ReadId id) const { return reads_[id].is_used; }

    [[nodiscard]] const std::vector<Race>& races() const { return races_; }
    [[nodiscard]] std::int64_t races_found() const { return races_found_; }
    /// Reads of this phase that would race, had anything come of them so far.
    [[nodiscard]] std::int64_t unused_reads() const { return unused_reads_; }

private:
    struct Touch {
        int context = -1;
        Cycles cycle = 0;
        Address pc = 0;
    };
    struct Read {
        Touch touch;
        std::uint32_t slot = 0; ///< of the word that lists it; 0: none does any more
        Address address = 0;
        std::uint32_t value = 0;
        std::uint32_t mask = 0;
        std::uint32_t holders = 0;
        bool is_used = false;
        Address used_pc = 0;
        std::vector<Race> pending; ///< at most one for each other context
    };
    /// What one context wrote since the last sync.
    struct Writes {
        Touch first;
        Touch last;
        /// The last that left another value than `last`, where `varied` says that there is one.
        Touch other;
        std::uint32_t value = 0;
        std::uint32_t varied = 0; ///< bits in which its values differ
    };
    /// A word that was touched since the last sync.
    struct Word {
        Address address = 0;
        std::uint32_t initial = 0; ///< its value before the first write
        std::vector<Writes> writes;
        std::vector<ReadId> reads; ///< pending, and used ones of each context and value
    };

    /// Of the supervisor and the workers in turn: the last cycle of each whose doings are ordered
    /// before.
    using Clock = std::vector<Cycles>;
    struct ClockFrom {
        Cycles cycle = 0;
        Clock seen;
    };

    [[nodiscard]] static std::size_t index_of(int context) {
        return static_cast<std::size_t>(context + 1);
    }
    [[nodiscard]] const Clock& seen_by(int context, Cycles cycle) const;
    void see(int context, Cycles cycle, int other, Cycles until);
    void mark(Address word, std::uint8_t how);
    [[nodiscard]] std::uint32_t slot_of(Address address);
    [[nodiscard]] bool ordered(const Touch& first, int second_context) const;
    void check_read(const Word& word, ReadId id);
    [[nodiscard]] bool reads_own_value(const Word& word, const Read& read) const;
    void check_written(const Word& word);
    void conflict(ReadId id, const Race& race);
    void report(const Race& race);
    void unlist(ReadId id);
    void forget_words();
    [[nodiscard]] static Race race_of(Address address, const Touch& first, bool first_writes,
                                      const Touch& second, bool second_writes);
    [[nodiscard]] static Race used_at(Race race, Address pc);

    Address base_;
    std::size_t listed_races_;
    Clock nothing_;                              ///< a clock that orders nothing
    std::vector<std::vector<ClockFrom>> clocks_; ///< of each context, ascending cycles
    std::vector<std::uint8_t> is_synchronising_; ///< of each word; empty where none is
    std::size_t words_of_memory_;
    std::vector<std::uint32_t> slots_; ///< of each word of memory: its place in words_, or 0
    std::vector<Word> words_;          ///< the first `used_words_` are in use; 0 is none
    std::size_t used_words_ = 1;
    std::vector<Read> reads_; ///< 0 is none
    std::vector<ReadId> free_reads_;
    std::set<std::tuple<Address, Address, int, int>> seen_; ///< pairs of instructions and contexts
    std::vector<Race> races_;
    std::int64_t races_found_ = 0;
    std::map<Address, std::int64_t> found_in_; ///< by word
    std::int64_t unused_reads_ = 0;
};

} // namespace tessera::tile
